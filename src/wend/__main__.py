"""`python -m wend` is the `wend` command."""

from wend.cli.app import main

main()
