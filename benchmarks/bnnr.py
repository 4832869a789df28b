"""CPU seconds of BNNR: ours against a plain transcription of the algorithm, in one run in BNNR's own image.

The original calls Octave's `svd` and so gets the default driver, gesvd; that is the ratio that counts. The plain
transcription with the faster driver, gesdd, stands beside it, because some figures of the original were taken so.
Per golden case it also says how far our answer is from the golden. Fdataset and Cdataset take minutes.

Usage: python -m benchmarks.bnnr [--golden DIR] [--json] [CASE ...]     (cases: HDVD_raw Synthetic_bench ...)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.in_image import HERE, measured, shared_folder
from harness.base.layout import find_layout
from harness.engine import Engine, find_engine
from harness.images import ensure_image

SEED = 17263407
DEFAULT = ("HDVD_raw", "Synthetic_bench")
# CPU seconds of the original on another machine, and the driver it was run with
ORIGINAL = {
    "HDVD_raw": (4.92, "gesvd"),
    "Synthetic_bench": (53.89, "gesvd"),
    "Fdataset_bench": (22.59, "gesdd"),
    "Cdataset_raw": (61.32, "gesdd"),
}
CODE = """
  addpath ("/benchmarks");
  S = read_npy ("/in/S.npy"); P = read_npy ("/in/P.npy"); A = read_npy ("/in/A.npy");
  golden = read_npy ("/in/pred.npy");
  m = rows (S);
  T = [S, A; A', P];
  zeros (1, 4e6);
  clear ans;
  started = cputime ();
  [W, iter] = BNNR (1, 10, T, T != 0, 2e-3, 1e-5, 300, 0, 1);
  ours = cputime () - started;
  error_ours = max (abs ((W(m+1:end,1:m)' - golden)(:)));
  plain = struct ();
  for driver = {"gesdd", "gesvd"}
    svd_driver (driver{1});
    started = cputime ();
    [W, iter_plain] = bnnr_plain (1, 10, T, double (T != 0), 2e-3, 1e-5, 300, 0, 1);
    plain.(driver{1}) = cputime () - started;
  endfor
  disp (jsonencode (struct ("ours", ours, "plain", plain, "iterations", iter, "iterations_plain", iter_plain, ...
                            "error", error_ours)));
"""


def measure(engine: Engine, image_id: str, golden: Path, case: str) -> dict[str, Any]:
    """One case: all three in one process, alone on one thread."""
    dataset, mode = case.split("_")
    features = np.load(golden / f"_features_{dataset}.npz")
    stored = np.load(golden / f"bnnr_{case}_{SEED}.npz")
    names = ("X_s", "X_p") if mode == "bench" else ("S", "P")
    options = ("--no-init-file", "--no-site-file", "--no-window-system", "--no-history", "--quiet")
    arrays = {
        "S": features[names[0]],
        "P": features[names[1]],
        "A": stored["A_train"].astype(float),
        "pred": stored["pred"],
    }
    command = ("octave-cli", *options, "--eval", CODE)
    found = measured(engine, image_id, command, arrays, mounts={HERE: "/benchmarks"})
    found["ratio_to_default"] = found["ours"] / found["plain"]["gesvd"]
    found["ratio_to_gesdd"] = found["ours"] / found["plain"]["gesdd"]
    found["original"], found["original_driver"] = ORIGINAL.get(case, (None, None))
    return found


def describe(case: str, found: dict[str, Any]) -> str:
    """One line for people."""
    line = (
        f"{case:16} {found['iterations']:3d} iterations  ours {found['ours']:6.2f}  plain with the default driver "
        f"{found['plain']['gesvd']:6.2f} (ratio {found['ratio_to_default']:.2f})  with gesdd "
        f"{found['plain']['gesdd']:6.2f} (ratio {found['ratio_to_gesdd']:.2f})  error {found['error']:.1e}"
    )
    if found["original"] is not None:
        line += f"  original elsewhere {found['original']} ({found['original_driver']})"
    return line


def main() -> None:
    """Measure the cases that are asked for."""
    layout = find_layout(Path(__file__).resolve().parent)
    shared = shared_folder(layout)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, default=shared / "golden" / "repurposing")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(DEFAULT), metavar="CASE")
    chosen = parser.parse_args()
    with find_engine(layout) as engine:
        image_id = ensure_image(engine, layout, "bnnr").image_id
        for case in chosen.cases:
            found = measure(engine, image_id, chosen.golden, case)
            line = json.dumps({"case": case, **found}) if chosen.json else describe(case, found)
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
