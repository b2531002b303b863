"""What can still be found out about someone? Worst classes first, then an attack of one's own."""

from kanon.studio.privacy.page import page

page()
