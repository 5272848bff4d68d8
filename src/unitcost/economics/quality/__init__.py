"""Quality that is held fixed: paired decisions, metrics, what an error costs, what is ruled out and why."""
