"""What others say of a crate: the validator of its profiles, and a program that reads and prints crates.

Neither may use the network. The validator looks words up in the contexts that a crate names; it gets them from a
cache that is filled here with the words that our crates use, as RO-Crate 1.1 and its extension define them.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.judges import judge

_SCHEMA = """
ComputerLanguage ControlAction CreateAction CreativeWork Dataset HowTo HowToStep Organization OrganizeAction
Person PropertyValue ScholarlyArticle SoftwareApplication SoftwareSourceCode about actionStatus additionalType
agent author citation codeRepository contentSize datePublished description encodingFormat endTime error
exampleOfWork hasPart identifier instrument isBasedOn license mainEntity mentions name object position
programmingLanguage propertyID publisher result softwareRequirements startTime step unitCode url value
variableMeasured version workExample
"""
_RUN = "ContainerImage containerImage registry resourceUsage sha256 tag"
_CONTEXTS = {
    "https://w3id.org/ro/crate/1.1/context": {
        "File": "http://schema.org/MediaObject",
        "conformsTo": "http://purl.org/dc/terms/conformsTo",
        "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
        "FormalParameter": "https://bioschemas.org/FormalParameter",
        "input": "https://bioschemas.org/ComputationalWorkflow#input",
        "output": "https://bioschemas.org/ComputationalWorkflow#output",
        **{word: f"http://schema.org/{word}" for word in _SCHEMA.split()},
    },
    "https://w3id.org/ro/terms/workflow-run/context": {
        word: f"https://w3id.org/ro/terms/workflow-run#{word}" for word in _RUN.split()
    },
}
_FILL = """
import io, json, sys
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

contexts = json.loads(sys.stdin.read())


class Contexts(HTTPAdapter):
    def send(self, request, **choices):
        body = io.BytesIO(json.dumps({"@context": contexts[request.url]}).encode())
        headers = {"Content-Type": "application/ld+json"}
        raw = HTTPResponse(body, headers, 200, preload_content=False, request_url=request.url)
        return self.build_response(request, raw)


session = CachedSession(cache_name=sys.argv[1], expire_after=-1, backend="sqlite", allowable_methods=("GET",))
session.mount("https://", Contexts())
for url in contexts:
    session.get(url, headers={"Accept": "application/ld+json, application/json"})
"""


def issues(crate: Path, profile: str, level: str, folder: Path) -> list[str]:
    """What the validator finds at this level or above; an empty list where a crate passes."""
    tools, cache, report = judge("proof"), folder / "contexts", folder / f"{profile}.json"
    if not cache.with_suffix(".sqlite").is_file():
        fill = [tools / "python", "-c", _FILL, cache]
        subprocess.run(list(map(str, fill)), input=json.dumps(_CONTEXTS), text=True, check=True)
    command = [tools / "rocrate-validator", "--no-interactive", "validate", "--offline", "--no-paging"]
    command += ["--cache-path", cache, "-p", profile, "-l", level, "--output-format", "json", "-o", report, crate]
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=folder, env=environment
    )
    found = json.loads(report.read_text())
    texts = [_text(one) for one in found["issues"]]
    assert found["passed"] == (done.returncode == 0) == (not texts), done.stdout + done.stderr
    return texts


def printed(crate: Path) -> str:
    """The actions of a crate as `runcrate report` prints them."""
    command = [str(judge("proof") / "runcrate"), "report", str(crate)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _text(issue: dict[str, Any]) -> str:
    check = issue["check"]["identifier"]
    return f"{issue['severity']} {check}: {issue['message']} ({issue.get('violatingEntity')})"
