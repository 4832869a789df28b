"""TextDDI: a language model reads a prompt with sentences from both drugs' descriptions and names the type."""

from __future__ import annotations

from classifier import fit_roberta, new_head
from ddi_sdk import Answer, Problem, run
from prompts import prompts
from text_minilm import fit_minilm, tokeniser


def fit_predict(problem: Problem) -> Answer:
    """RoBERTa from the weights folder, or the small encoder under its own variant's name."""
    if problem.parameters["encoder"] == "minilm":
        return fit_minilm(problem, prompts(problem, tokeniser()), new_head(problem.types))
    return fit_roberta(problem)


run(fit_predict)
