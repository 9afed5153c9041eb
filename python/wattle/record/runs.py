"""Reads a directory that `wattle run` wrote: one sample, or several with `--repeat`."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from wattle.base import files
from wattle.base.errors import DamagedFile, WattleError
from wattle.record import kept_counts
from wattle.record import manifest as manifests
from wattle.record import profile as profiles
from wattle.record.manifest import Manifest
from wattle.record.profile import RunProfile

JOULES = ("WATTLE_METER", "WATTLE_MACHINE")  # settings by which joules are modelled


@dataclass(frozen=True)
class Sample:
    """One run of the program. `profile` is None where none was requested."""

    directory: Path
    manifest: Manifest
    profile: RunProfile | None


@dataclass(frozen=True)
class Run:
    """A run directory. `samples` holds at least one sample, in the order of their runs."""

    directory: Path
    manifest: Manifest
    samples: list[Sample]

    @property
    def middle(self) -> Sample:
        """The sample with the median time, which detailed views show."""
        ordered = sorted(self.samples, key=lambda s: s.manifest.wall_s or 0.0)
        return ordered[(len(ordered) - 1) // 2]


def load(directory: Path, allow_damaged: bool = False) -> Run:
    """Reads and checks a run directory. With `allow_damaged`, unreadable profile files are left out and noted."""
    if is_bare(directory):
        return _bare(directory, allow_damaged)
    manifest = manifests.read(directory)
    if manifest.kind != "run":
        raise WattleError(f"{directory}: is the directory of a {manifest.kind}, not of a run")
    if not manifest.repeats:
        return Run(directory, manifest, [_sample(directory, manifest, allow_damaged)])
    samples = []
    for name in manifest.repeats:
        inner = directory / name
        if Path(name).name != name or not files.is_folder(inner):
            raise DamagedFile(directory / manifests.FILE, f"repeats: {name!r} is not a directory beside it")
        samples.append(_sample(inner, manifests.read(inner), allow_damaged))
    return Run(directory, manifest, samples)


def load_all(directory: Path) -> Run:
    """Reads a run directory, or a folder with several runs of one program as one run with all their samples. Raises
    WattleError where the runs are of different commands or numbers of PEs.
    """
    if is_bare(directory) or (directory / manifests.FILE).exists() or not directory.is_dir():
        return load(directory)
    found = [load(inner) for inner in below(directory)]
    if not found:
        return load(directory)
    first = found[0].manifest
    for other in found[1:]:
        for words, one, two in (
            ("programs or arguments", " ".join(first.command), " ".join(other.manifest.command)),
            ("numbers of PEs", first.n_pes, other.manifest.n_pes),
        ):
            if one != two:
                raise WattleError(
                    f"{directory}: holds runs of different {words}: {one} and {two}; give one folder each"
                )
    return joined(directory, found)


def joined(directory: Path, found: list[Run]) -> Run:
    """Several runs of one program as one run with all their samples, by date."""
    samples = sorted((s for run in found for s in run.samples), key=lambda s: s.manifest.started)
    first = min((run.manifest for run in found), key=lambda record: record.started)
    failed = next((run.manifest.exit_code for run in found if run.manifest.exit_code), first.exit_code)
    return Run(directory, replace(first, exit_code=failed), samples)


def below(directory: Path) -> list[Path]:
    """The run and study directories in a folder, at any depth, by name. Symbolic links are not followed."""
    if is_bare(directory):
        return [directory]
    found = []
    for path, folders, _ in os.walk(directory):
        here = Path(path)
        if (here / manifests.FILE).exists() or is_bare(here):
            found.append(here)
            folders.clear()
        folders.sort()
    return found


def is_bare(directory: Path) -> bool:
    """Whether a directory holds profiles of a program that ran without `wattle run`."""
    return not (directory / manifests.FILE).exists() and any(profiles.folder_of(directory).glob("pe-*.json"))


def _bare(directory: Path, allow_damaged: bool) -> Run:
    """A run of which only the profiles are known. Its manifest says what they say."""
    profile = profiles.load(directory, None, allow_damaged)
    ended = max(path.stat().st_mtime for path in profiles.folder_of(directory).glob("pe-*.json"))
    begun = datetime.fromtimestamp(ended - (profile.wall_s or 0.0), UTC)
    host = {"name": profile.pes[0].host} if profile.pes else {}
    whole = directory.absolute().parent.parent
    if directory.name.startswith("job-") and (whole / manifests.FILE).exists():  # one of the jobs of a run
        of_run = manifests.read(whole)
        record = replace(of_run, command=[profile.program], n_pes=profile.n_pes, wall_s=profile.wall_s)
        return Run(directory, record, [Sample(directory, record, profile)])
    record = Manifest(
        "run",
        [profile.program],
        profile.n_pes,
        begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
        wall_s=profile.wall_s,
        host=host,
        meter=profile.meter,
    )
    return Run(directory, record, [Sample(directory, record, profile)])


def _sample(directory: Path, manifest: Manifest, allow_damaged: bool) -> Sample:
    if manifest.extra.get("profile") is False:
        return Sample(directory, manifest, None)
    _collect(directory, manifest)
    found = profiles.load(directory, _n_pes(directory, manifest), allow_damaged, manifest.n_hosts)
    found.noun_expected = manifest.noun
    if not found.pes and not manifest.knows_n_pes:
        found.missing = []
    return Sample(directory, manifest, found)


def _collect(directory: Path, manifest: Manifest) -> None:
    """Writes the profiles of processes that were killed together with the command that ran them."""
    settings = {name: manifest.settings[name] for name in JOULES if name in manifest.settings}
    with suppress(WattleError):  # without the tools, or in a folder of another user
        kept_counts.collect(directory / "profile", {**os.environ, **settings})


def _n_pes(directory: Path, manifest: Manifest) -> int | None:
    """The expected number of PEs. For an MPI job that ended before the number was written, and where there are several
    jobs, it is None: the profiles give it.
    """
    if len(profiles.folders_of(directory)) > 1:
        return None
    if manifest.knows_n_pes or not any(profiles.folder_of(directory).glob("pe-*.json")):
        return manifest.n_pes
    return None
