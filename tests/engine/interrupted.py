"""Forks a user of a pretended engine for every moment, signals it then, and tells what is left of the engine.

A program of its own, because a process that forks must not have the threads of a test run.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from harness.base.interrupt import end_on_interrupt
from harness.engine.lease import Lease
from harness.engine.service import Service, socket_in

# It answers a fifth of a second after its start, and needs a moment to end, as dockerd does.
ENGINE = """
import http.server, signal, socketserver, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_): pass
    def address_string(self): return ""
def end(*_):
    time.sleep(0.05)
    sys.exit()
signal.signal(signal.SIGTERM, end)
time.sleep(0.2)
socketserver.UnixStreamServer(sys.argv[1], Answer).serve_forever()
"""
_SIGNALS = (
    (signal.SIGINT,),
    (signal.SIGTERM,),
    (signal.SIGHUP,),
    # what `timeout` does: to the process, then to its group
    (signal.SIGTERM, signal.SIGTERM),
)


def _use(service: Service, begun: int) -> None:
    """What a command does: have an engine for a moment. It says so when it begins."""
    try:
        end_on_interrupt()
        os.write(begun, b".")
        lease = Lease(service)
        time.sleep(0.05)
        lease.release()
    except KeyboardInterrupt:
        sys.exit(130)


def _engines(socket: Path) -> list[str]:
    """Living processes whose command line names the socket."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if os.fsencode(socket) in line.read_bytes().split(b"\0"):
                found.append(line.parent.name)
        except OSError:
            continue
    return found


def main(folder: Path, moments: int) -> None:
    """One line for each moment: the exit code, and the processes that are left."""
    service = Service("pretended", [sys.executable, "-I", "-S", "-c", ENGINE, str(socket_in(folder))], folder)
    for number in range(moments):
        began = time.monotonic()
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _use(service, writing)
            sys.exit()
        # counted from its beginning, however busy the machine is
        os.read(reading, 1)
        os.close(reading)
        os.close(writing)
        # the whole life of an engine takes about 0.45 s here
        time.sleep(0.5 * number / moments)
        for one in _SIGNALS[number % len(_SIGNALS)]:
            os.kill(child, one)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        left = _engines(socket_in(folder))
        took = time.monotonic() - began
        sys.stdout.write(f"{took:.3f} s: exit {code}, left: {' '.join(left) or 'nothing'}\n")
        sys.stdout.flush()
        for pid in left:
            os.kill(int(pid), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
