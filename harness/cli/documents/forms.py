"""What answers as JSON are made of: fields by name, in an envelope, or an error in place of them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Metrics = dict[str, float | None]
Counts = dict[str, int]


class Fields(BaseModel):
    """Fields by name. One that is not named here is a fault of this file."""

    model_config = ConfigDict(extra="forbid", strict=True)


class OpenFields(BaseModel):
    """Fields by name, and others that its description tells where to find."""

    model_config = ConfigDict(extra="allow", strict=True)


class Answer(Fields):
    """The envelope of all answers."""

    permafrost: Literal[1]
    command: str


class Failure(Fields):
    """What went wrong: what, where, and what to do; `exit_code` is the command's."""

    kind: str
    what: str
    where: str
    todo: str
    exit_code: int


class ErrorAnswer(Answer):
    """What is printed in place of an answer where a command fails."""

    error: Failure
