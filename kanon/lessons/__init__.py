"""Every algorithm step by step, for a class: what it decided, replayed and explained."""
