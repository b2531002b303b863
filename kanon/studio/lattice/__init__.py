"""The Lattice page: which combinations of levels satisfy?"""
