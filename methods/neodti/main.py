"""NeoDTI: neural integration of neighbour information."""

from __future__ import annotations

import numpy as np
import torch
from dti_sdk import Answer, Problem, held_back, run, with_negatives
from model import Model
from networks import BINDINGS, counts_of, messages_of, networks_of
from products import Cells
from training import Given, Trainer, quality


def fit_predict(problem: Problem) -> Answer:
    """Scores from before the step whose validation was best, of those that were looked at."""
    chosen, draw = problem.parameters, np.random.default_rng(problem.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, valid = held_back(with_negatives(problem, chosen["negatives"], draw), chosen["validation"], draw)
    networks = networks_of(problem, train)
    model = Model(counts_of(networks), chosen["width"], chosen["projection"]).to(device)
    given = Given.of(networks, messages_of(networks), train, device)
    trainer = Trainer(model, given, learning_rate=chosen["learning_rate"], clip=chosen["clip"])
    asked = Cells.of(np.concatenate([valid.pairs, problem.test_pairs]), networks[BINDINGS].shape, device)
    best, scores, losses = -np.inf, np.empty(0), []
    for number in range(chosen["steps"]):
        z, terms = trainer.forward()
        if number % chosen["evaluate_every"] == 0:
            with torch.no_grad():
                answered = model.scores(z, asked).cpu().numpy().astype(np.float64)
            losses.append(sum(float(term.detach()) for term in terms.values()))
            held, test = np.split(answered, [len(valid.pairs)])
            found = quality(valid.values, held, affinity=problem.affinity)
            if not found < best:
                best, scores = found, test
        trainer.update(terms)
    return Answer(scores, chosen["steps"], losses)


run(fit_predict)
