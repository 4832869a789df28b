"""What Docker's builder keeps beside images: every layer that it ever built."""

from __future__ import annotations

from harness.engine.engine import Engine


def may_empty_build_cache(engine: Engine) -> bool:
    """Whether it is ours alone: in an engine that is not the harness's own, others may need it."""
    return engine.name == "docker" and engine.facts.served


def empty_build_cache(engine: Engine) -> None:
    """Have the builder forget all that it keeps."""
    # the client's own function asks for what no image needs, and no more
    engine.api.post(f"{engine.api.base_url}/v{engine.api.api_version}/build/prune", params={"all": "1"})
