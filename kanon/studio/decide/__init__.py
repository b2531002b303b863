"""The Decide page: is the release fit for its purpose, and which settings are?"""
