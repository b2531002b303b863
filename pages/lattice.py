"""Which columns, how far? The lattice of levels, the walks of searches, and a node to release."""

from kanon.studio.lattice.page import page

page()
