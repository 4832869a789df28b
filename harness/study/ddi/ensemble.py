"""The ensemble that the paper speaks of without describing it: the mean of its methods' probabilities.

Made of the predictions on this machine that have seed, dataset and split in common, two methods at least. Scored
by the benchmark's own scorer over all test items; the predictions' sha256 are the evidence. It enters no claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness import benchmark
from harness.compare.names import Target
from harness.compare.obtained import Obtained, Runs
from harness.errors import DataError, EngineError
from harness.files import digest_of, write_json
from harness.layout import Layout
from harness.scoring import Scores, read_scores, scored_files, scorer_digest, scores_path
from harness.store import Store
from harness.vocabulary import Verdict

ENSEMBLE = "ensemble"
_BENCHMARK = "ddi"
_FEWEST = 2
# The rule by which probabilities are made and joined: another one makes other scores.
_RULE = "mean of probabilities; a softmax where rows are none"
_WHOLE = 1e-3

Floats = npt.NDArray[np.float64]


def ensembles(layout: Layout, runs: Runs, methods: Mapping[str, str]) -> Runs:
    """The ensembles of everything that was run of these methods, by target and seed."""
    members: dict[tuple[str, str], dict[int, list[Obtained]]] = {}
    for method in methods.values():
        for target, seeds in runs.items():
            if target.method == method and target.dataset and target.split:
                place = members.setdefault((target.dataset, target.split), {})
                for seed, run in seeds.items():
                    if run.verdict is Verdict.OK and not run.reference:
                        place.setdefault(seed, []).append(run)
    maker = _Maker(layout, Store(layout.runs))
    found: Runs = {}
    for (dataset, split), by_seed in members.items():
        for seed, those in by_seed.items():
            if len(those) >= _FEWEST and (scores := maker.scores([run.key for run in those])) is not None:
                made = Obtained(scores.key, Verdict.OK, f"of {len(those)} methods", scores.every, scores.notes)
                found.setdefault(Target(ENSEMBLE, dataset, split), {})[seed] = made
    return found


def probabilities(answer: npt.NDArray[np.float32], *, multilabel: bool) -> Floats:
    """A share for every type: what is one already, or the softmax of a row of logits."""
    scores = answer.astype(np.float64)
    if multilabel or (scores.min() >= 0 and np.abs(scores.sum(axis=1) - 1).max() <= _WHOLE):
        return scores
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Maker:
    """Scores ensembles, or finds the scores that were kept of them."""

    layout: Layout
    store: Store

    def scores(self, keys: list[str]) -> Scores | None:
        """Of the runs with these keys; None where a run, its data or its split are not here."""
        evidence: dict[str, str] = {}
        for key in sorted(keys):
            files = scored_files(self.store.standing(key).content.get("files", {}))
            evidence |= {f"{key}/{name}": sha256 for name, sha256 in files.items()}
        if len({name.partition("/")[0] for name in evidence}) < len(keys):
            return None
        own = digest_of({"rule": _RULE, "evidence": evidence})
        kept = read_scores(self.layout, own, _BENCHMARK, evidence)
        if kept is not None:
            return kept
        try:
            made = self._made(own, sorted(keys), evidence)
        except (DataError, EngineError):
            return None
        write_json(scores_path(self.layout, own), made.to_json())
        return made

    def _made(self, own: str, keys: list[str], evidence: dict[str, str]) -> Scores:
        from harness.data import load_dataset
        from harness.splits import load_split

        module = benchmark.get(_BENCHMARK)
        job = self.store.record(keys[0]).planned.job
        dataset, split = load_dataset(self.layout, job.dataset), load_split(self.layout, job.dataset, job.split)
        asked = module.asked(dataset, split)
        total: Floats = np.zeros((asked.pairs, asked.types))
        for key in keys:
            self.store.check(self.store.record(key))
            answer = module.check_predictions(self.store.path(key), asked, 0)
            total += probabilities(answer, multilabel=asked.multilabel)
        mean = (total / len(keys)).astype(np.float32)
        metrics, notes = module.score(dataset, split, mean, {})
        series = module.series(dataset, split, mean, {})
        return Scores(own, scorer_digest(_BENCHMARK), evidence, metrics, notes, series)
