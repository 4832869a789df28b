"""The schemas in docs/schemas/, as the code has them; run as a program it writes them anew."""

from __future__ import annotations

from harness.cli.documents.answers import answers, schema_of
from harness.cli.documents.envelope import json_text
from tests.conftest import REPOSITORY

SCHEMAS = REPOSITORY / "docs" / "schemas"
AGAIN = "run: python -m tests.docs.schemas"


def current() -> dict[str, str]:
    """The text of every schema, by the name of its file."""
    return {words.replace(" ", "-"): json_text(schema_of(words)) + "\n" for words in answers()}


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    texts = current()
    for path in SCHEMAS.glob("*.json"):
        if path.stem not in texts:
            path.unlink()
    for name, text in texts.items():
        (SCHEMAS / f"{name}.json").write_text(text)
