"""What is in this table, and how exposed is it? Load a table and choose the roles of columns."""

from kanon.studio.data.page import page

page()
