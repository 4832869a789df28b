"""Signatures with a person's own SSH key, made and checked by `ssh-keygen`. No key is made, read or kept here."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import EngineError, UsageError
from harness.base.layout import Layout
from harness.base.logs import last_line

NAMESPACE = "permafrost-results"
_PROGRAM = "ssh-keygen"
_FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]+")


@dataclass(frozen=True)
class Signer:
    """Whose key made a signature: its fingerprint, and the name that `allowed_signers` gives it; empty: none."""

    fingerprint: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name or 'somebody'} ({self.fingerprint})"


def allowed_signers(layout: Layout) -> Path:
    """The file of the repository that names the keys that count."""
    return layout.root / "results" / "allowed_signers"


def sign(message: bytes, key: Path) -> bytes:
    """The signature of a message. `key` is a private key, or a public one whose private key an agent holds."""
    if not key.is_file():
        raise UsageError("there is no such key", where=str(key), todo="name your SSH key's file with --key")
    # a passphrase is asked for on the terminal, not here
    done = _run(["-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE], message)
    if done.returncode or not done.stdout:
        reason = last_line(done.stderr.decode(errors="replace"))
        raise UsageError(f"ssh-keygen did not sign: {reason}", where=str(key), todo="try another key")
    return done.stdout


def signer_of(message: bytes, signature: bytes, signers: Path) -> Signer | None:
    """Who signed a message; None where the signature is not of this message."""
    with tempfile.NamedTemporaryFile(suffix=".sig") as file:
        file.write(signature)
        file.flush()
        checked = _run(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", file.name], message)
        fingerprint = _FINGERPRINT.search(checked.stdout.decode(errors="replace"))
        if checked.returncode or fingerprint is None:
            return None
        if not signers.is_file():
            return Signer(fingerprint[0])
        known = _run(["-Y", "find-principals", "-s", file.name, "-f", str(signers)], b"")
        names = known.stdout.decode(errors="replace").splitlines() if known.returncode == 0 else []
        # a principal with `!` is whom the line does not mean; a pattern is shown as the list has it
        for name in (name for name in names if not name.startswith("!")):
            words = ["-Y", "verify", "-f", str(signers), "-I", name, "-n", NAMESPACE, "-s", file.name]
            if _run(words, message).returncode == 0:
                return Signer(fingerprint[0], name)
        return Signer(fingerprint[0])


def _run(words: list[str], message: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run([_PROGRAM, *words], input=message, capture_output=True, check=False)
    except FileNotFoundError:
        raise EngineError(
            f"{_PROGRAM} is not here: nothing can be signed or checked",
            where="the programs of this machine",
            todo="install it (Debian: apt-get install openssh-client)",
        ) from None
