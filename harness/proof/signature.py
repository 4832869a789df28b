"""Signed files: beside FILE lie FILE.sig, which `ssh-keygen -Y verify` reads, and its envelope, FILE.dsse.json."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import CorruptData
from harness.base.files import write_atomic, write_json
from harness.proof.envelope import Envelope, parse_envelope, pre_authentication
from harness.proof.keys import Signer, sign, signer_of


def sig_path(path: Path) -> Path:
    """Where the signature of a file lies."""
    return path.with_name(f"{path.name}.sig")


def envelope_path(path: Path) -> Path:
    """Where the envelope of a file lies."""
    return path.with_name(f"{path.stem}.dsse.json")


def write_signed(path: Path, text: bytes, key: Path | None, signers: Path) -> Signer | None:
    """Write a file, and its signature and envelope if there is a key; without one, older signatures go.

    Wherever a full disk or a power cut ends it, an envelope that lies there holds the new text or the last one.
    """
    if key is None:
        write_atomic(path, text)
        # the envelope last: alone it still tells what was signed, which the signature does not
        for other in (sig_path(path), envelope_path(path)):
            other.unlink(missing_ok=True)
        return None
    # both are made before anything is written: a person may give up at the passphrase
    signature, sealed = sign(text, key), sign(pre_authentication(text), key)
    signer = signer_of(text, signature, signers)
    if signer is None:
        raise CorruptData("a signature that was just made is not valid", where=str(key), todo="try another key")
    # the envelope first: it holds the text and a signature in one file
    write_json(envelope_path(path), Envelope(text, sealed, signer.fingerprint).to_json())
    write_atomic(path, text)
    write_atomic(sig_path(path), signature)
    return signer


def is_signed(path: Path) -> bool:
    """Whether any signature lies beside a file."""
    return sig_path(path).is_file() or envelope_path(path).is_file()


def signed_text(path: Path, signers: Path) -> bytes | None:
    """The text that the envelope of a file holds, whatever the file does; None where it is not what it signs."""
    try:
        envelope = parse_envelope(envelope_path(path).read_bytes(), str(envelope_path(path)))
    except (FileNotFoundError, CorruptData):
        return None
    signer = signer_of(envelope.message, envelope.signature, signers)
    return envelope.payload if signer is not None and signer.fingerprint == envelope.key else None


def signer_of_file(path: Path, signers: Path) -> Signer:
    """Who signed a file; `CorruptData` where its signature or its envelope is missing or not of this file."""
    text = path.read_bytes()
    try:
        signature, sealed = sig_path(path).read_bytes(), envelope_path(path).read_bytes()
    except FileNotFoundError as error:
        raise _wrong("a signature or an envelope is missing", Path(str(error.filename))) from None
    envelope = parse_envelope(sealed, str(envelope_path(path)))
    if envelope.payload != text:
        raise _wrong("the envelope holds another text than the file", envelope_path(path))
    signer = signer_of(text, signature, signers)
    if signer is None:
        raise _wrong("the signature is not of this file: one of them was changed", sig_path(path))
    if signer_of(envelope.message, envelope.signature, signers) != signer or envelope.key != signer.fingerprint:
        raise _wrong("the envelope's signature is not of this file, or by another key", envelope_path(path))
    return signer


def _wrong(what: str, where: Path) -> CorruptData:
    return CorruptData(what, where=str(where), todo="restore the files, or make and sign the statement again")
