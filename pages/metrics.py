"""What does blurring cost? Cost matrices, composed metrics, and the weights of columns."""

from kanon.studio.metrics.page import page

page()
