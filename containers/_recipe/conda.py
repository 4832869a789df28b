"""Links locked conda packages into a prefix (LOCK FOLDER PREFIX) and refuses one whose sha256 is another."""

import asyncio
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

import rattler
from rattler.package_streaming import extract


def main(lock: Path, folder: Path, prefix: Path) -> None:
    """Install every package of the lock and leave nothing that tells when or where that was."""
    work = Path(tempfile.mkdtemp())
    records = [
        record_of(package, folder / package["url"].rsplit("/", 1)[1], work)
        for package in json.loads(lock.read_text())["package"]
    ]
    asyncio.run(rattler.install(records, target_prefix=prefix, cache_dir=work / "cache", show_progress=False))
    for path in (prefix / "conda-meta").glob("*.json"):
        facts = json.loads(path.read_text())
        for name in ("extracted_package_dir", "package_tarball_full_path", "link", "timestamp", "url", "channel"):
            facts.pop(name, None)
        path.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    (prefix / "conda-meta" / "history").unlink(missing_ok=True)


def record_of(package: dict, path: Path, work: Path) -> rattler.RepoDataRecord:
    """The record that the installer wants, from the package itself."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != package["hash"]["sha256"]:
        sys.exit(f"{path.name} is not the package that was locked")
    inside = work / path.name
    extract(path, inside)
    facts = rattler.PackageRecord.from_index_json(
        inside / "info" / "index.json",
        size=path.stat().st_size,
        sha256=package["hash"]["sha256"],
        md5=package["hash"].get("md5"),
    )
    return rattler.RepoDataRecord(facts, path.name, path.as_uri(), path.parent.as_uri())


main(*map(Path, sys.argv[1:4]))
sys.stdout.flush()
# The installer's threads can crash the interpreter while it ends.
os._exit(0)
