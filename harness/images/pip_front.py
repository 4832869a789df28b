"""One source distribution from the indexes that pip is configured with, without asking the package about itself.

`pip download` prepares a source distribution's metadata, which runs its setup.py or its build backend on this
machine. This program takes pip's own finder and session (indexes, find-links, proxy, certificates) and stops
there: the file that was chosen is copied, byte for byte, and nothing of it is opened.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_CHUNK = 1 << 20


def main(arguments: list[str]) -> str:
    """Copy the file of NAME==VERSION (of this sha256, if given) into a folder; returns its name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("requirement", help="NAME==VERSION")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sha256", default="")
    request = parser.parse_args(arguments)
    name, _, version = request.requirement.partition("==")
    command: Any = import_module("pip._internal.commands").create_command("download")
    with command.main_context():
        switches = ["--no-input", "--no-cache-dir", "--ignore-requires-python", "--no-binary", name]
        options, _ = command.parse_args([*switches, name])
        session = command.get_default_session(options)
        link = _find(command._build_package_finder(options, session), name, version, request.sha256)
        with session.get(
            link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True
        ) as answer:
            answer.raise_for_status()
            if urlsplit(answer.url).scheme not in ("http", "https") and not link.is_file:
                raise ValueError(f"{link.url_without_fragment} leads to {answer.url}")
            target = request.folder / link.filename
            with target.open("wb") as stream:
                for piece in answer.iter_content(_CHUNK):
                    stream.write(piece)
        if link.has_hash:
            link.as_hashes().check_against_path(str(target))
    return str(link.filename)


def _find(finder: Any, name: str, version: str, sha256: str) -> Any:
    """The link that pip would choose; one that an index names with another sha256 is passed over."""
    specifiers = import_module("pip._vendor.packaging.specifiers")
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": [sha256]}) if sha256 else None
    candidate = finder.find_best_candidate(name, specifiers.SpecifierSet(f"=={version}"), hashes).best_candidate
    if candidate is None:
        raise ValueError("no index has a source distribution of this version")
    return candidate.link


if __name__ == "__main__":
    try:
        sys.stdout.write(main(sys.argv[1:]) + "\n")
    except (ImportError, AttributeError) as error:
        sys.exit(f"the parts of this pip have other names: {error}")
    except (import_module("pip._internal.exceptions").PipError, OSError, ValueError) as error:
        sys.exit(str(error))
