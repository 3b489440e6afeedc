"""`python -m wend` is the `wend` command."""

from wend.cli import main

main()
