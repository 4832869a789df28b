"""What Docker's builder keeps beside images: every layer that it ever built."""

from __future__ import annotations

import os

from harness.base.layout import Layout
from harness.engine.custody import served_services
from harness.engine.engine import Engine


def may_empty_build_cache(layout: Layout, engine: Engine) -> bool:
    """Whether it is ours alone: in an engine that is not the harness's own, others may need it."""
    if engine.name != "docker":
        return False
    # one of ours may have been chosen by its address
    return engine.facts.served or engine.socket in {
        one.socket for one in served_services(layout.cache, os.environ)
    }


def empty_build_cache(engine: Engine) -> None:
    """Have the builder forget all that it keeps."""
    # the client's own function asks for what no image needs, and no more
    engine.api.post(f"{engine.api.base_url}/v{engine.api.api_version}/build/prune", params={"all": "1"})
