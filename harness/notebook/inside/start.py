"""Runs inside a method's container: loads the job as the method would get it, then serves a Jupyter kernel.

Started as `python3 start.py LANGUAGE` with a connection file beside it. The method's main file is read as for a
run, but $PERMAFROST_NOTEBOOK tells the SDK to fit nothing: it leaves the first problem as `problem` beside
`fit_predict`.
"""

from __future__ import annotations

import importlib
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

_HERE = Path(__file__).parent
_MAIN = {"octave": "/opt/method/main.m", "python": "/opt/method/main.py", "r": "/opt/method/main.R"}
# Debian's packages of Python; behind the method's own, which must not see other versions than in a run
_PACKAGES = "/usr/lib/python3/dist-packages"


def main() -> None:
    """Serve until a client, or the end of the harness, ends it."""
    (language,) = sys.argv[1:]
    # a kernel writes its connection file anew
    connection = shutil.copy(_HERE / "connection.json", tempfile.gettempdir())
    # whoever runs the harness must reach the sockets, whatever number the engine gave this user
    os.umask(0)
    threading.Thread(target=_end_with_harness, daemon=True).start()
    os.environ["PERMAFROST_NOTEBOOK"] = _MAIN[language]
    sys.path[0] = str(Path(_MAIN[language]).parent)
    sys.path += [] if _PACKAGES in sys.path else [_PACKAGES]
    sys.argv[1:] = ["-f", connection, "--log-level=ERROR"]
    {"octave": _octave, "python": _python, "r": _r}[language]()


def _end_with_harness() -> None:
    """End this process when the harness ends: it holds the other end of standard input and never writes."""
    while os.read(0, 1):
        pass
    os._exit(0)


def _octave() -> None:
    """The kernel reads from an Octave that has run the method's main file."""
    options, main = ["--no-site-file", "--no-window-system", "--no-history"], _MAIN["octave"]
    # once before: octave-kernel would pass over a fault in there
    subprocess.run(["octave-cli", "--no-init-file", "--quiet", *options, main], check=True)
    os.environ["OCTAVE_CLI_OPTIONS"] = " ".join([*options, "--persist", main])
    runpy.run_module("octave_kernel", run_name="__main__")


def _python() -> None:
    """Cells run in the module of the method's main file: what they define anew is what `fit_predict` uses."""
    method = importlib.import_module("main")
    _serve(user_module=method, user_ns=vars(method))


def _r() -> None:
    """IPython with R inside: %R and %%R speak to the R that has the job."""
    importlib.import_module("rpy2.robjects").r["source"](_MAIN["r"])
    # imported quietly before the first cell: it asks for packages that are not here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("rpy2.ipython.rmagic")
    _let_interrupts_reach_r()
    _serve(extra_extensions=["rpy2.ipython"])


def _let_interrupts_reach_r() -> None:
    """Pass interrupts to R: Python, which waits for R, would notice them only at its end, or lose them."""
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    threading.Thread(target=_pass_interrupts_on, args=(waking,), daemon=True).start()


def _pass_interrupts_on(waking: int) -> None:
    embedded = importlib.import_module("rpy2.rinterface_lib.openrlib")
    while byte := os.read(waking, 1):
        if byte[0] != signal.SIGINT:
            continue
        # rpy2 holds this lock while R computes; otherwise the interrupt is for Python alone
        if embedded.rlock.acquire(blocking=False):
            embedded.rlock.release()
        else:
            embedded.rlib.R_interrupts_pending = 1


def _serve(user_module: ModuleType | None = None, user_ns: dict[str, Any] | None = None, **settings: Any) -> None:
    application = importlib.import_module("ipykernel.kernelapp").IPKernelApp
    application.launch_instance(user_module=user_module, user_ns=user_ns, **settings)


main()
