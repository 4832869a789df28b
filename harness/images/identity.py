"""What an image is called before it exists: trees computed from the repository alone, with no engine."""

from __future__ import annotations

from harness.errors import ImageError
from harness.files import digest_of
from harness.images.cards import Accelerator, environment_chain, language_of
from harness.images.record import recorded_tree
from harness.images.trees import code_of_folders
from harness.layout import Layout

# `localhost/` keeps every engine from ever looking for these names in a registry.
PREFIX = "localhost/permafrost"
_SHOWN = 16


def code_tree(layout: Layout, method: str) -> str:
    """Digest of methods/NAME and methods/_sdk/LANGUAGE as they go into the image."""
    language = language_of(environment_chain(layout, method))
    folder, sdk = layout.methods / method, layout.methods / "_sdk" / language
    for path in (folder, sdk):
        if not path.is_dir():
            raise ImageError(
                f"the code of method '{method}' is missing", where=str(path), todo="restore the folder"
            )
    return code_of_folders(folder, sdk)


def environment_tree(layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
    """The recorded tree of the environment a method runs in."""
    return recorded_tree(layout, method, accelerator)


def image_tree(layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
    """What a job's key contains: environment and code together."""
    return combined(environment_tree(layout, method, accelerator), code_tree(layout, method))


def combined(environment: str, code: str) -> str:
    """The image tree of two trees."""
    return digest_of({"environment": environment, "code": code})


def image_name(layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
    """The name of a method's image; it says what the image holds."""
    return f"{PREFIX}/{method}:{image_tree(layout, method, accelerator)[:_SHOWN]}"


def environment_image_name(name: str, tree: str) -> str:
    """The name of an environment's own image."""
    return f"{PREFIX}/environment-{name.strip('_')}:{tree[:_SHOWN]}"
