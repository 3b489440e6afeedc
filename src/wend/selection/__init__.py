"""Which algorithm to run: portfolios, features of a problem, learners, and the selector that is made of them."""
