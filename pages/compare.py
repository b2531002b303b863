"""Which choice is better here? Metrics and strategies side by side, over every k."""

from kanon.studio.compare.page import page

page()
