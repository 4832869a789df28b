"""A dataset with items of one's own: what `harness predict --new` asks about.

It is a folder with a manifest like any other, named by its content, so that its runs can be audited. It lies in
the cache and is listed nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tomlkit

from harness.base.files import write_atomic
from harness.base.layout import Layout
from harness.benchmarks.new_item import NewItem, with_new
from harness.data.arrays import content_digest
from harness.data.datasets import load_dataset
from harness.data.manifest import MANIFEST, load_manifest

# Stands in the names of datasets that `harness predict --new` makes.
EXTENDED = "_new_"
_NAME_DIGITS = 8


def left_over(layout: Layout) -> list[Path]:
    """Folders of datasets that were extended, where earlier versions kept them: beside the others."""
    found = (path for place in layout.dataset_places for path in place.glob(f"*{EXTENDED}*/{MANIFEST}"))
    return sorted(path.parent for path in found if '\nextends = "' in path.read_text("utf-8", "replace"))


def extended(layout: Layout, base: str, items: Sequence[NewItem], mirrors: Sequence[Path] = ()) -> str:
    """The name of a dataset that has all of another one and these items; it is there afterwards.

    Items of a dataset that was extended before are added to the one that it extends, together with those it has.
    """
    manifest = load_manifest(layout, base)
    if manifest.extends:
        items = [*manifest.new, *(item for item in items if item not in manifest.new)]
        return extended(layout, manifest.extends, items, mirrors)
    dataset = load_dataset(layout, base, mirrors=mirrors)
    larger = with_new(manifest.benchmark, dataset, items)
    digest = content_digest(larger)
    name = f"{base}{EXTENDED}{digest[:_NAME_DIGITS]}"
    document = {
        "name": name,
        "title": f"{manifest.title} and {', '.join(item.name for item in items)}",
        "benchmark": manifest.benchmark,
        "citation": manifest.citation,
        "licence": manifest.licence,
        "extends": base,
        "extends_digest": dataset.digest,
        "new": [item.model_dump() for item in items],
        "statistics": larger.statistics(**manifest.statistics.settings).model_dump(exclude_none=True),
        "converted": {"digest": digest},
    }
    write_atomic(layout.extended / name / MANIFEST, tomlkit.dumps(document))
    return name
