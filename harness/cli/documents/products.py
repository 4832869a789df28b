"""What commands wrote, as answers."""

from __future__ import annotations

from harness.cli.documents.forms import Answer


class ExportAnswer(Answer):
    """`harness export`: what was written, the number of its runs, and the reason for each that was left out.

    `outgrown`: verdicts of runs of other code, data or splits than today's, which `--suite stored` leaves out.
    """

    file: str
    runs: int = 0
    left_out: dict[str, str] = {}
    outgrown: dict[str, str] = {}


class ReportAnswer(Answer):
    """`harness report`: the page, or the index of the site, and the bytes of all that was written."""

    file: str
    bytes: int
    site: bool


class NewMethod(Answer):
    """`harness new method`."""

    method: str
    files: list[str]


class KernelAnswer(Answer):
    """`harness notebook`: printed when the kernel listens, so that a program can connect to it."""

    key: str
    label: str
    connection_file: str


class RegisteredKernel(Answer):
    """`harness notebook --register`."""

    registered: str


ANSWERS: dict[str, tuple[type[Answer], ...]] = {
    "new method": (NewMethod,),
    "notebook": (KernelAnswer, RegisteredKernel),
}
