"""Which outputs a destination is to have: rules, path templates, collisions (A1, A2, D22, D24)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from distributor.core.globs import compile_globs
from distributor.core.manifest import Manifest
from distributor.core.paths import is_reserved, overlaps, path_problem
from distributor.core.policy import Links, OutputRule
from distributor.core.state.model import OutputKind
from distributor.core.values import url_of
from distributor.errors import Problem

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NAMES = ("path", "dir", "name", "stem", "ext", "source_id", "created")
COPY_PATH = "{path}"


class TransformTraits(NamedTuple):
    """What planning must know of a transform: its default path template, and whether it takes all files at once."""

    default_path: str
    whole_bundle: bool
    version: str


class OutputSpec(NamedTuple):
    """One output that is to be, before its bytes are known.

    ``source_path`` is the least of ``sources`` (D24). ``rule`` indexes the
    destination's rules; -1 stands for the implied rule that copies everything.
    """

    path: str
    kind: OutputKind
    source_path: str
    sources: tuple[str, ...]
    transform: str | None
    url: str | None
    rule: int


class PlannedOutput(NamedTuple):
    """One output whose bytes are known: what the state will record."""

    path: str
    kind: OutputKind
    source_path: str
    transform: str | None
    url: str | None
    sha256: str
    size: int


def map_outputs(
    manifest: Manifest, rules: tuple[OutputRule, ...], links: Links, transforms: Mapping[str, TransformTraits]
) -> tuple[tuple[OutputSpec, ...], tuple[Problem, ...]]:
    """Return the outputs of ``manifest`` under ``rules``, sorted by path, and what is wrong with them.

    No rules at all means that every file is copied. A problem has the code
    ``invalid_outputs`` and names both sources where two outputs meet (D22).
    """
    specs: list[OutputSpec] = []
    for index, rule in enumerate(rules or (OutputRule(),)):
        matched = _matching(manifest, rule)
        traits = transforms[rule.transform] if rule.transform else TransformTraits(COPY_PATH, False, "")
        groups = [tuple(matched)] if traits.whole_bundle and matched else [(path,) for path in matched]
        template = rule.path if rule.path is not None else traits.default_path
        position = index if rules else -1
        specs.extend(_spec(manifest, group, template, rule.transform, position) for group in groups)
    if links.base_url:
        specs = [spec._replace(url=url_of(links.base_url, spec.path)) for spec in specs]
    specs.sort(key=lambda spec: (spec.path, spec.source_path))
    return tuple(specs), tuple(_problems(specs))


def _matching(manifest: Manifest, rule: OutputRule) -> list[str]:
    if rule.include == ("**",) and not rule.exclude:
        return sorted(file.path for file in manifest.files)
    included, excluded = compile_globs(rule.include), compile_globs(rule.exclude)
    return sorted(f.path for f in manifest.files if included(f.path) and not excluded(f.path))


def _spec(manifest: Manifest, sources: tuple[str, ...], template: str, transform: str | None, rule: int) -> OutputSpec:
    path = sources[0] if template == COPY_PATH else expand_path(template, sources[0], manifest)
    kind = OutputKind.GENERATED if transform else OutputKind.SOURCE
    return OutputSpec(path, kind, sources[0], sources, transform, None, rule)


def template_problem(template: str) -> str | None:
    """Say what is wrong with a path template, as far as the template alone shows, or ``None``."""
    for name in _VARIABLE.findall(template):
        head, separator, form = name.partition(":")
        if head not in _NAMES:
            return f"has the unknown variable {{{name}}}"
        if separator and (head != "created" or not form):
            return f"has a format where none belongs: {{{name}}}"
        if head == "created" and not separator:
            return "has {created} without a format, as in {created:%Y-%m-%d}"
    bare = _VARIABLE.sub("", template)
    if "{" in bare or "}" in bare:
        return "has a brace that belongs to no variable"
    # A variable is never empty in the middle of a name, so a letter can stand for it here.
    sample = re.sub(r"\{dir\}", "", template)
    sample = _VARIABLE.sub("x", sample)
    if fault := path_problem(sample):
        return fault
    return "uses a name reserved for the program" if is_reserved(sample) else None


def expand_path(template: str, path: str, manifest: Manifest) -> str:
    """Fill a path template for the file at ``path`` (H5 says what ``{stem}`` and ``{ext}`` are)."""
    folder, _, name = path.rpartition("/")
    dot = name.rfind(".", 1)
    stem, ext = (name[:dot], name[dot:]) if dot > 0 else (name, "")
    values = {
        "path": path,
        "dir": f"{folder}/" if folder else "",
        "name": name,
        "stem": stem,
        "ext": ext,
        "source_id": manifest.id,
    }

    def value(match: re.Match[str]) -> str:
        head, _, form = match[1].partition(":")
        if head == "created":
            return manifest.created.to_datetime().strftime(form)
        return values[head]

    return _VARIABLE.sub(value, template)


def _problems(specs: list[OutputSpec]) -> Iterable[Problem]:
    by_path: dict[str, OutputSpec] = {}
    for spec in specs:
        if fault := path_problem(spec.path):
            yield Problem("invalid_outputs", f"the output path made from {spec.source_path!r} {fault}", spec.path)
        elif is_reserved(spec.path):
            yield Problem("invalid_outputs", f"the output of {spec.source_path!r} has a reserved name", spec.path)
        if spec.path in by_path:
            other = by_path[spec.path]
            yield Problem("invalid_outputs", f"is the output of {_origin(other)} and of {_origin(spec)}", spec.path)
        by_path[spec.path] = spec
    for folder, path in overlaps(by_path):
        origins = f"{_origin(by_path[folder])}, and the folder of {path!r}, made from {_origin(by_path[path])}"
        yield Problem("invalid_outputs", f"is a file, made from {origins}", folder)


def _origin(spec: OutputSpec) -> str:
    made = f" by {spec.transform}" if spec.transform else ""
    return f"{spec.source_path!r}{made} (rule {spec.rule + 1})" if spec.rule >= 0 else repr(spec.source_path)
