"""Makes the tables of the serving planner that ship: constants of engines, and step times of popular deployments."""
