"""The papers' tables and figures, run again: specs, runner, store, report."""
