"""Real servers for the tests, started on free loopback ports."""
