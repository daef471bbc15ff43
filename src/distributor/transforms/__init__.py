"""Transforms: one module each; the file name is the name in the configuration."""
