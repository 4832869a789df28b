"""The status page: one HTML file with every planned cell, its verdict and its evidence."""

from harness.report.html import write_report

__all__ = ["write_report"]
