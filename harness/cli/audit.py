"""`harness audit`: why should I believe this cell?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness import api
from harness.base.errors import AuditError
from harness.cli.names import KEY, STORED_SUITE, Word
from harness.cli.options import FILE, OnceCommand, echo_json, json_option, mirror_option

# `harness.audit.Lack`, which is too heavy to import for a page of help; a test holds them to be equal.
_LACKS = (
    *("engine", "data", "replay", "machine", "scores", "git", "changed"),
    *("statement", "log", "stale", "superseded", "missing", "other"),
)


@click.command(cls=OnceCommand)
@click.argument("keys", metavar="[KEY]...", type=KEY, nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every stored run (the default without KEY and --suite).")
@click.option(
    "--suite", type=STORED_SUITE, help="Every run of this suite's present cells; 'stored': the same as --all."
)
@click.option("--reference", is_flag=True, help="The committed reference results in place of runs made here.")
@click.option("--replay", type=click.IntRange(min=0), default=0, help="Run so many of them again, bit for bit.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample to replay.")
@click.option(
    "--anew",
    is_flag=True,
    help="Believe no note: make every split and dataset, and the page, and read every image, once more.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit code 5 for what was not checked, stale, superseded or missing, too. Believes no note.",
)
@click.option("--noted", is_flag=True, help="With --strict: believe notes of earlier checks, which is faster.")
@click.option(
    "--waive",
    "waived",
    multiple=True,
    type=Word(_LACKS),
    help="With --strict: accept this lack. Several are possible.",
)
@click.option("--verbose", is_flag=True, help="The whole chain of every run.")
@click.option("--signed", is_flag=True, help="Only: are these the results that were stated and signed?")
@click.option(
    "--signers", type=FILE, help="With --signed: the keys that you believe, in place of results/allowed_signers."
)
@click.option("--attest", is_flag=True, help="With --replay: sign the log with your own key if all came again.")
@click.option("--key", "ssh_key", type=FILE, help="Your SSH key, for --attest.")
@mirror_option
@json_option
def command(
    keys: tuple[str, ...],
    every: bool,
    suite: str | None,
    reference: bool,
    replay: int,
    seed: int,
    anew: bool,
    strict: bool,
    noted: bool,
    waived: tuple[str, ...],
    verbose: bool,
    signed: bool,
    signers: Path | None,
    attest: bool,
    ssh_key: Path | None,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Walk from stored results down to everything they rest on, recomputing hashes and scores.

    \b
    harness audit 3d02f8dae5f6               one run, of this machine or of the reference results
    harness audit 3d02f8dae5f6 9e67b8150122  two runs
    harness audit --all --replay 3           every run; three of them run again
    harness audit --all --strict             every run, without gaps; nothing is believed that can be made again
    harness audit --reference --replay 3     what is committed here; three of them made again, bit for bit
    harness audit --reference --suite smoke  what is committed of a suite
    harness audit --reference --strict --waive replay --waive data
    harness audit --reference --signed       whether these are the results that somebody signed
    harness audit --reference --replay 3 --attest --key FILE    sign that three of them came out the same for you

    KEY is a job key or its beginning. Exit code 5 when any link is broken. A link that could not be checked is
    listed, and does not count as ok; with --strict it ends with 5, too, unless it lacks what is waived.
    """
    from harness.audit import Lack, strict_lines, to_json, to_text
    from harness.status.table import STORED

    if sum((bool(keys), every, suite is not None)) > 1:
        raise click.UsageError("KEY, --all and --suite exclude each other")
    if reference and (every or suite == STORED):
        name = "--all" if every else f"--suite {STORED}"
        raise click.UsageError(f"the runs made here are {name}, the committed ones --reference: give one")
    if waived and not strict:
        raise click.UsageError("--waive goes with --strict")
    if noted and (anew or not strict):
        raise click.UsageError("--noted goes with --strict, and without --anew")
    if signed:
        from harness.proof.text import proof_json, proof_text

        others = (keys, every, suite, replay, seed, attest, ssh_key, strict, noted, waived, anew, verbose)
        if any(others):
            raise click.UsageError(
                "--signed is about all results: only --reference, --signers and --json go with it"
            )
        proof = api.verify(reference=reference, signers=signers)
        echo_json(proof_json(proof)) if as_json else click.echo(proof_text(proof), nl=False)
        return AuditError.exit_code if proof.failed else 0
    if signers is not None:
        raise click.UsageError("--signers goes with --signed")
    if attest != (ssh_key is not None) or (attest and not replay):
        raise click.UsageError("--attest needs --replay N and --key FILE, and --key needs --attest")
    repository = api.open_repository(mirrors=mirrors)
    # a log need not hold a line for each of some thousand results
    is_brief = reference and not keys and not verbose and not sys.stdout.isatty()
    report = api.audit(
        keys,
        suite=None if suite == STORED else suite,
        reference=reference,
        replay=replay,
        seed=seed,
        # what a strict audit makes again is evidence
        believing="nothing" if anew or (strict and not noted) else "notes",
        progress=None if as_json or (is_brief and not sys.stderr.isatty()) else "auto",
        repository=repository,
    )
    waivers = [Lack(lack) for lack in waived]
    if as_json:
        echo_json({**to_json(report), "waived": list(waived)})
    else:
        text = to_text(report, everything=verbose, brief=is_brief)
        lines = strict_lines(report.gaps, waivers, is_broken=report.is_broken) if strict else []
        click.echo(text + "".join(f"{line}\n" for line in lines), nl=False)
    if ssh_key is not None:
        confirmation = api.confirm(report, ssh_key, reference=reference, repository=repository)
        click.echo(f"signed by {confirmation.signer}: {confirmation.path}", err=as_json)
    return AuditError.exit_code if report.is_broken or (strict and report.lacking(waivers)) else 0
