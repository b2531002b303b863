"""The Metrics page: what does it cost to blur a value?"""
