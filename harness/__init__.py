"""Permafrost's harness: plans, runs, scores and audits published predictors in frozen containers."""

import os

__version__ = "0.1.0"

# pydantic would run what any distribution on the path names as its plugin, before an audit can look at it
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
