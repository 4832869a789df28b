"""What the control run tries: system calls and files that no container may reach, as x86-64 machine code.

A call counts as let through unless the kernel answers "not permitted" or "no such call"; the arguments are such
that an unfiltered kernel gives any other answer. A hidden file may be missing, refused or empty.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_OPEN, _READ, _EXIT = 2, 0, 60
_NOT_PERMITTED, _NO_SUCH_CALL, _IS_A_FOLDER = -1, -38, -21
_ARGUMENTS = (b"\xbf", b"\xbe", b"\xba")  # mov edi / esi / edx, imm32


@dataclass(frozen=True)
class Forbidden:
    """A forbidden call with its first arguments (the others are 0), or a hidden file."""

    name: str
    number: int = 0
    arguments: tuple[int, ...] = ()
    path: str = ""


def _call(name: str, number: int, *arguments: int) -> Forbidden:
    return Forbidden(f"the system call {name}", number, arguments)


def _file(path: str) -> Forbidden:
    return Forbidden(f"reading {path}", path=path)


FORBIDDEN = (
    _call("unshare", 272),
    _call("setns", 308, 0xFFFFFFFF),
    _call("clone with a name space", 56, 0x10000000 | 17),
    _call("keyctl", 250),
    _call("add_key", 248),
    _call("io_uring_setup", 425),
    _call("socket(AF_VSOCK)", 41, 40, 1),
    _call("socket(AF_NETLINK, NETLINK_KOBJECT_UEVENT)", 41, 16, 3, 15),
    _call("ptrace", 101, 0xFFFF),
    _call("process_vm_readv", 310, 0x7FFFFFFF),
    _call("open_tree", 428, 0xFFFFFFFF),
    _call("name_to_handle_at", 303, 0xFFFFFFFF),
    _call("inotify_init", 253),
    _call("mq_open", 240),
    _call("shmget", 29, 0, 4096, 0o1600),
    _call("modify_ldt", 154),
    _call("memfd_secret", 447),
    _file("/proc/locks"),
    _file("/proc/key-users"),
    _file("/proc/diskstats"),
    _file("/proc/vmstat"),
    _file("/proc/sys/fs/file-nr"),
    _file("/sys/kernel/uevent_seqnum"),
)


def trying_program() -> bytes:
    """Code that exits with the number, from 1, of the first attempt that was let through; otherwise it goes on."""
    return b"".join(
        _try_file(entry.path, number) if entry.path else _try_call(entry, number)
        for number, entry in enumerate(FORBIDDEN, 1)
    )


def _try_call(entry: Forbidden, number: int) -> bytes:
    """Code that makes the call with its first three arguments, and 0 for the others."""
    arguments = (*entry.arguments, 0, 0, 0)[:3]
    code = b"".join(move + struct.pack("<I", value) for move, value in zip(_ARGUMENTS, arguments, strict=True))
    code += bytes.fromhex("4d31d2 4d31c0 4d31c9")  # xor r10, r10; xor r8, r8; xor r9, r9
    code += _system_call(entry.number)
    return code + _exit_unless((_NOT_PERMITTED, _NO_SUCH_CALL), number)


def _try_file(path: str, number: int) -> bytes:
    """Code that opens the file and, if that works, reads one byte onto the stack."""
    text = path.encode() + b"\0"
    # jmp over the text; lea rdi, [rip - ...]: where it lies
    code = b"\xeb" + struct.pack("<B", len(text)) + text
    code += bytes.fromhex("488d3d") + struct.pack("<i", -(len(text) + 7))
    code += bytes.fromhex("31f6 31d2") + _system_call(_OPEN)
    reading = bytes.fromhex("89c7 488d7424f0 ba01000000") + _system_call(_READ)
    reading += _exit_unless((0, _IS_A_FOLDER), number)
    # test eax, eax; js over the reading
    return code + bytes.fromhex("85c0 78") + struct.pack("<B", len(reading)) + reading


def _system_call(number: int) -> bytes:
    return b"\xb8" + struct.pack("<I", number) + b"\x0f\x05"  # mov eax, number; syscall


def _exit_unless(answers: tuple[int, int], number: int) -> bytes:
    """cmp eax, one; je over; cmp eax, other; je over; exit(number)."""
    leave = b"\xbf" + struct.pack("<I", number) + _system_call(_EXIT)
    second = b"\x83\xf8" + struct.pack("<b", answers[1]) + b"\x74" + struct.pack("<B", len(leave))
    first = b"\x83\xf8" + struct.pack("<b", answers[0]) + b"\x74" + struct.pack("<B", len(second) + len(leave))
    return first + second + leave
