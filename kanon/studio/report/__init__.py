"""The Report page: what is handed over with the release?"""
