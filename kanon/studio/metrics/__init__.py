"""The page Metrics: what does it cost to blur a value?"""
