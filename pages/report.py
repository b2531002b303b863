"""What does one sign? The report of a release for the file."""

from kanon.studio.report.page import page

page()
