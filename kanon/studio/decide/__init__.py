"""The page Decide: is the release fit for its purpose, and which settings are?"""
