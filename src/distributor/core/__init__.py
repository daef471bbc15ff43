"""The pure heart: the destination contract as functions over immutable values.

Nothing in this package reads a file, a clock, the environment or a socket, logs,
or starts a thread; ``import-linter`` holds it to that.

Values are ``NamedTuple``: they are immutable, typed and cheap to define. A run
that skips must start fast, and ``dataclasses`` alone would add ten milliseconds
to it (see ``docs/architecture.md``).
"""
