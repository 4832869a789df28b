"""The ensemble that the paper mentions without describing it: the mean of its methods' probabilities.

On a dataset and split its members are at least two methods: those that have a run of every seed that two methods
have. So all seeds have the same members. The benchmark's own scorer scores it over all test items; the sha256
of the predictions are the evidence. Without the predictions it has no metrics, but a reason. It enters no claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from harness.base.errors import DataError, EngineError, MissingData
from harness.base.files import digest_of, write_json
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.scoring import SCORING
from harness.benchmarks.ddi.splits.parts import PartSplit
from harness.compare.names import Target
from harness.compare.runs import Obtained, Runs
from harness.results.scoring import Scores, read_answer, read_scores, scored_files, scorer_digest, scores_path
from harness.results.store import Store

ENSEMBLE = "ensemble"
RULE = "An ensemble is the mean probability of the methods that have a run of every seed that two have."
_BENCHMARK = "ddi"
_FEWEST = 2
# The rule by which probabilities are computed and combined: part of the digest of the scores.
_RULE = "mean of probabilities; a softmax where rows are none"
_WHOLE = 1e-3

Floats = npt.NDArray[np.float64]


def ensembles(layout: Layout, runs: Runs, methods: Mapping[str, str], mirrors: Sequence[Path] = ()) -> Runs:
    """The ensembles of these methods by target and seed; `reason` of each names its members."""
    candidates: dict[Target, dict[str, dict[int, str]]] = {}
    for title, method in methods.items():
        for target, seeds in runs.items():
            if target.method == method:
                place = candidates.setdefault(Target(ENSEMBLE, target.dataset, target.split), {})
                place[title] = {seed: run.key for seed, run in seeds.items() if run.verdict is Verdict.OK}
    maker = _Maker(layout, Store(layout.runs), mirrors)
    by_target: Runs = {}
    for target, by_title in candidates.items():
        counts = Counter(seed for keys in by_title.values() for seed in keys)
        shared = sorted(seed for seed, count in counts.items() if count >= _FEWEST)
        members = {title: keys for title, keys in by_title.items() if keys.keys() >= set(shared)}
        if shared and len(members) >= _FEWEST:
            by_target[target] = {
                seed: maker.ensemble({title: keys[seed] for title, keys in members.items()}) for seed in shared
            }
    return by_target


def probabilities(answer: npt.NDArray[np.float32], *, multilabel: bool) -> Floats:
    """The probability of every type: the answer itself, or its softmax by row if it holds logits."""
    scores = answer.astype(np.float64)
    if multilabel or (np.all(scores >= 0) and np.all(np.abs(scores.sum(axis=1) - 1) <= _WHOLE)):
        return scores
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Maker:
    """Scores ensembles, or reads the scores that are kept."""

    layout: Layout
    store: Store
    mirrors: Sequence[Path]

    def ensemble(self, members: Mapping[str, str]) -> Obtained:
        """The ensemble of the runs with these keys, without metrics if a run, its data or split is missing."""
        titles = ", ".join(members)
        try:
            scores = self._scores(members)
        except (DataError, EngineError) as error:
            why_not = "; ".join(filter(None, (f"{error.what} ({error.where})", error.todo)))
            return Obtained("", Verdict.OK, titles, None, {}, unscored=why_not)
        return Obtained(scores.key, Verdict.OK, titles, scores.every, scores.notes)

    def _scores(self, members: Mapping[str, str]) -> Scores:
        keys = sorted(members.values())
        files = {key: scored_files(_BENCHMARK, self.store.standing(key).content.get("files", {})) for key in keys}
        if absent := [title for title, key in members.items() if not files[key]]:
            raise MissingData(
                f"the predictions of {len(absent)} of {len(members)} members are not on this machine",
                where=", ".join(absent),
                todo="`harness run` makes them",
            )
        evidence = {f"{key}/{name}": sha256 for key in keys for name, sha256 in files[key].items()}
        own = digest_of({"rule": _RULE, "evidence": evidence})
        scores = read_scores(self.layout, own, _BENCHMARK, evidence)
        if scores is None:
            scores = self._new_scores(own, keys, evidence)
            write_json(scores_path(self.layout, own), scores.to_json())
        return scores

    def _new_scores(self, own: str, keys: Sequence[str], evidence: dict[str, str]) -> Scores:
        answers = [read_answer(self.layout, self.store, self.store.record(key), self.mirrors) for key in keys]
        dataset, split = cast(DdiDataset, answers[0][0].dataset), cast(PartSplit, answers[0][0].split)
        total = sum(probabilities(np.asarray(answer), multilabel=dataset.multilabel) for _, answer in answers)
        mean = np.asarray(total / len(answers), dtype=np.float32)
        metrics, notes = SCORING.score(dataset, split, mean, {})
        series = SCORING.series(dataset, split, mean, {})
        return Scores(own, scorer_digest(_BENCHMARK), evidence, metrics, notes, series)
