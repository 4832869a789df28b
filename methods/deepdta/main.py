"""DeepDTA: convolutions of a drug's SMILES and a protein's sequence predict how strongly they bind."""

from __future__ import annotations

from itertools import product

from affinity_concordance import concordance
from affinity_training import examples_of, predicted, train_epochs
from dti_sdk import Answer, Problem, run
from pair_model import DeepDTA


def fit_predict(problem: Problem) -> Answer:
    """Widths of the windows are chosen by the concordance index of a share of the training pairs."""
    inputs, parameters = problem.inputs, problem.parameters
    drug, target = ([int(one) for one in parameters[f"{side}_kernels"].split()] for side in ("drug", "target"))
    train, valid = examples_of(problem)
    best, answer = -1.0, None
    for kernels in product(drug, target):
        model = DeepDTA(inputs["smiles"], inputs["sequences"], kernels, parameters["dropout"])
        losses = train_epochs(model, train, None, problem)
        index = concordance(valid.values, predicted(model, valid.pairs))
        if answer is None or index > best:
            best, answer = index, Answer(predicted(model, problem.test_pairs), len(losses), losses)
    if answer is None:
        raise ValueError("drug_kernels and target_kernels name no width: give each at least one, as in '4 8'")
    return answer


run(fit_predict)
