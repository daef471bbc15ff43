"""Kinds of destination behind one small interface."""
