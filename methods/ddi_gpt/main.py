"""DDI-GPT: BioGPT reads both drugs' names, or a knowledge graph's text; its last vector names the type."""

from __future__ import annotations

from biogpt import fit_biogpt
from ddi_sdk import Answer, Problem, run
from layouts import for_minilm
from text_minilm import WIDTH, fit_minilm, tokeniser
from torch import nn


def fit_predict(problem: Problem) -> Answer:
    """BioGPT from the weights folder, or the small encoder under its own variant's name."""
    if problem.parameters["encoder"] == "minilm":
        return fit_minilm(problem, for_minilm(problem, tokeniser()), nn.Linear(WIDTH, problem.types))
    return fit_biogpt(problem)


run(fit_predict)
