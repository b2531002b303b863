"""The Utility page: what can still be learnt from the release?"""
