"""The collab learner of the fastai library: a small network on embeddings of diseases (users) and drugs (items).

Training is the library's work; what is done here is to name the pairs it may see, and to ask it for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from fastai.collab import CollabDataLoaders, Learner, collab_learner

# pairs that are scored at once
BLOCK = 1 << 14


def fit(
    labels: npt.NDArray[np.int8],
    *,
    n_iterations: int,
    n_factors: int,
    weight_decay: float,
    learning_rate: float,
    random_state: int,
    valid_pct: float,
    batch_size: int,
) -> npt.NDArray[np.float64]:
    """Scores drugs x diseases of a network trained on the labels that are not zero, drug by drug.

    Drugs and diseases without such a label share one embedding. The library seeds torch itself when it holds
    pairs back, and shuffles with NumPy's global stream.
    """
    drugs, diseases = np.nonzero(labels)
    known = pd.DataFrame({"user": diseases, "item": drugs, "rating": labels[drugs, diseases].astype(int)})
    np.random.seed(random_state)
    loaders = CollabDataLoaders.from_df(known, valid_pct=valid_pct, seed=random_state, bs=batch_size)
    learner = collab_learner(loaders, use_nn=True, layers=[n_factors], y_range=[-1, 1])
    with learner.no_bar(), learner.no_logging():
        learner.fit_one_cycle(n_iterations, learning_rate, wd=weight_decay)
    return _scores(learner, labels.shape)


def _scores(learner: Learner, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """The network's answer for all pairs, block by block of drugs."""
    drugs, diseases = (_places(learner, name, count) for name, count in zip(("item", "user"), shape, strict=True))
    scores = np.empty(shape)
    learner.model.eval()
    with torch.no_grad():
        for block in torch.arange(len(drugs)).split(max(1, BLOCK // len(diseases))):
            pairs = torch.stack(
                [diseases.repeat(len(block)), drugs[block].repeat_interleave(len(diseases))], dim=1
            )
            answer: torch.Tensor = learner.model(pairs.to(learner.dls.device), torch.empty(len(pairs), 0))
            scores[block] = answer.view(len(block), -1).cpu().numpy()
    return scores


def _places(learner: Learner, name: str, count: int) -> torch.Tensor:
    """Where the embedding of each drug or disease stands; 0 is the row for unknowns."""
    places: dict[Any, int] = learner.dls.classes[name].o2i
    return torch.tensor([places.get(number, 0) for number in range(count)])
