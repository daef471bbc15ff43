"""Values out of variables, and secrets, appear in no message and no representation."""

from __future__ import annotations

import pytest

from distributor.errors import ConfigError
from tests.config.making import GOOD, Loading, destination

CANARY = "canary-4711"

BROKEN = [
    "concurrency: ${S}",
    "allow_whole_root: ${S}",
    "state: {mode: '${S}'}",
    "lock: {wait: '${S}'}",
    "lock: '${S}'",
    "transfer: {max_delete: '${S}'}",
    "links: {base_url: 'ftp://${S}'}",
    "outputs: [{path: '{${S}}'}]",
    "outputs: [{path: '/${S}'}]",
    "outputs: [{include: ['/${S}']}]",
    "outputs: [{transform: '${S}'}]",
    "outputs: '${S}'",
    "storage: {file_mode: '${S}'}",
    "storage: {'${S}': 1}",
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_fault_does_not_show_what_a_variable_holds(load: Loading, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(destination(text), {"S": CANARY})
    assert CANARY not in f"{caught.value!r} {caught.value} {caught.value.problems}"


@pytest.mark.parametrize("url", ["${S}://x", "sftp://${S}", "sftp://u:${S}@h/x", "s3:///${S}", "sftp://h:${S}/x"])
def test_nor_does_a_fault_of_a_url(load: Loading, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(destination("", f'"{url}"'), {"S": CANARY})
    assert CANARY not in str(caught.value.problems)


@pytest.mark.parametrize("url", [f"sftp://u:{CANARY}@h/x", f"sftp://u:{CANARY}@h"])
def test_a_password_in_a_url_is_not_repeated(load: Loading, url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(destination("", url))
    assert CANARY not in str(caught.value.problems)


@pytest.mark.parametrize("value", ["4711", "[4711]", "{a: 4711}", "true"])
def test_a_literal_secret_of_the_wrong_kind_is_not_repeated(load: Loading, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(destination(f"storage: {{password: {value}}}", "sftp://h/x"))
    assert "4711" not in str(caught.value.problems)


def test_a_loaded_configuration_does_not_show_secrets(load: Loading) -> None:
    text = destination("storage: {password: '${S}', passphrase: literal-4712}", "sftp://h/x")
    text += "hooks: [{webhook: 'https://hooks.example/${S}'}]\nserver: {database: 'postgresql://u:literal-4713@h/d'}\n"
    config = load(text, {"S": CANARY}, server=True)
    shown = f"{config!r} {config}"
    assert [word for word in (CANARY, "literal-4712", "literal-4713") if word in shown] == []


def test_a_secret_is_still_what_it_is(load: Loading) -> None:
    text = destination("storage: {password: '${S}'}", "sftp://h/x")
    password = load(text, {"S": CANARY}).pipelines[0].destinations[0].storage["password"]
    assert f"{password}" == CANARY


def test_the_digest_depends_on_the_values_of_variables_that_are_used(load: Loading) -> None:
    text = destination("concurrency: ${N}")
    assert load(text, {"N": "1"}).digest != load(text, {"N": "2"}).digest


def test_the_digest_does_not_depend_on_the_rest_of_the_environment(load: Loading) -> None:
    assert load(GOOD, {"N": "1"}).digest == load(GOOD, {"M": "2"}).digest


def test_the_digest_depends_on_the_files_bytes(load: Loading) -> None:
    assert load(GOOD).digest != load(GOOD + "# more\n").digest


def test_a_file_outside_reach_is_named_but_not_quoted(load: Loading) -> None:
    with pytest.raises(ConfigError) as caught:
        load(destination("concurrency: '${file:secret}'"))
    assert "needs the file secret" in caught.value.problems[0].message
