"""The page Lattice: which combinations of levels satisfy?"""
