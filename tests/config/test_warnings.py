"""What works but is probably not meant (D4, E4)."""

from __future__ import annotations

import pytest

from tests.config.making import GOOD, Loading, destination


def test_a_standing_forced_replacement_warns(load: Loading) -> None:
    """D4."""
    (warning,) = load(destination("transfer: {on_conflict: replace}")).warnings
    assert "distributor.yml:5: destination reports/archive" in warning
    assert "on_conflict: replace" in warning


@pytest.mark.parametrize(
    ("url", "lock", "warns"),
    [
        ("s3://b/p", "{wait: 60s, ttl: 60s}", True),
        ("sftp://h/x", "{wait: 10s}", True),
        ("sftp://h/x", "{wait: 61s, ttl: 60s}", False),
        ("s3://b/p", "{}", False),
        ("/srv/www", "{wait: 10s}", False),
    ],
)
def test_waiting_no_longer_than_a_lease_warns(load: Loading, url: str, lock: str, warns: bool) -> None:
    """E4: a dead holder's lease could not be outlasted; a local lock dies with its holder."""
    assert ["lease" in w for w in load(destination(f"lock: {lock}", url)).warnings] == [True] * warns


TWO = GOOD + "      - {id: second, url: SECOND, state: {mode: MODE}}\n"


@pytest.mark.parametrize(
    ("url", "mode", "warns"),
    [
        ("/srv/www", "single_owner", True),
        ("/srv/www/", "single_owner", True),
        ("/srv/x/../www", "single_owner", True),
        ("file:///srv/www", "single_owner", True),
        ("/srv/www", "shared_root", True),
        ("/srv/other", "single_owner", False),
    ],
)
def test_a_root_that_is_somebody_elses_alone_warns(load: Loading, url: str, mode: str, warns: bool) -> None:
    found = load(TWO.replace("SECOND", url).replace("MODE", mode)).warnings
    assert ["same root as reports/archive" in w for w in found] == [True] * warns


def test_a_root_that_both_share_does_not_warn(load: Loading) -> None:
    text = TWO.replace("SECOND", "/srv/www").replace("MODE", "shared_root")
    text = text.replace("url: /srv/www\n", "url: /srv/www\n        state: {mode: shared_root}\n")
    assert load(text).warnings == ()


def test_only_selected_pipelines_warn(load: Loading) -> None:
    text = destination("transfer: {on_conflict: replace}")
    text += "  - {id: other, destinations: [{id: d, url: /other}]}\n"
    assert load(text, pipelines=("other",)).warnings == ()
