"""Exit codes as a function of a report (interfaces §3, G4-G6a)."""

from __future__ import annotations

from collections.abc import Mapping

OK, FAILED, USAGE, INVALID_BUNDLE, CONFLICT, LOCKED, CHANGES = 0, 1, 2, 3, 4, 5, 10

_PRECEDENCE = (FAILED, INVALID_BUNDLE, LOCKED, CONFLICT)
_BY_STATUS = {
    "failed": FAILED,
    "conflict": CONFLICT,
    "drift": CONFLICT,
    "unmanaged": CONFLICT,
    "locked": LOCKED,
}


def exit_code(document: Mapping[str, object]) -> int:
    """Return the exit code that a report stands for; where several apply: 1, 3, 5, 4."""
    error = document.get("error")
    if isinstance(error, Mapping):
        return USAGE if error.get("kind") in ("config", "usage") else FAILED
    results = document.get("results")
    is_bundle = str(document.get("command")).startswith("bundle ")
    codes = {_code_of(result, is_bundle) for result in (results if isinstance(results, list) else [document])}
    return next((code for code in _PRECEDENCE if code in codes), OK)


def _code_of(result: Mapping[str, object], is_bundle: bool) -> int:
    status = str(result.get("status"))
    if status == "invalid":
        return INVALID_BUNDLE if is_bundle else CONFLICT
    if status == "failed" and result.get("reason") == "invalid_bundle":
        return INVALID_BUNDLE
    return _BY_STATUS.get(status, OK)


def detailed(code: int, document: Mapping[str, object]) -> int:
    """Apply ``--detailed-exitcode``: a 0 becomes 10 if the plan has changes to make (G4)."""
    results = document.get("results")
    planned = isinstance(results, list) and any(result.get("status") == "planned" for result in results)
    return CHANGES if code == OK and planned else code


def of_signal(number: int) -> int:
    """Return the exit code of a process that a signal ended: 130 or 143."""
    return 128 + number
