"""A signature counts for one text, one purpose and one key."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import CorruptData, EngineError, UsageError
from harness.proof import keys, signature
from harness.proof.envelope import Envelope, pre_authentication
from harness.proof.keys import NAMESPACE, sign, signer_of
from harness.proof.signature import envelope_path, is_signed, sig_path, signer_of_file, write_signed
from tests.proof.conftest import make_key

TEXT = b'{"a": 1}\n'


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "key")


@pytest.fixture
def signers(tmp_path: Path, key: Path) -> Path:
    path = tmp_path / "signers"
    path.write_text(f'me namespaces="{NAMESPACE}" {key.with_suffix(".pub").read_text()}')
    return path


@pytest.fixture
def path(tmp_path: Path, key: Path, signers: Path) -> Path:
    path = tmp_path / "statement.json"
    signer = write_signed(path, TEXT, key, signers)
    assert signer is not None and signer.name == "me" and signer_of_file(path, signers) == signer
    return path


def refused(path: Path, signers: Path) -> str:
    with pytest.raises(CorruptData) as error:
        signer_of_file(path, signers)
    assert error.value.where and error.value.todo
    return error.value.what


def test_another_text_is_not_signed(path: Path, signers: Path) -> None:
    path.write_bytes(TEXT.replace(b"1", b"2"))
    assert refused(path, signers) == "the envelope holds another text than the file"


def test_an_envelope_of_another_text_is_not_signed(path: Path, signers: Path) -> None:
    other = TEXT.replace(b"1", b"2")
    path.write_bytes(other)
    envelope = json.loads(envelope_path(path).read_bytes())
    envelope["payload"] = json.loads(json.dumps(Envelope(other, b"", "").to_json()))["payload"]
    envelope_path(path).write_text(json.dumps(envelope))
    assert refused(path, signers) == "the signature is not of this file: one of them was changed"


def test_an_envelope_that_another_signed_is_not_ours(path: Path, signers: Path, tmp_path: Path) -> None:
    fingerprint = signer_of_file(path, signers).fingerprint
    other = sign(pre_authentication(TEXT), make_key(tmp_path / "other"))
    envelope_path(path).write_text(json.dumps(Envelope(TEXT, other, fingerprint).to_json()))
    assert "or by another key" in refused(path, signers)


def test_an_envelope_that_names_another_key_is_not_ours(path: Path, signers: Path, key: Path) -> None:
    sealed = Envelope(TEXT, sign(pre_authentication(TEXT), key), "SHA256:another")
    envelope_path(path).write_text(json.dumps(sealed.to_json()))
    assert "or by another key" in refused(path, signers)


def test_an_envelope_signed_without_its_type_is_not_signed(path: Path, signers: Path, key: Path) -> None:
    fingerprint = signer_of_file(path, signers).fingerprint
    envelope_path(path).write_text(json.dumps(Envelope(TEXT, sign(TEXT, key), fingerprint).to_json()))
    assert "the envelope's signature is not of this file" in refused(path, signers)


@pytest.mark.parametrize("field", ["payloadType", "payload", "signatures"])
def test_what_is_no_envelope_is_named(path: Path, signers: Path, field: str) -> None:
    envelope = json.loads(envelope_path(path).read_bytes())
    envelope[field] = "another"
    envelope_path(path).write_text(json.dumps(envelope))
    assert refused(path, signers) == "no envelope of a signed statement"


def test_a_signature_for_another_purpose_does_not_count(path: Path, signers: Path, key: Path) -> None:
    """People sign commits with the same key: such a signature is none of results."""
    words = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", "git"]
    sig_path(path).write_bytes(subprocess.run(words, input=TEXT, capture_output=True, check=True).stdout)
    assert "the signature is not of this file" in refused(path, signers)


def test_a_key_that_is_allowed_for_another_purpose_has_no_name(path: Path, signers: Path) -> None:
    signers.write_text(signers.read_text().replace(NAMESPACE, "git"))
    signer = signer_of_file(path, signers)
    assert signer.name == "" and signer.fingerprint.startswith("SHA256:")


def test_without_a_list_nobody_has_a_name(path: Path, signers: Path) -> None:
    signers.unlink()
    assert signer_of_file(path, signers).name == ""


def test_what_is_written_without_a_key_keeps_no_old_signature(path: Path, signers: Path) -> None:
    assert write_signed(path, b"{}\n", None, signers) is None
    assert not is_signed(path) and path.read_bytes() == b"{}\n"


def test_a_key_that_does_not_sign_changes_nothing(path: Path, signers: Path, tmp_path: Path) -> None:
    for words in (tmp_path / "none", signers):
        with pytest.raises(UsageError) as error:
            write_signed(path, b"{}\n", words, signers)
        assert error.value.todo and str(words) in error.value.where
    assert path.read_bytes() == TEXT and signer_of_file(path, signers).name == "me"


def test_a_signature_that_does_not_hold_is_not_written(
    path: Path, signers: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signature, "signer_of", lambda *_: None)
    with pytest.raises(CorruptData, match="a signature that was just made is not valid"):
        write_signed(path, b"{}\n", key, signers)
    monkeypatch.undo()
    assert path.read_bytes() == TEXT and signer_of_file(path, signers).name == "me"


def test_a_public_key_signs_nothing_without_an_agent(
    path: Path, signers: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    alone = make_key(key.with_name("alone"))
    alone.unlink()
    with pytest.raises(UsageError, match="ssh-keygen did not sign"):
        sign(TEXT, alone.with_suffix(".pub"))


def test_a_machine_without_ssh_keygen_is_told_so(
    path: Path, signers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_PROGRAM", "no-such-program")
    with pytest.raises(EngineError, match="no-such-program is not here"):
        signer_of(TEXT, sig_path(path).read_bytes(), signers)
