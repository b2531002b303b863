"""What is in this table, and how exposed is it? Load a table, say what its columns are."""

from kanon.studio.data.page import page

page()
