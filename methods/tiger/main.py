"""TIGER: a molecule's graph and a walk through the knowledge graph, each encoded by a graph transformer."""

from __future__ import annotations

import random

import numpy as np
from channel import Channel
from ddi_sdk import Answer, Problem, run
from ddi_training import cleaned, device, fit, loss_of_labels
from knowledge_channel import knowledge_graphs
from molecule_channel import FEATURES, molecule_graphs
from network import Network, Sizes, Widths
from training import Model


def fit_predict(problem: Problem) -> Answer:
    """Graphs of all drugs once, then the trainer; items are triplets."""
    chosen, where, problem = problem.parameters, device(), cleaned(problem)
    attended = chosen["attention"] == "relation-aware"
    molecules = molecule_graphs(problem.inputs["smiles"], aliased=chosen["aliased"], blanks=chosen["blanks"])
    knowledge = knowledge_graphs(
        np.asarray(problem.inputs["knowledge"], dtype=np.int64),
        problem.drugs,
        problem.relations,
        random.Random(problem.seed),
    )
    channels = [Channel.of(one, attended=attended, device=where) for one in (molecules, knowledge)]
    sizes = Sizes(FEATURES, problem.entities, *(size for one in channels for size in (one.relations, one.degrees)))
    shape = {name: chosen[name] for name in ("layers", "heads", "dropout")}
    network = Network(sizes, problem.types, Widths.of(chosen["width"]), attended=attended, **shape).to(where)
    model = Model(network, *channels, loss_of_labels(problem))
    return fit(problem, network, model.loss, model.scores, per_pair=False, drop_last=True)


run(fit_predict)
