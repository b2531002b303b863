"""What goes on file about this release? The report."""

from kanon.studio.report.page import page

page()
