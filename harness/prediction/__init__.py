"""Predictions for people: what methods say of unknown pairs, or of items of one's own, and what that means."""

from harness.prediction.forms import KINDS, about_lines, content_of, to_json
from harness.prediction.names import is_known, known_name
from harness.prediction.participants import Participant, participants, usual_choice
from harness.prediction.prediction import Prediction, predict
from harness.prediction.request import EVERY, PredictionRequest

__all__ = [
    "EVERY",
    "KINDS",
    "Participant",
    "Prediction",
    "PredictionRequest",
    "about_lines",
    "content_of",
    "is_known",
    "known_name",
    "participants",
    "predict",
    "to_json",
    "usual_choice",
]
