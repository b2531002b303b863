"""What does this k cost? Run an algorithm, then move k and look."""

from kanon.studio.anonymise.page import page

page()
