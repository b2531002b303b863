"""The page Report: what is handed over with the release?"""
