"""How may each value be blurred? Draw a hierarchy, edit it as a table, build it, load it."""

from kanon.studio.hierarchies.page import page

page()
