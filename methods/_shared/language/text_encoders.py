"""Language models from files alone: from a weights folder that a person brought, nothing is ever downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# before transformers is imported, which reads them
os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}

import torch
import transformers

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()


def weights_folder() -> Path:
    """Where the files lie that the method's weights.toml names."""
    return Path(os.environ.get("PERMAFROST_IN", "/in")) / "weights"


def pretrained(kind: type[Any], folder: Path, **settings: Any) -> Any:
    """A model or a tokeniser as its files say, in single precision. Layers that they don't hold are drawn."""
    if issubclass(kind, transformers.PreTrainedModel):
        settings["dtype"] = torch.float32
    return kind.from_pretrained(folder, local_files_only=True, **settings)
