"""Why a publication did not happen, and what to do: for the dashboard, next to the report's own sentence."""

from __future__ import annotations

from typing import NamedTuple

from distributor.core.policy import Reason


class Advice(NamedTuple):
    """A headline, why the program stopped, and the ways on, the safest first."""

    title: str
    why: str
    ways: tuple[str, ...]


_ADVICE = {
    Reason.DIGEST_CONFLICT: Advice(
        "Two editions with one creation time",
        "The destination holds this edition's id and created time, but other content. Which of the two is right "
        "can't be told from here.",
        (
            "Send the right content again as a new edition, with a later created time.",
            "If this bundle is the right one, publish it once by hand with --force.",
        ),
    ),
    Reason.SOURCE_MISMATCH: Advice(
        "Another report lives here",
        "The destination was published from a bundle with another id. Replacing it by mistake would lose a report.",
        (
            "Check that the bundle went to the right pipeline.",
            "If the report was renamed on purpose, publish once with --takeover source.",
        ),
    ),
    Reason.IDENTITY_MISMATCH: Advice(
        "The root belongs to another pipeline or destination",
        "Its state names an owner that is not this one.",
        (
            "Check the destination's url: two destinations may point at one root.",
            "If ownership moves on purpose, publish once with --takeover owner.",
        ),
    ),
    Reason.OUTPUT_OWNER_MISMATCH: Advice(
        "Paths of another owner",
        "In this shared root, some planned paths are managed by somebody else.",
        (
            "Give this pipeline's outputs paths of their own (outputs: path).",
            "If those paths move to this owner on purpose, publish once with --takeover owner.",
        ),
    ),
    Reason.UNMANAGED_CONTENT: Advice(
        "Files that nobody manages",
        "The root holds files that no publication recorded. They are never overwritten or deleted unasked.",
        (
            "Move them away, or choose an empty root.",
            "If they are this very report, take them over with `distributor adopt`.",
            "If they may go, publish once with --force.",
        ),
    ),
    Reason.UNMANAGED_PATH: Advice(
        "Planned paths are taken",
        "Files that no publication recorded stand where outputs should go.",
        ("Move them away.", "If they may be overwritten, publish once with --force."),
    ),
    Reason.PATH_CONFLICT: Advice(
        "A file where a folder is needed",
        "A retained output and a planned one can't stand in one tree.",
        ("Prune or rename one of the two.",),
    ),
    Reason.INVALID_STATE: Advice(
        "The state can't be read",
        "The destination's .distributor.json is damaged. It was left as it is.",
        (
            "Restore .distributor.json from a backup.",
            "In a single-owner root, publish once with --force to start anew.",
        ),
    ),
    Reason.UNSUPPORTED_STATE_VERSION: Advice(
        "Written by a newer distributor",
        "The state has a schema version that this program does not know.",
        ("Update this server.",),
    ),
    Reason.STATE_MODE_MISMATCH: Advice(
        "A shared root, configured as single-owner",
        "The root is shared by several owners.",
        ("Set `state: {mode: shared_root}` for this destination.",),
    ),
    Reason.WOULD_EMPTY: Advice(
        "An empty report would delete everything",
        "The bundle gives no outputs, and every recorded one would go.",
        (
            "Check how the bundle was made: an empty one is usually a failed build.",
            "If it is meant, publish once with --allow-empty.",
        ),
    ),
    Reason.DELETE_LIMIT: Advice(
        "Too many deletions",
        "The plan deletes more than transfer.max_delete allows.",
        (
            "Check how the bundle was made: files may be missing from it.",
            "If it is meant, publish once with --max-delete N.",
        ),
    ),
    Reason.INVALID_JOURNAL: Advice(
        "A journal that can't be trusted",
        "The destination holds a journal of an interrupted run that can't be read.",
        ("Look at .distributor.journal.json; if no run is under way, remove it by hand.",),
    ),
    Reason.STORAGE_FAILED: Advice(
        "The destination failed",
        "It could not be reached, or refused an operation. Nothing half-written is visible there.",
        ("Run `distributor doctor` for this destination.", "Then queue the upload again."),
    ),
    Reason.LOCKED: Advice(
        "Somebody else is writing",
        "Another run held the destination's lock for longer than lock.wait.",
        ("Queue the upload again when that run is over.", "If its holder is dead, see `distributor unlock`."),
    ),
    Reason.TRANSFORM_FAILED: Advice(
        "A page could not be made",
        "A transform refused its input, so nothing of the bundle was published there.",
        ("Mend the file that the message names, and send a new edition.",),
    ),
    Reason.INVALID_OUTPUTS: Advice(
        "The outputs rules don't fit this bundle",
        "They give two outputs at one path, or a path that is not clean.",
        ("Change the destination's outputs in the configuration, then queue the upload again.",),
    ),
    Reason.WHOLE_ROOT_REFUSED: Advice(
        "Not a whole root",
        "Forced replacement of a filesystem root, a home folder or a bucket without prefix is refused.",
        ("Choose a folder or prefix below it.",),
    ),
    Reason.INVALID_BUNDLE: Advice(
        "The bundle is invalid",
        "Its manifest and its files don't agree.",
        ("Make the bundle again and send it.",),
    ),
}


def advice_for(reason: str) -> Advice | None:
    """Return what to say about a reason, or ``None`` where it needs no explanation."""
    try:
        return _ADVICE.get(Reason(reason))
    except ValueError:
        return None
