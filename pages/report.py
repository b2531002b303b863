"""What does one sign? The report of a release for the file."""

from kanon.studio.frame import head, unready

work = head("What goes on file about this release?")
unready(work)
