"""LaCAM and LaCAM*: a search over configurations, with PIBT to propose the next one."""
