"""Facts about the data of a study, kept in a small file: they can be shown without the data.

`results/reference/BENCHMARK/measured.json` has a digest of its content, so that a changed file is refused.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from harness.base.errors import CorruptData, DataError
from harness.base.files import canonical_json, digest_of, read_json, write_atomic
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.data import dataset_digest
from harness.data.manifest import has_manifest

_FILE = "measured.json"
F = TypeVar("F", bound=Strict)


class _Kept(Strict, Generic[F]):
    """The content of the file."""

    measured: F
    digest: str


def load_measured(layout: Layout, benchmark: str, kind: type[F]) -> F | None:
    """The facts that were measured; None if there is no file."""
    path = layout.reference / benchmark / _FILE
    content: Any = read_json(path)
    if content is None and not path.is_file():
        return None
    todo = f"restore the file from the repository, or run `harness study --benchmark {benchmark} --measure`"
    try:
        kept = _Kept[kind].model_validate(content)  # type: ignore[valid-type]
    except ValidationError as error:
        what = f"what was measured can't be read: {error.errors()[0]['msg']}"
        raise CorruptData(what, where=str(path), todo=todo) from None
    try:
        is_as_kept = digest_of(content["measured"]) == kept.digest
    except ValueError:
        # a number of no end, such as 1e999, has no digest
        is_as_kept = False
    if not is_as_kept:
        raise CorruptData("what was measured differs from its own digest", where=str(path), todo=todo)
    return kept.measured


def notes_on_data(layout: Layout, dataset: str, digest: str) -> list[str]:
    """A note for readers where the dataset of this digest, which was measured, is another one by now, or gone."""
    if not has_manifest(layout, dataset):
        return [f"Outdated: dataset {dataset}, which was measured, is here no more."]
    try:
        present = dataset_digest(layout, dataset)
    except DataError:
        # nobody here can tell
        return []
    is_same = present == digest
    return [] if is_same else [f"Outdated: dataset {dataset} is another one by now ({digest[:12]} was measured)."]


def save_measured(layout: Layout, benchmark: str, measured: Strict) -> None:
    """Write the facts in one line with sorted names: equal facts give equal files."""
    path = layout.reference / benchmark / _FILE
    content = measured.model_dump(mode="json")
    write_atomic(path, canonical_json({"measured": content, "digest": digest_of(content)}) + b"\n")
