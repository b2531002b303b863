"""What can still be learnt from this table? Changes, the matrix, learning, and prediction."""

from kanon.studio.utility.page import page

page()
