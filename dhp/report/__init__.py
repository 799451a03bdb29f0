"""Results for people: a table in the terminal, a page for the browser."""

from dhp.report.diff import before_after
from dhp.report.page import html_report
from dhp.report.terminal import print_results

__all__ = ["before_after", "html_report", "print_results"]
