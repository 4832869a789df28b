"""Measuring inside a frozen image: arrays go in, a program prints one JSON object, nothing is left behind."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.layout import Layout
from harness.engine import Engine
from harness.images.identity import code_folders

HERE = Path(__file__).resolve().parent


def shared_folder(layout: Layout) -> Path:
    """Where golden cases and original data lie, as tests look for them."""
    return Path(os.environ.get("PERMAFROST_SHARED") or layout.root.parent / "shared")


def code_of(layout: Layout, *methods: str) -> tuple[dict[Path, str], str]:
    """The code of these methods as their images hold it: where it is mounted, and Python's search path."""
    folders = dict.fromkeys(folder for method in methods for folder in code_folders(layout, method))
    mounts = {folder: f"/code/{number}" for number, folder in enumerate(folders)}
    return mounts, ":".join(mounts.values())


def measured(
    engine: Engine,
    image_id: str,
    command: Sequence[str],
    arrays: Mapping[str, npt.NDArray[Any]],
    *,
    mounts: Mapping[Path, str],
    environment: Mapping[str, str] | None = None,
    job: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the program says, given `arrays` as /in/NAME.npy, `job` as /in/job.json, and `mounts` to read.

    Its failure ends the benchmark.
    """
    environment, read = dict(environment or {}), {str(path): place for path, place in mounts.items()}
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        folder.chmod(0o755)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", np.asarray(array, order="C"))
        if job is not None:
            (folder / "job.json").write_text(json.dumps(job))
        container = engine.client.containers.create(
            image_id,
            entrypoint=command[0],
            command=list(command[1:]),
            environment=environment,
            volumes={path: {"bind": place, "mode": "ro"} for path, place in {work: "/in", **read}.items()},
            network_mode="none",
        )
        try:
            container.start()
            failed = container.wait(timeout=3600)["StatusCode"]
            printed = bytes(container.logs(stdout=True, stderr=bool(failed))).decode()
        finally:
            container.remove(force=True)
    if failed:
        raise SystemExit(printed)
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found
