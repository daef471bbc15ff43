"""Use cases: observe, decide, stop if it was a dry run, execute.

The only layer that sees both the pure heart and I/O.
"""
