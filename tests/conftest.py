"""Fixtures that several folders of tests share."""

pytest_plugins = ("tests.servers.object_fixtures",)
