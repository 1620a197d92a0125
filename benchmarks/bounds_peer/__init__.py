"""Our bounds beside those of auto_LiRPA and bound_propagation, which run in an environment of their own."""
