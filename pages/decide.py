"""Which settings for this purpose? What the release is for, and whether it has what that asks."""

from kanon.studio.decide.page import page

page()
