"""A directory that `wattle run` wrote: one sample, or several where it was asked to repeat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wattle import manifest as manifests
from wattle import profile as profiles
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.profile import RunProfile


@dataclass(frozen=True)
class Sample:
    """One run of the program. `profile` is None where none was asked for."""

    directory: Path
    manifest: Manifest
    profile: RunProfile | None


@dataclass(frozen=True)
class Run:
    """The directory as a whole. `samples` holds at least one, in the order they ran."""

    directory: Path
    manifest: Manifest
    samples: list[Sample]

    @property
    def middle(self) -> Sample:
        """The sample with the median time: the one to look at in detail."""
        ordered = sorted(self.samples, key=lambda s: s.manifest.wall_s or 0.0)
        return ordered[(len(ordered) - 1) // 2]


def load(directory: Path, allow_damaged: bool = False) -> Run:
    """Reads and checks a run directory. `allow_damaged`: leave out profile files that cannot be read, and note them."""
    manifest = manifests.read(directory)
    if manifest.kind != "run":
        raise WattleError(f"{directory}: is the directory of a {manifest.kind}, not of a run")
    if not manifest.repeats:
        return Run(directory, manifest, [_sample(directory, manifest, allow_damaged)])
    samples = []
    for name in manifest.repeats:
        inner = directory / name
        if Path(name).name != name or not inner.is_dir():
            raise DamagedFile(directory / manifests.FILE, f"repeats: {name!r} is not a directory beside it")
        samples.append(_sample(inner, manifests.read(inner), allow_damaged))
    return Run(directory, manifest, samples)


def _sample(directory: Path, manifest: Manifest, allow_damaged: bool) -> Sample:
    if manifest.extra.get("profile") is False:
        return Sample(directory, manifest, None)
    found = profiles.load(directory, _n_pes(directory, manifest), allow_damaged, manifest.n_hosts)
    return Sample(directory, manifest, found)


def _n_pes(directory: Path, manifest: Manifest) -> int | None:
    """How many PEs there should be. Where `wattle run` of an MPI job was ended before it could tell, profiles say."""
    if manifest.knows_n_pes or not any((directory / "profile").glob("pe-*.json")):
        return manifest.n_pes
    return None
