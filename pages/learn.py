"""How does it work? Every algorithm step by step, attacks played out, exercises."""

from kanon.studio.learn.page import page

page()
