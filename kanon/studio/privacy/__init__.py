"""The page Privacy: what does the release still tell?"""
