"""The configuration file: its keys, its loading, its JSON Schema."""
