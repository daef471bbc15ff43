"""A configuration that is read again when its file changes (interfaces section 5: tokens)."""

from __future__ import annotations

import threading
from pathlib import Path

from distributor.config.loading import load_config
from distributor.config.model import Config, Pipeline
from distributor.errors import ConfigError
from distributor.server.logs import logger
from distributor.server.settings import Settings, settings_of

_Stamp = tuple[int, int, int]


class LiveConfig:
    """The configuration as its file has it now.

    A file that became invalid is reported once in the log, and the last good
    configuration goes on being used. Safe to use from several threads.
    """

    def __init__(self, path: str | None) -> None:
        self._config = load_config(path, server=True)
        self._settings = settings_of(self._config)
        self._stamp = self._look()
        self._lock = threading.Lock()

    def current(self) -> Config:
        """Return the configuration, read again if its file changed since the last call."""
        stamp = self._look()
        if stamp is not None and stamp != self._stamp:
            with self._lock:
                self._reload(stamp)
        return self._config

    def settings(self) -> Settings:
        """Return the ``server`` settings of :meth:`current`."""
        self.current()
        return self._settings

    def pipeline(self, pipeline_id: str) -> Pipeline | None:
        """Return the pipeline of that id, if there is one."""
        return next((p for p in self.current().pipelines if p.id == pipeline_id), None)

    def _look(self) -> _Stamp | None:
        try:
            found = Path(self._config.path).stat()
        except OSError:
            return None  # being replaced right now: the next look sees the new one
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def _reload(self, stamp: _Stamp) -> None:
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            config = load_config(self._config.path, server=True)
            settings = settings_of(config)
        except ConfigError as error:
            logger().error("config_invalid", message=str(error), note="the last good configuration stays in use")
            return
        self._config, self._settings = config, settings
        logger().info("config_reloaded", digest=config.digest)
