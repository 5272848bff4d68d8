"""The serving planner: how replicas answer requests over time, and what that costs."""
