"""All drugs' graphs of a channel in one place, and those that a step needs, each once, cut out by index
arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from graphs import Graph, Integers, Links
from molecule_graphs import Edges
from torch import Tensor


@dataclass(frozen=True)
class Segments:
    """Consecutive ranges: where each begins, and at the end where the last one stops."""

    starts: Tensor

    @classmethod
    def of(cls, sizes: Tensor) -> Segments:
        """One after another, of these sizes."""
        return cls(torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]))

    @property
    def sizes(self) -> Tensor:
        """How long each of them is."""
        return self.starts[1:] - self.starts[:-1]

    def take(self, chosen: Tensor) -> tuple[Tensor, Segments]:
        """The places that the chosen ranges hold, and the ranges they make side by side."""
        first = self.starts[chosen]
        taken = Segments.of(self.starts[chosen + 1] - first)
        moved = (first - taken.starts[:-1]).repeat_interleave(taken.sizes)
        return torch.arange(len(moved), device=moved.device) + moved, taken

    def owners(self) -> Tensor:
        """The number of the range that each place is in."""
        return torch.arange(len(self.starts) - 1, device=self.starts.device).repeat_interleave(self.sizes)


@dataclass(frozen=True)
class Part:
    """Graphs side by side.

    Of the nodes the features or ids, degrees, graph, and the group that sums over paths run over, with corrections
    (or all paths) from source to target; `opposite` is the place of the path that goes the other way.
    """

    nodes: Tensor
    degree: Tensor
    graphs: Segments
    group: Tensor
    source: Tensor
    target: Tensor
    value: Tensor
    relation: Tensor
    opposite: Tensor
    own: Tensor

    def edges(self) -> Edges:
        """Paths as edges by target, source and relation; there is one in the other direction for each."""
        counts = torch.bincount(self.target, minlength=len(self.nodes))
        return Edges(self.source, self.target, Segments.of(counts).starts, self.opposite)


@dataclass(frozen=True)
class Channel:
    """Graphs of all drugs, and how many relations and degrees there may be.

    Ends of links, groups and own nodes count from the beginning of their graph.
    """

    whole: Part
    links: Segments
    relations: int
    degrees: int

    @classmethod
    def of(cls, graphs: Sequence[Graph], *, attended: bool, device: torch.device) -> Channel:
        """With all paths if they are attended to, else with groups and what is missing in them."""
        found = [_attended(one) if attended else one.groups() for one in graphs]
        links = [link for _, link in found]
        sizes, counts = _sizes([len(one.nodes) for one in graphs]), _sizes([len(one.source) for one in links])

        def joined(arrays: Sequence[Integers]) -> Tensor:
            return torch.from_numpy(np.concatenate(arrays)).to(device)

        whole = Part(
            nodes=joined([one.nodes for one in graphs]),
            degree=joined([one.degree for one in graphs]),
            graphs=Segments.of(sizes.to(device)),
            group=joined([group for group, _ in found]),
            source=joined([one.source for one in links]),
            target=joined([one.target for one in links]),
            value=joined([one.value for one in links]),
            relation=joined([one.relation for one in links]),
            opposite=joined([one.opposites() for one in links]),
            own=_sizes([one.own for one in graphs]).to(device),
        )
        # rows of the tables that these numbers choose from
        relations = max(int(one.paths.relation.max()) for one in graphs) + 1
        return cls(whole, Segments.of(counts.to(device)), relations, int(whole.degree.max()) + 1)

    def take(self, drugs: Tensor) -> Part:
        """The graphs of these drugs, in this order."""
        whole = self.whole
        nodes, graphs = whole.graphs.take(drugs)
        links, of_links = self.links.take(drugs)
        before = graphs.starts[:-1]
        moved = before.repeat_interleave(of_links.sizes)
        return Part(
            nodes=whole.nodes[nodes],
            degree=whole.degree[nodes],
            graphs=graphs,
            # as many numbers as nodes are enough for the groups of a graph
            group=whole.group[nodes] + before.repeat_interleave(graphs.sizes),
            source=whole.source[links] + moved,
            target=whole.target[links] + moved,
            value=whole.value[links],
            relation=whole.relation[links],
            opposite=whole.opposite[links] + of_links.starts[:-1].repeat_interleave(of_links.sizes),
            own=whole.own[drugs] + before,
        )


def _attended(graph: Graph) -> tuple[Integers, Links]:
    return np.zeros(len(graph.nodes), np.int64), graph.paths.by_target()


def _sizes(sizes: Sequence[int]) -> Tensor:
    return torch.tensor(sizes, dtype=torch.int64)
