"""The line by which a person starts the container of a run: an engine's own client with a flag for every setting.

It is made from the very description that the engine is given for a run, so that the two can't differ unseen: a
setting that no flag is known for is a fault.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.engine.facts import EngineFacts

_USUAL_DOCKER = "/var/run/docker.sock"
# No flag of Docker's client hides paths: it hides its own, which are fewer.
# And it attaches by itself.
_UNSAID = frozenset({"MaskedPaths", "ReadonlyPaths", "AttachStdout", "AttachStderr"})


def command_line(configuration: Mapping[str, Any], facts: EngineFacts, *, system_calls: Path) -> list[str]:
    """The words of a line that starts this container, and removes it when it has ended.

    `system_calls` is a file with the profile of system calls: no client takes its text.
    """
    rest = dict(configuration)
    host, image = rest.pop("HostConfig"), rest.pop("Image")
    program = [*rest.pop("Entrypoint", ()), *rest.pop("Cmd", ())]
    words = [*_client(facts), "run", "--rm", "--pull=never"]
    for name, value in {**host, **rest}.items():
        if name == "SecurityOpt":
            words += [f"--security-opt={_in_a_file(option, system_calls)}" for option in value]
        elif name not in _UNSAID:
            words += _FLAGS[name](value)
    if "Entrypoint" in configuration:
        words.append(f"--entrypoint={program.pop(0)}")
    return [*words, image, *program]


def _client(facts: EngineFacts) -> list[str]:
    if facts.name == "docker":
        return ["docker", *([] if facts.socket == _USUAL_DOCKER else [f"--host=unix://{facts.socket}"])]
    if facts.served:
        # what it stores is the user's own, so no service need run; but it may need the harness's settings here
        return ["env", f"CONTAINERS_CONF={Path(facts.socket).with_name('containers.conf')}", "podman"]
    return ["podman", "--remote", f"--url=unix://{facts.socket}"]


def _in_a_file(option: str, profile: Path) -> str:
    return f"seccomp={profile}" if option.startswith("seccomp=") else option


def _each(flag: str) -> Callable[[Iterable[str]], list[str]]:
    return lambda values: [f"{flag}={value}" for value in values]


def _one(flag: str) -> Callable[[Any], list[str]]:
    return lambda value: [f"{flag}={value}"]


def _switch(flag: str) -> Callable[[bool], list[str]]:
    return lambda value: [f"{flag}={str(value).lower()}"]


def _mount(mount: Mapping[str, Any]) -> str:
    fields = [f"type={mount['Type']}", f"source={mount['Source']}", f"target={mount['Target']}"]
    fields += ["readonly"] if mount["ReadOnly"] else []
    fields += [f"bind-propagation={mount['BindOptions']['Propagation']}"]
    # both clients read this as a line of CSV
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def _gpus(requests: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f'--gpus="device={",".join(request["DeviceIDs"])}"' for request in requests]


_FLAGS: Mapping[str, Callable[[Any], list[str]]] = {
    "NetworkMode": _one("--network"),
    "ReadonlyRootfs": _switch("--read-only"),
    "CapDrop": _each("--cap-drop"),
    "Privileged": _switch("--privileged"),
    "Init": _switch("--init"),
    "IpcMode": _one("--ipc"),
    "CgroupnsMode": _one("--cgroupns"),
    "Runtime": _one("--runtime"),
    "ShmSize": _one("--shm-size"),
    "Tmpfs": lambda places: [f"--tmpfs={place}:{options}" for place, options in places.items()],
    "Memory": _one("--memory"),
    "MemorySwap": _one("--memory-swap"),
    "PidsLimit": _one("--pids-limit"),
    "Ulimits": lambda limits: [f"--ulimit={one['Name']}={one['Soft']}:{one['Hard']}" for one in limits],
    "LogConfig": lambda config: [f"--log-driver={config['Type']}"],
    "RestartPolicy": lambda policy: [f"--restart={policy['Name']}"],
    "Binds": _each("--volume"),
    "Mounts": lambda mounts: [f"--mount={_mount(mount)}" for mount in mounts],
    "NanoCpus": lambda count: [f"--cpus={count / 1e9:g}"],
    "Devices": lambda devices: [f"--device={device['PathOnHost']}" for device in devices],
    "DeviceRequests": _gpus,
    "User": _one("--user"),
    "Hostname": _one("--hostname"),
    "Env": _each("--env"),
    "Healthcheck": lambda _: ["--no-healthcheck"],
    "Labels": lambda labels: [f"--label={name}={value}" for name, value in sorted(labels.items())],
}
