"""What can still be found out about someone? Worst classes first, then an attack to try."""

from kanon.studio.privacy.page import page

page()
