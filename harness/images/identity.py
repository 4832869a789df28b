"""The name and the trees of an image, computed from the repository alone, with no engine."""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import ImageError
from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.repeats import repeated
from harness.base.vocabulary import Accelerator
from harness.images.cards import environment_chain, layers_of
from harness.images.record import recorded_tree
from harness.images.sources import PARITY, code_files
from harness.images.trees import code_of_folders
from harness.methods.card import MethodCard, load_method

# `localhost/` keeps every engine from ever looking for these names in a registry.
PREFIX = "localhost/permafrost"
_DIGITS = 16


def code_tree(layout: Layout, method: str) -> str:
    """Digest of a method's code folders as they go into the image."""
    return code_of_folders(*code_folders(layout, method))


def code_folders(layout: Layout, method: str) -> list[Path]:
    """methods/NAME, then what lies beside it in its image: the SDK's folders, and the shared ones it uses."""
    card = load_method(layout, method)
    folders = [layout.methods / method, *sdk_folders(layout, card), *_shared_folders(layout, card)]
    for path in folders:
        if not path.is_dir():
            raise ImageError(
                f"the code of method '{method}' is missing", where=str(path), todo="restore the folder"
            )
    beside = [name for folder in folders[1:] for name in code_files(folder)]
    if twice := sorted(repeated(beside)):
        raise ImageError(
            f"two shared folders of method '{method}' hold a file called {twice[0]}",
            where=", ".join(str(folder) for folder in folders[1:]),
            todo="rename one of them: all lie in one folder inside the image",
        )
    return folders


def sdk_folders(layout: Layout, card: MethodCard) -> list[Path]:
    """The SDK's core in the method's language, then what each of its benchmarks puts on top."""
    of_benchmarks = [layout.benchmarks / name / "sdk" / card.language for name in card.benchmarks]
    return [layout.methods / "_sdk" / card.language, *(folder for folder in of_benchmarks if folder.is_dir())]


def parity_folders(layout: Layout, card: MethodCard) -> list[Path]:
    """The folders that replay the method's golden cases: its own, and those of the shared folders it uses."""
    folders = [layout.methods / card.name, *_shared_folders(layout, card)]
    return [folder / PARITY for folder in folders if (folder / PARITY).is_dir()]


def _shared_folders(layout: Layout, card: MethodCard) -> list[Path]:
    return [layout.methods / "_shared" / name for name in card.uses]


def code_fault(layout: Layout, method: str) -> str:
    """Why a method's folders can't go into an image; empty where they can."""
    try:
        code_folders(layout, method)
        code_files(layout.methods / method)
    except ImageError as error:
        return f"{error.what}: {error.where}; {error.todo}"
    return ""


def is_method(layout: Layout, name: str) -> bool:
    """Whether an image of this name is a method's; else it is that of an environment alone."""
    return (layout.methods / name).is_dir()


def image_tree(layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
    """The tree of environment and code together, as a job's key contains it."""
    return combined(recorded_tree(layout, method, accelerator), code_tree(layout, method))


def combined(environment: str, code: str) -> str:
    """The image tree of two trees."""
    return digest_of({"environment": environment, "code": code})


def image_name(layout: Layout, method: str, accelerator: Accelerator = "cpu") -> str:
    """The name of a method's image; it says what the image holds."""
    return method_image_name(method, image_tree(layout, method, accelerator))


def method_image_name(method: str, tree: str) -> str:
    """The name of the image of a method with this image tree."""
    return f"{PREFIX}/{method}:{tree[:_DIGITS]}"


def environment_image_name(name: str, tree: str) -> str:
    """The name of an environment's own image."""
    return f"{PREFIX}/environment-{name.strip('_')}:{tree[:_DIGITS]}"


def wanted_image(layout: Layout, name: str, accelerator: Accelerator) -> tuple[str, str, str]:
    """Name, environment tree and code tree of the image of a method, or of an environment, which has no code."""
    tree = recorded_tree(layout, name, accelerator)
    if is_method(layout, name):
        code = code_tree(layout, name)
        return method_image_name(name, combined(tree, code)), tree, code
    return environment_image_name(layers_of(environment_chain(layout, name))[-1].name, tree), tree, ""
