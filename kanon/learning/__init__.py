"""A release as numbers for a learner, classifiers, and what they learn from it."""
