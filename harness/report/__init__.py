"""The status page: one HTML file with every planned cell, its verdict and its evidence."""

from harness.report.html import books_for, render, write_report

__all__ = ["books_for", "render", "write_report"]
