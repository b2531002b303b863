"""The Privacy page: what does the release still tell?"""
