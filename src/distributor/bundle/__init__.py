"""Reading, checking and making source bundles."""
