"""Publishes bundles of report files to folders, SFTP servers and object stores."""

__version__ = "0.1.0"
