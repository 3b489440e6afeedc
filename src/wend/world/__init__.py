"""The only clock: agents, orders and ticks, the referee, and the trace of what happened."""
