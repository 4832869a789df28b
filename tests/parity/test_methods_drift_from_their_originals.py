"""Golden cases of the folder beside the repository, in the methods' own containers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from harness.base.layout import Layout, find_layout
from harness.base.machine import processor_flags
from harness.engine import Engine
from harness.execution.trials import InContainers
from harness.images import ensure_image
from harness.methods.card import MethodCard, load_methods
from harness.parity import CaseFinding, GoldenCase, check_cases, find_cases
from tests.conftest import REPOSITORY, asked_for

Findings = dict[str, Future[list[CaseFinding]]]

# Where all cases take long, some of each kind; the others are left to `harness parity`.
SOME = {
    "bnnr": ("bnnr_HDVD_raw_*", "bnnr_Synthetic_bench_*"),
    "decagon": ("Decagon/*_00",),
    "emergnn": ("EmerGNN/drugbank_00", "EmerGNN/twosides_02"),
    "fastai_collab": ("FastaiCollabWrapper_Fdataset_*", "seeds10_FastaiCollabWrapper_HDVD_*"),
    "han": ("HANtrace_*", "HAN_ep*"),
    "mlp": ("MLP/*_00",),
    "mste": ("MSTE/*_00",),
    "nimcgcn": ("NIMCGCN_*",),
    "sagan": ("SAGAN/drugbank_02", "SAGAN/twosides_00"),
    "ssi_ddi": ("SSI-DDI/drugbank_02", "SSI-DDI/twosides_00"),
}
# Fast.ai's goldens hold torch's own choice of kernels. With AVX-512 it is another one: on Fdataset 7e-5 away.
if "avx512f" in processor_flags():
    SOME["fastai_collab"] = ("FastaiCollabWrapper_HDVD_*", "seeds10_FastaiCollabWrapper_HDVD_*")
CARDS = {card.name: card for card in load_methods(find_layout(REPOSITORY)) if card.parity}


@pytest.fixture(scope="module")
def findings(
    request: pytest.FixtureRequest,
    repository: Layout,
    engine: Engine,
    shared: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Findings]:
    """Of the methods that were asked for, on all processors at once: each run needs one."""
    names = asked_for(request, test_a_method_equals_its_goldens)
    layout = Layout(repository.root, repository.cache, tmp_path_factory.mktemp("goldens") / "local")
    for name in names:
        ensure_image(engine, layout, name)
    run = InContainers(layout, engine)
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        def found(name: str) -> list[CaseFinding]:
            card = CARDS[name]
            return list(
                check_cases(layout, cases_of(card, shared), [card], run, mirrors=[shared / "mirror"], only=[name])
            )

        yield {name: pool.submit(found, name) for name in names}
        pool.shutdown(cancel_futures=True)


def cases_of(card: MethodCard, shared: Path) -> list[GoldenCase]:
    """All of its benchmark, or those that were chosen of it."""
    cases = [case for name in card.benchmarks for case in find_cases(shared / "golden" / name)]
    chosen = SOME.get(card.name, ("*",))
    return [case for case in cases if any(fnmatchcase(case.name, pattern) for pattern in chosen)]


@pytest.mark.engine
@pytest.mark.parametrize("name", CARDS)
def test_a_method_equals_its_goldens(findings: Findings, shared: Path, name: str) -> None:
    found = findings[name].result()
    if name in SOME:
        assert {one.case for one in found} == {case.name for case in cases_of(CARDS[name], shared)}
    assert found
    assert not [one.as_json() for one in found if one.worst.is_bad]
    assert [array for one in found for array in one.arrays]
