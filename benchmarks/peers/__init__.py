"""Our searches beside those of TextAttack, which runs in an environment of its own."""
