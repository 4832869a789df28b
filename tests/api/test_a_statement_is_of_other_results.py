"""What is stated, verified and confirmed is of the results that were named, with the keys that were named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness import api
from harness.audit import AuditReport
from harness.audit.steps import Audit, Step, failed, not_checked, ok
from harness.base.errors import AuditError
from harness.base.layout import Layout
from harness.planning.plan import Plan
from harness.proof.verification import Held, Proof
from harness.results.reference import save_reference
from harness.results.store import Store
from tests.evidence import copy_of
from tests.fabricate import planned_of
from tests.proof.conftest import make_key, vouch


@pytest.fixture(scope="module")
def signed(fabricated: Layout, tmp_path_factory: pytest.TempPathFactory) -> api.Repository:
    """The made-up runs, committed too, and statements about both that their author signed. Not to be changed."""
    folder = tmp_path_factory.mktemp("signed")
    layout = copy_of(fabricated, folder / "copy")
    save_reference(layout, Store(layout.runs))
    key = make_key(folder / "author")
    vouch(layout, "author", key)
    make_key(folder / "reader")
    here = api.Repository(layout)
    for reference in (False, True):
        attestation = api.attest(reference=reference, key=str(key), repository=here)
        assert attestation.path == (layout.reference if reference else layout.local) / "statement.json"
        assert attestation.signer is not None and attestation.signer.name == "author"
    return here


def _reader(here: api.Repository) -> Path:
    return here.layout.root.parent.parent / "reader"


def _states(proof: Proof) -> dict[str, Held]:
    return {step.name: step.state for step in proof.steps}


def _replayed(plan: Plan, *steps: Step) -> AuditReport:
    """An audit of the first cells of a plan, with what came of their replays."""
    keys = [planned_of(cell).key for cell in plan.cells]
    audits = [
        Audit(key, "a label", "", (ok("record", "whole"), step)) for key, step in zip(keys, steps, strict=False)
    ]
    return AuditReport(tuple(audits))


def test_a_statement_holds_for_the_results_that_it_is_about(signed: api.Repository) -> None:
    of_runs, of_reference = (api.verify(reference=one, repository=signed) for one in (False, True))
    assert (of_runs.about, of_reference.about) == ("runs of this machine", "reference results")
    assert _states(of_runs)["signature"] == _states(of_reference)["signature"] == Held.OK


def test_what_was_put_right_in_a_log_before_it_was_read_is_told(signed: api.Repository, tmp_path: Path) -> None:
    here = api.Repository(copy_of(signed.layout, tmp_path / "copy"))
    # whoever verifies a log here for the first time knows it from then on
    api.verify(repository=here)
    with here.store.log.path.open("ab") as stream:
        stream.write(b"all went well")
    first, again = api.verify(repository=here), api.verify(repository=here)
    note = f"{here.store.log.path}: a last line of 13 bytes was never finished, and was cut"
    step = first.steps[0]
    assert (step.name, step.state, step.what) == (
        "log",
        Held.UNKNOWN,
        f"put right before it was read: {note}",
    )
    assert first.steps[1:] == again.steps


def test_a_signature_is_held_against_the_keys_that_a_person_believes(
    signed: api.Repository, tmp_path: Path
) -> None:
    believed = tmp_path / "signers"
    believed.write_text(
        f'me namespaces="permafrost-results" {_reader(signed).with_name("reader.pub").read_text()}'
    )
    for signers in (believed, str(believed)):
        assert _states(api.verify(signers=signers, repository=signed))["signature"] is Held.FAILED


@pytest.mark.parametrize("reference", [False, True])
def test_a_confirmation_names_what_came_again_and_lies_beside_its_log(
    signed: api.Repository, made_up: Plan, reference: bool
) -> None:
    report = _replayed(made_up, *[ok("replay", "equal bit for bit")] * 2)
    # who signs the log need not be known here
    told = api.confirm(report, str(_reader(signed)), reference=reference, repository=signed)
    assert sorted(told.replayed) == sorted(planned_of(cell).key for cell in made_up.cells[:2])
    folder = signed.layout.reference if reference else signed.layout.local
    assert told.path.parent == folder / "attestations" and told.log.size > 0


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        (
            (ok("replay", ""), failed("replay", "other")),
            "1 audit failed; not replayed, or with another outcome: 1 run",
        ),
        ((not_checked("replay", "no engine"),), "0 audits failed; not replayed, or with another outcome: 1 run"),
        (
            (ok("replay", ""), failed("log", "cut")),
            "1 audit failed; not replayed, or with another outcome: 0 runs",
        ),
    ],
)
def test_what_did_not_come_again_is_not_confirmed(
    signed: api.Repository, made_up: Plan, steps: tuple[Step, ...], what: str
) -> None:
    with pytest.raises(AuditError) as refused:
        api.confirm(_replayed(made_up, *steps), _reader(signed), repository=signed)
    assert refused.value.what == f"nothing is signed: {what.format('or with another outcome')}"
    assert (refused.value.where, refused.value.todo) == ("the audit above", "look at its reasons")


@pytest.mark.parametrize(("reference", "name"), [(False, "runs of this machine"), (True, "reference results")])
def test_a_log_is_not_confirmed_with_runs_of_which_it_does_not_tell(
    signed: api.Repository, made_up: Plan, tmp_path: Path, reference: bool, name: str
) -> None:
    """The keys led to results of another set, which came again."""
    here = replace(signed, layout=copy_of(signed.layout, tmp_path / "copy"))
    first, second = _replayed(made_up, *[ok("replay", "equal bit for bit")] * 2).audits
    folder = here.layout.reference if reference else here.layout.local
    for digits, told in (("f", "f" * 12), ("fedc", f"{'f' * 12}, {'e' * 12}, {'d' * 12} and 1 more")):
        report = AuditReport((first, *(replace(second, key=digit * 64) for digit in digits)))
        with pytest.raises(AuditError) as refused:
            api.confirm(report, _reader(signed), reference=reference, repository=here)
        assert refused.value.what == f"nothing is signed: not among the {name}: {told}"
        assert refused.value.where == str(folder / "log.jsonl") and "--reference" in refused.value.todo


def test_a_log_that_does_not_hold_is_not_confirmed_and_not_stated(
    signed: api.Repository, made_up: Plan, tmp_path: Path
) -> None:
    here = replace(signed, layout=copy_of(signed.layout, tmp_path / "copy"))
    log = here.layout.local / "log.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(AuditError, match=r"^nothing is signed: .* some were taken out") as refused:
        api.confirm(_replayed(made_up, ok("replay", "")), _reader(signed), repository=here)
    assert refused.value.where == str(log) and refused.value.todo.startswith("restore it from the repository")
    log = here.layout.reference / "log.jsonl"
    log.write_text("no leaf\n")
    with pytest.raises(AuditError) as refused:
        api.attest(reference=True, repository=here)
    assert refused.value.where.startswith(str(log)) and refused.value.what and refused.value.todo


def test_reference_results_are_verified_where_nothing_may_be_written(
    signed: api.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Store, "open_log", refuse)
    assert api.verify(reference=True, repository=signed).about == "reference results"
    with pytest.raises(PermissionError):
        api.verify(repository=signed)
