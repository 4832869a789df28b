"""What counts as a failure of the engine, and how it is put into words."""

from __future__ import annotations

from functools import cache


@cache
def engine_faults() -> tuple[type[Exception], ...]:
    """Exceptions by which a client learns that the engine failed; imported late because they are slow to load."""
    import docker.errors
    import requests
    import urllib3.exceptions

    return (
        docker.errors.DockerException,
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        OSError,
    )


def explain(error: Exception) -> str:
    """The engine's own words where it gave some."""
    words = getattr(error, "explanation", None)
    if isinstance(words, bytes):
        words = words.decode(errors="replace")
    return str(words or str(error) or type(error).__name__).strip()


def status_of(error: Exception) -> int | None:
    """The status of an answer that was an error."""
    response = getattr(error, "response", None)
    return None if response is None else int(response.status_code)


def is_program_fault(words: str) -> bool:
    """Whether a container did not start because of what is in the image, not because of the engine."""
    lower = words.lower()
    return "exec" in lower and any(
        sign in lower
        for sign in (
            "not found in $path",
            "no such file or directory",
            "exec format error",
            "permission denied: unknown",
        )
    )
