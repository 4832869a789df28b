"""Golden cases of drug combinations: by their names, what each is made of and who computes it again.

A file that no case is made of is a case too, which no card covers: so it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from harness.base.layout import Layout
from harness.benchmarks.combos.parity import networks, texts
from harness.parity.cases import METHOD, METRICS, GoldenCase
from harness.parity.goldens import Golden

_NAME = "combos"
Reader = Callable[[Path, Layout, Sequence[Path]], Golden]
_TEXTS: Mapping[str, Reader] = {
    "a_preprocess_digests.json.gz": texts.corpus,
    "a_preprocess.jsonl.gz": texts.documents,
    "c_greedy.json.gz": texts.predictions,
    "g_balanced_sampler.json": texts.batches,
    "h_order.json": texts.orders,
}
# whose numbers `parity/metrics.py` computes
_EVALUATED = ("d_eval/scores.json", "e_reference_points.json", "f_bootstrap/results.json")


def cases_in(folder: Path) -> Iterator[GoldenCase]:
    """The cases of a golden folder, and what else lies there if it has any."""
    cases = [*_of_texts(folder), *_of_networks(folder), *_evaluated(folder)]
    yield from cases
    taken = {file for case in cases for file in (case.path, *case.files)}
    for path in sorted(folder.rglob("*")) if cases else ():
        if path.is_file() and path not in taken:
            yield GoldenCase(path.relative_to(folder).as_posix(), path, _NAME)


def _of_texts(folder: Path) -> Iterator[GoldenCase]:
    for name, read in _TEXTS.items():
        if (path := folder / name).is_file():
            yield GoldenCase(name.partition(".")[0], path, _NAME, METHOD, read=partial(read, path))


def _of_networks(folder: Path) -> Iterator[GoldenCase]:
    forward = folder / networks.FORWARD
    shared = tuple(forward / name for name in networks.SHARED)
    for path in sorted(forward.glob("*.npz")):
        if path not in shared:
            read = partial(networks.forward, path)
            yield GoldenCase(f"{forward.name}/{path.stem}", path, _NAME, METHOD, shared, read)
    for path in sorted(folder.glob(f"{networks.TRAINING}*/info.json")):
        files = tuple(path.with_name(name) for name in networks.TRAINED)
        yield GoldenCase(path.parent.name, path, _NAME, METHOD, files, partial(networks.training, path))


def _evaluated(folder: Path) -> Iterator[GoldenCase]:
    for name in _EVALUATED:
        if (path := folder / name).is_file():
            # of a folder, all files belong to the one with the results
            files = tuple(sorted(path.parent.iterdir())) if "/" in name else ()
            case = path.parent.name if files else path.stem
            yield GoldenCase(case, path, _NAME, METRICS, files)
