"""The upload server and its workers (interfaces section 5).

``serve`` takes bundles in over HTTP; what it accepted is one row in the database and
one archive in the spool, both durable before it answers. Workers publish what is
queued through the same use case as ``distributor run``.
"""
