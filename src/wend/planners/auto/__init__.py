"""Auto: chooses a planner for the map, the agents and the budget, and another one when it was wrong."""
