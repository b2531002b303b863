"""What can still be learnt from this table? What changed, as a matrix, learning, what predicts."""

from kanon.studio.utility.page import page

page()
