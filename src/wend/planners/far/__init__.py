"""FAR and A*-Replan: `far.py` reads like the paper, its kernels are beside it."""
