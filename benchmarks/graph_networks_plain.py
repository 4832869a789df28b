"""Runs in the image of PyTorch Geometric and DGL: NIMCGCN or HAN plainly on their layers, then ours.

Reads /in (similarities, labels, training pairs) and prints CPU seconds, and how far both answers are apart.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

sys.path.insert(0, f"/methods/{os.environ['METHOD']}")
# DGL writes its settings into the home folder
os.environ |= {"HOME": "/tmp", "DGLBACKEND": "pytorch"}
os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

STEPS = int(os.environ["STEPS"])
torch.use_deterministic_algorithms(True, warn_only=True)
torch.utils.deterministic.fill_uninitialized_memory = False
warnings.simplefilter("ignore")


def read(name: str) -> Any:
    """One input."""
    return np.load(f"/in/{name}.npy")


def nimcgcn() -> dict[str, Callable[[], Tensor]]:
    """Ten steps over the edges of two similarity graphs."""
    from network import normalised_graph
    from torch_geometric.nn import GCNConv
    from training import train

    class OnLibrary(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for number in (1, 2):
                for side in "xy":
                    setattr(self, f"gcn_{side}{number}", GCNConv(256, 256))
            for side in "xy":
                for number, (inward, outward) in enumerate(((256, 256), (256, 128), (128, 64)), start=1):
                    setattr(self, f"linear_{side}_{number}", nn.Linear(inward, outward))

        def forward(self, *sides: tuple[Tensor, Tensor, Tensor]) -> Tensor:
            found = []
            for side, (features, edges, weights) in zip("xy", sides, strict=True):
                for number in (1, 2):
                    features = torch.relu(getattr(self, f"gcn_{side}{number}")(features, edges, weights))
                for number in (1, 2, 3):
                    features = torch.relu(getattr(self, f"linear_{side}_{number}")(features))
                found.append(features)
            return found[0] @ found[1].T

    similarities = [torch.from_numpy(read(name).astype(np.float32)) for name in ("P", "S")]
    M = torch.from_numpy((read("A").T == 1).astype(np.float32))

    def library() -> Tensor:
        torch.manual_seed(1234)
        network = OnLibrary()
        optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
        edges = [one.nonzero().T.contiguous() for one in similarities]
        weights = [torch.relu(one[tuple(pairs)]) for one, pairs in zip(similarities, edges, strict=True)]

        def forward() -> Tensor:
            noise = [torch.randn(len(one), 256) for one in similarities]
            scores: Tensor = network(*zip(noise, edges, weights, strict=True))
            return scores

        for _ in range(STEPS):
            optimiser.zero_grad()
            squares = (forward() - M) ** 2
            (0.8 * squares[M == 1].sum() + 0.2 * squares[M == 0].sum()).backward()
            optimiser.step()
        with torch.no_grad():
            return forward()

    def ours() -> Tensor:
        fixed = {"random_state": 1234, "alpha": 0.2, "learning_rate": 1e-3, "fd": 256, "fg": 256}
        graphs = [normalised_graph(one) for one in similarities]
        return train(M, *graphs, epoch=STEPS, redraw=True, predictions=1, **fixed).scores

    return {"library": library, "ours": ours}


def han() -> dict[str, Callable[[], Tensor]]:
    """Steps with dropout over the graphs of shared partners."""
    import dgl
    from dgl.nn.pytorch import GATConv
    from inputs import Inputs
    from training import train

    class PlainAttention(nn.Module):
        """The same attention edge by edge."""

        def __init__(self, inward: int) -> None:
            super().__init__()
            self.fc = nn.Linear(inward, 160, bias=False)
            self.left, self.right = (nn.Parameter(torch.empty(1, 5, 32)) for _ in range(2))
            self.bias = nn.Parameter(torch.zeros(1, 5, 32))
            for weight in (self.fc.weight, self.left, self.right):
                nn.init.xavier_normal_(weight, gain=nn.init.calculate_gain("relu"))

        def forward(self, graph: Any, features: Tensor) -> Tensor:
            source, target = graph.edges()
            Z = self.fc(functional.dropout(features, 0.4, self.training)).view(-1, 5, 32)
            left, right = ((Z * one).sum(dim=-1) for one in (self.left, self.right))
            e = functional.leaky_relu(left[source] + right[target], 0.2)
            largest = torch.full((len(Z), 5), -torch.inf).index_reduce(0, target, e.detach(), "amax")
            e = (e - largest[target]).exp()
            shares = e / torch.zeros(len(Z), 5).index_add(0, target, e)[target]
            shares = functional.dropout(shares, 0.4, self.training)[..., None]
            return functional.elu(torch.zeros_like(Z).index_add(0, target, Z[source] * shares) + self.bias)

    def on_library(inward: int) -> nn.Module:
        return GATConv(inward, 32, 5, 0.4, 0.4, activation=functional.elu, allow_zero_in_degree=True)

    class Semantic(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Sequential(nn.Linear(160, 128), nn.Tanh(), nn.Linear(128, 1, bias=False))

        def forward(self, paths: Tensor) -> Tensor:
            shares = torch.softmax(self.project(paths).mean(0), dim=0)
            return (shares.expand((len(paths), *shares.shape)) * paths).sum(1)

    class Layer(nn.Module):
        def __init__(self, attention: nn.Module) -> None:
            super().__init__()
            self.gat = attention
            self.semantic = Semantic()

        def forward(self, graph: Any, features: Tensor) -> Tensor:
            found: Tensor = self.semantic(self.gat(graph, features).flatten(1)[:, None])
            return found

    class Plain(nn.Module):
        def __init__(self, width: int, attention: Callable[[int], nn.Module]) -> None:
            super().__init__()
            self.drug_emb, self.dis_emb = (nn.Linear(width, 64, bias=False) for _ in range(2))
            for layer, inward in ((1, 64), (2, 32)):
                for side in ("drug", "dis"):
                    setattr(self, f"layer_{layer}_{side}", Layer(attention(inward)))
                for side in ("drug", "dis"):
                    setattr(self, f"{side}_emb_{layer}", nn.Linear(160, 32, bias=False))
            self.weights = nn.Linear(32, 32, bias=False)
            nn.init.xavier_uniform_(self.weights.weight)

        def forward(self, drugs: Tensor, diseases: Tensor, graphs: dict[str, Any]) -> Tensor:
            found = {"drug": self.drug_emb(drugs), "dis": self.dis_emb(diseases)}
            for layer in (1, 2):
                seen = {side: getattr(self, f"layer_{layer}_{side}")(graphs[side], found[side]) for side in found}
                found = {side: getattr(self, f"{side}_emb_{layer}")(seen[side]) for side in found}
            return self.weights(found["drug"]) @ found["dis"].T

    A, training = read("A"), read("training") == 1
    inputs = Inputs.of(A, read("S"), read("P"), training, k=15, shift=1)
    told = inputs.told()

    def steps(attention: Callable[[int], nn.Module]) -> Tensor:
        torch.manual_seed(42)
        graphs = {
            side: dgl.graph(
                tuple(torch.from_numpy(one) for one in told[f"edges_metapath_{name}"]), num_nodes=nodes
            )
            for side, name, nodes in (("drug", "drug", A.shape[0]), ("dis", "disease", A.shape[1]))
        }
        features = [torch.from_numpy(told[f"feat_{name}"]) for name in ("drug", "disease")]
        network = Plain(sum(A.shape), attention)
        optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
        drugs, diseases = np.nonzero(training)
        places = torch.from_numpy((drugs - 1) * A.shape[1] + diseases)
        labels = torch.from_numpy((A[training] == 1).astype(np.float32))
        weight = (labels == 0).sum() / (labels == 1).sum()
        network.train()
        for _ in range(STEPS):
            logits = network(*features, graphs).flatten()[places]
            loss = functional.binary_cross_entropy_with_logits(logits, labels, pos_weight=weight)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            return torch.sigmoid(network(*features, graphs))

    def ours() -> Tensor:
        fixed = {"seed": 42, "learning_rate": 1e-3, "weight_decay": 0.0, "dropout": True}
        fit = train(inputs, torch.device("cpu"), epoch=STEPS, **fixed)
        return torch.sigmoid(fit.logits)

    return {"library": lambda: steps(on_library), "plain": lambda: steps(PlainAttention), "ours": ours}


found = {}
answers = {}
for name, answer in {"nimcgcn": nimcgcn, "han": han}[os.environ["METHOD"]]().items():
    started = time.process_time()
    answers[name] = answer()
    found[name] = time.process_time() - started
found["apart"] = max(float((one - answers["ours"]).abs().max() / one.abs().max()) for one in answers.values())
sys.stdout.write(json.dumps(found) + "\n")
