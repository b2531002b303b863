"""Which settings for this purpose? The purpose of a release, and its verdict."""

from kanon.studio.decide.page import page

page()
