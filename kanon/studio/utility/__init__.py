"""The page Utility: what can still be learnt from the release?"""
