"""`python -m harness` is the same as `harness`."""

from harness.cli import main

main()
