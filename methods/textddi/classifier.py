"""What names the type: RoBERTa with its own head, or a head of the same form on the small encoder's vectors."""

from __future__ import annotations

from ddi_sdk import Answer, Problem
from prompts import prompts
from text_encoders import pretrained, weights_folder
from text_minilm import WIDTH
from text_training import fit
from torch import Tensor, nn
from transformers import AutoTokenizer, RobertaForSequenceClassification

_DROPPED = 0.1


class Classifier(nn.Module):
    """Logits from token ids and their mask."""

    def __init__(self, llm: RobertaForSequenceClassification) -> None:
        super().__init__()
        self.llm = llm

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.llm(input_ids=ids, attention_mask=mask).logits


def fit_roberta(problem: Problem) -> Answer:
    """Every weight of the brought model is trained."""
    folder = weights_folder()
    llm = pretrained(RobertaForSequenceClassification, folder, num_labels=problem.types)
    return fit(problem, Classifier(llm), prompts(problem, pretrained(AutoTokenizer, folder)))


def new_head(types: int) -> nn.Module:
    """Dense, tanh, dense, with dropout before both, as RoBERTa's."""
    dense = nn.Dropout(_DROPPED), nn.Linear(WIDTH, WIDTH), nn.Tanh()
    return nn.Sequential(*dense, nn.Dropout(_DROPPED), nn.Linear(WIDTH, types))
