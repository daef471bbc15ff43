"""One module per kind of storage; the file name is the kind."""
