"""What makes a run, for its record: this harness, this processor and kernel, and the engine."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

import harness
from harness.base.git import LEFTOVERS, commit_of, differences
from harness.base.layout import Layout
from harness.base.machine import processor, processor_flags
from harness.data.own_tables import personal_names
from harness.engine.facts import EngineFacts
from harness.meaning.folders import meaning_of_folder
from harness.results.records import Maker
from harness.results.scoring import scorer_digest

# Where the code lies that decides what a run is.
CODE = ("harness", "methods", "containers", "datasets")


def maker_of(layout: Layout, benchmark: str, engine: EngineFacts) -> Maker:
    """What makes the runs of a benchmark here and now."""
    return Maker(
        harness=meaning_of_folder(Path(harness.__file__).parent),
        commit=_commit(layout),
        scorer=scorer_digest(benchmark),
        processor=processor(),
        flags=processor_flags(),
        kernel=platform.release(),
        engine=f"{engine.name} {engine.version}",
    )


@cache
def _commit(layout: Layout) -> str:
    """The commit of the code that this process runs, with `+` where the files differ from it."""
    commit = commit_of(layout.root)
    differs = commit and differences(layout.root, CODE, (*LEFTOVERS, *personal_names(layout)))
    return f"{commit}+" if differs else commit
