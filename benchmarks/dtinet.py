"""CPU seconds of DTINet: ours against a plain transcription, in one run in DTINet's own image.

Components of the published drug networks: plainly, walks are iterated, and the largest singular values are taken
of all that they give, by `svds` or by `svd`. The completion of a fold of the published bindings: plainly, the loss
is summed over all cells and products pass through all drugs and targets; the solver of trust regions is the same.
It also says how far both are apart: the completion, stopped before it settles, amplifies rounding.

Usage: python -m benchmarks.dtinet [--golden DIR] [--mirror DIR]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.in_image import HERE, measured, shared_folder
from harness.base.layout import Layout, find_layout
from harness.engine import Engine, find_engine
from harness.images import ensure_image
from harness.methods.card import load_method

CODE = """
  addpath ("/benchmarks");
  read = @(name) read_npy (["/in/" name ".npy"]);
  networks = {};
  for number = 1:read ("networks")
    networks{number} = read (sprintf ("A%d", number));
  endfor
  sizes = num2cell (read ("sizes"));
  [dim, maxiter, k, t] = sizes{:};
  [X, Y] = deal (read ("X"), read ("Y"));
  pairs = read ("pairs") + 1;
  A = sparse (pairs(:,1), pairs(:,2), 1, rows (X), rows (Y));
  eye (9) * eye (9); drand48 (9);
  started = cputime (); x = DCA (networks, dim, 0.5, maxiter); ours.components = cputime () - started;
  for decomposition = {@svds, @svd}
    name = func2str (decomposition{1});
    started = cputime ();
    p = dtinet_plain ("components", networks, dim, 0.5, maxiter, decomposition{1});
    plain.(name) = cputime () - started;
    p .*= sign (sum (p .* x));
    apart.(name) = max (abs (x - p)(:));
  endfor
  started = cputime (); [W, H] = IMC (A, X, Y, k, 1, t, 10); ours.completion = cputime () - started;
  Z = X * W' * H * Y';
  started = cputime (); [W, H] = dtinet_plain ("completion", A, X, Y, k, 1, t);
  plain.completion = cputime () - started;
  apart.completion = max (abs (X * W' * H * Y' - Z)(:));
  disp (jsonencode (struct ("ours", ours, "plain", plain, "apart", apart)));
"""


def measure(engine: Engine, layout: Layout, arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """CPU seconds of both, and how far apart components and scores are."""
    options = ("--no-init-file", "--no-site-file", "--no-window-system", "--no-history", "--quiet")
    command = ("octave-cli", *options, "--eval", CODE)
    image = ensure_image(engine, layout, "dtinet").image_id
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return measured(engine, image, command, arrays, mounts={HERE: "/benchmarks"}, environment=threads)


def published(golden: Path, mirror: Path, layout: Layout) -> dict[str, npt.NDArray[Any]]:
    """Networks of drugs, features of both kinds, and the bindings of a fold."""
    tables = [table for table in load_method(layout, "dtinet").parity if table.mirrored]
    files = {name: mirror / file for table in tables for name, file in table.mirrored.items()}
    drugs = np.load(golden / "dtinet_real_drug_dca.npz")
    fold = np.load(golden / "dtinet_real_imc_1.npz")
    networks = [drugs["sim_ddi"], *(np.load(path) for path in files.values() if path.suffix == ".npy")]
    bound = fold["Ytrain"] != 0
    sizes = (drugs["dim"], drugs["maxiter"], fold["k"], fold["t"])
    return {
        **{f"A{number}": np.asarray(one, dtype=np.float64) for number, one in enumerate(networks, 1)},
        "networks": np.array([float(len(networks))]),
        "sizes": np.array([float(size) for size in sizes]),
        "X": np.loadtxt(files["drug_features"]),
        "Y": fold["prot_vector_dca_ppi_d100"],
        "pairs": np.column_stack([fold["I"], fold["J"]])[bound].astype(np.float64),
    }


def main() -> None:
    """Measure on the published data."""
    layout = find_layout(Path(__file__).resolve().parent)
    shared = shared_folder(layout)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, default=shared / "golden" / "dti")
    parser.add_argument("--mirror", type=Path, default=shared / "mirror")
    chosen = parser.parse_args()
    with find_engine(layout) as engine:
        found = measure(engine, layout, published(chosen.golden, chosen.mirror, layout))
    for step, twin in (("components", "svds"), ("components", "svd"), ("completion", "completion")):
        ours, plain, apart = found["ours"][step], found["plain"][twin], found["apart"][twin]
        sys.stdout.write(
            f"{step:12} ours {ours:.2f}  plain {plain:.2f} ({plain / ours:.1f} times, {twin})  apart {apart:.1e}\n"
        )


if __name__ == "__main__":
    main()
