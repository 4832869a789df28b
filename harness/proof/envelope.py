"""The envelope of a signed statement (DSSE, version 1), which other tools read: payload, its type, signatures."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from harness.base.errors import CorruptData

PAYLOAD_TYPE = "application/vnd.in-toto+json"


@dataclass(frozen=True)
class Envelope:
    """A payload with one signature."""

    payload: bytes
    signature: bytes
    key: str

    @property
    def message(self) -> bytes:
        """What the signature is of."""
        return pre_authentication(self.payload)

    def to_json(self) -> dict[str, Any]:
        """As it is written."""
        signature = {"keyid": self.key, "sig": base64.b64encode(self.signature).decode()}
        payload = base64.b64encode(self.payload).decode()
        return {"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": [signature]}


def pre_authentication(payload: bytes) -> bytes:
    """The bytes that are signed (PAE): the payload, its type and both lengths; they mean one thing only."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)


def parse_envelope(text: bytes, where: str) -> Envelope:
    """An envelope of ours; `CorruptData` for anything else."""
    try:
        content = json.loads(text)
        (signature,) = content["signatures"]
        payload, sig = (base64.b64decode(one, validate=True) for one in (content["payload"], signature["sig"]))
        envelope = Envelope(payload, sig, str(signature["keyid"]))
        # the signature is of the payload alone: nothing else may stand beside it
        if envelope.to_json() != content:
            raise ValueError
        return envelope
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CorruptData("no envelope of a signed statement", where=where, todo="sign again") from None
