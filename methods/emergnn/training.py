"""How the model of one setting is trained, chosen and asked: every setting has its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from choices import Choices
from ddi_sdk import Array, Problem
from ddi_training import cleaned, facts, fingerprints, state_of
from examples import Examples, drawn_to_hide
from graph import Graph, Numbering
from learning import learn, optimiser, scores_of
from measures import of_lines, of_types
from network import Network
from routes import Routes
from torch.optim.lr_scheduler import ReduceLROnPlateau


@dataclass(frozen=True)
class Fit:
    """Scores of the setting's test pairs, by the model of the chosen epoch; its metric on valid items."""

    scores: Array
    epoch: int
    metric: float | None
    losses: list[float]


class Setting:
    """One setting of a problem: which graph is used when, and a network for it."""

    def __init__(self, problem: Problem, setting: int) -> None:
        self.problem, self.setting = problem, setting
        self.chosen = Choices.of(problem.parameters, setting, multilabel=problem.multilabel)
        self.numbering = Numbering(problem.types, problem.relations, problem.multilabel)
        self.knowledge = self.numbering.knowledge(np.asarray(problem.inputs["knowledge"], dtype=np.int64))
        self.valid = np.flatnonzero(problem.valid.setting == setting)
        # a setting's model does not depend on whether the other setting is asked for
        torch.manual_seed(problem.seed)
        self.generator = np.random.default_rng([problem.seed, setting])
        self.network = Network(
            torch.from_numpy(fingerprints(problem)),
            own=self.chosen.own_vectors,
            width=self.chosen.width,
            layers=self.chosen.layers,
            relations=self.numbering.count,
            types=problem.types,
            outermost=problem.multilabel,
        )

    def fit(self) -> Fit:
        """All epochs; the first model with the highest metric on valid items answers, the last where none are."""
        problem, parameters = self.problem, self.problem.parameters
        examples = Examples.of(problem.train)
        known = examples.facts()
        examples = Examples(cleaned(problem).train, examples.own, examples.negative)
        valid = self.routes(known, problem.valid.pairs[self.valid])
        adam = optimiser(self.network, self.chosen.learning_rate, self.chosen.weight_decay)
        plateau = ReduceLROnPlateau(adam, mode="max", patience=int(parameters["patience"]))
        epochs, every = int(parameters["epochs"]), int(parameters["evaluate_every"])
        metric, epoch, state, losses = None, epochs, None, []
        for number in range(1, epochs + 1):
            losses.append(self.epoch(examples, adam))
            if not len(self.valid) or (number % every and number < epochs):
                continue
            found = self.metric(valid)
            if not problem.multilabel:
                plateau.step(found)
            if metric is None or found > metric:
                metric, epoch, state = found, number, state_of(self.network)
        if state is not None:
            self.network.load_state_dict(state)
        validated = facts(problem.valid.pairs[self.valid], problem.valid.labels[self.valid])
        known = np.concatenate([known, validated])
        asked = problem.test_pairs[problem.test_setting == self.setting]
        return Fit(scores_of(self.network, self.routes(known, asked), asked), epoch, metric, losses)

    def epoch(self, examples: Examples, adam: torch.optim.Adam) -> float:
        """Hide drugs, learn from what they interact with; the mean loss of the batches, 0 without any."""
        share = self.problem.parameters["hidden_share"]
        drugs = drawn_to_hide(self.problem.train, self.knowledge, share, self.generator)
        seen, hidden = examples.hiding(drugs, self.setting)
        losses = learn(
            self.network,
            self.routes(seen.facts(), hidden.pairs()),
            hidden,
            adam,
            batch_size=self.chosen.batch_size,
            repeated=self.problem.parameters["repeated_loss"],
        )
        return float(np.mean(losses)) if losses else 0.0

    def routes(self, facts: Array, pairs: Array) -> Routes:
        """For these pairs on the graph of these facts."""
        nodes, count = self.problem.entities, self.numbering.count
        edges = self.numbering.edges(facts, self.knowledge, nodes)
        return Routes.of(Graph.of(edges, nodes, count, self.problem.drugs), pairs, self.chosen.layers)

    def metric(self, routes: Routes) -> float:
        """Macro F1 on the valid items; of lines, the mean of the types' average precision."""
        labels = self.problem.valid.labels[self.valid]
        scores = scores_of(self.network, routes, self.problem.valid.pairs[self.valid])
        if self.problem.multilabel:
            return of_lines(labels, scores)[1]
        return of_types(labels, scores.argmax(axis=1))[0]
