"""The ensemble that the paper speaks of without describing it: the mean of its methods' probabilities.

Of a dataset and split it is made of those methods, two at least, that have a run of every seed that two have: then
all seeds tell of one ensemble. Where that can't be done on this machine, it has no metrics and says why. Scored by
the benchmark's own scorer over all test items; the predictions' sha256 are the evidence. It enters no claim.
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
# The rule by which probabilities are made and joined: another one makes other scores.
_RULE = "mean of probabilities; a softmax where rows are none"
_WHOLE = 1e-3

Floats = npt.NDArray[np.float64]


def ensembles(layout: Layout, runs: Runs, methods: Mapping[str, str], mirrors: Sequence[Path] = ()) -> Runs:
    """The ensembles of everything that was run of these methods, by target and seed; `reason` names members."""
    candidates: dict[Target, dict[str, dict[int, str]]] = {}
    for title, method in methods.items():
        for target, seeds in runs.items():
            if target.method == method:
                place = candidates.setdefault(Target(ENSEMBLE, target.dataset, target.split), {})
                place[title] = {seed: run.key for seed, run in seeds.items() if run.verdict is Verdict.OK}
    maker = _Maker(layout, Store(layout.runs), mirrors)
    found: Runs = {}
    for target, by_title in candidates.items():
        counts = Counter(seed for keys in by_title.values() for seed in keys)
        shared = sorted(seed for seed, count in counts.items() if count >= _FEWEST)
        members = {title: keys for title, keys in by_title.items() if keys.keys() >= set(shared)}
        if shared and len(members) >= _FEWEST:
            found[target] = {
                seed: maker.ensemble({title: keys[seed] for title, keys in members.items()}) for seed in shared
            }
    return found


def probabilities(answer: npt.NDArray[np.float32], *, multilabel: bool) -> Floats:
    """A share for every type: what is one already, or the softmax of a row of logits."""
    scores = answer.astype(np.float64)
    if multilabel or (np.all(scores >= 0) and np.all(np.abs(scores.sum(axis=1) - 1) <= _WHOLE)):
        return scores
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Maker:
    """Scores ensembles, or finds the scores that were kept of them."""

    layout: Layout
    store: Store
    mirrors: Sequence[Path]

    def ensemble(self, members: Mapping[str, str]) -> Obtained:
        """Of runs with these keys, by title; without metrics where a run, its data or its split is not here."""
        named = ", ".join(members)
        try:
            scores = self._scores(members)
        except (DataError, EngineError) as error:
            told = "; ".join(filter(None, (f"{error.what} ({error.where})", error.todo)))
            return Obtained("", Verdict.OK, named, None, {}, unscored=told)
        return Obtained(scores.key, Verdict.OK, named, scores.every, scores.notes)

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
            scores = self._made(own, keys, evidence)
            write_json(scores_path(self.layout, own), scores.to_json())
        return scores

    def _made(self, own: str, keys: Sequence[str], evidence: dict[str, str]) -> Scores:
        answers = [read_answer(self.layout, self.store, self.store.record(key), self.mirrors) for key in keys]
        dataset, split = cast(DdiDataset, answers[0][0].dataset), cast(PartSplit, answers[0][0].split)
        total = sum(probabilities(np.asarray(answer), multilabel=dataset.multilabel) for _, answer in answers)
        mean = np.asarray(total / len(answers), dtype=np.float32)
        metrics, notes = SCORING.score(dataset, split, mean, {})
        series = SCORING.series(dataset, split, mean, {})
        return Scores(own, scorer_digest(_BENCHMARK), evidence, metrics, notes, series)
