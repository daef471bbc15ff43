"""Destination state: its model, and one module per schema version that is read or written."""
