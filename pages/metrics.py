"""What does blurring cost? Cost matrices, metrics of one's own, and how much a column counts."""

from kanon.studio.metrics.page import page

page()
