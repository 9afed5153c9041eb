"""The commands of the Dockerfile make an image that runs programs. The Apptainer file has the same commands."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from bare_system import BareSystem, bare_system, why_not
from tree import ROOT

DOCKERFILE = ROOT / "packaging/Dockerfile"
APPTAINER = ROOT / "packaging/wattle.def"


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, as keyword and rest, with continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], " ".join(line.partition(" ")[2].split())) for line in lines]


def commands(text: str) -> list[str]:
    return [command for keyword, rest in instructions(text) if keyword == "RUN" for command in rest.split(" && ")]


def test_the_apptainer_file_has_the_commands_of_the_dockerfile() -> None:
    """Docker changes the folder by an instruction of its own, and Apptainer by `cd`."""
    sections = re.findall(r"^%post\n((?: {4}.*\n)+)", APPTAINER.read_text(encoding="utf-8"), re.M)
    own = [line.strip() for section in sections for line in section.splitlines() if not line.strip().startswith("cd ")]
    assert own == commands(DOCKERFILE.read_text(encoding="utf-8"))


def copy_sources(target: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout
    target.mkdir(parents=True)
    packed = subprocess.run(["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=files, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", target], input=packed.stdout, check=True)


def build(stages: list[list[tuple[str, str]]], first: BareSystem, final: BareSystem) -> str:
    """Carries out the instructions of two stages. Returns the final stage's variables, for a shell."""
    variables: list[str] = []
    for stage, system in zip(stages, (first, final), strict=True):
        folder = "/"
        for keyword, rest in stage:
            words = shlex.split(rest)
            if keyword == "RUN":
                system.run(f"cd {folder}; {rest}")
            elif keyword == "WORKDIR":
                folder = rest
            elif keyword == "ENV":
                variables += words
            elif keyword == "COPY" and words[0] == ".":
                copy_sources(system.root / words[1].lstrip("/"))
            elif keyword == "COPY":
                source, target = (path.lstrip("/") for path in words[-2:])
                subprocess.run(["cp", "-aT", first.root / source, system.root / target], check=True)
            else:
                assert keyword == "CMD", keyword
    return "export " + " ".join(variables)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.skipif(bool(why_not()), reason=str(why_not()))
def test_the_commands_of_the_dockerfile_make_a_system_that_runs_programs(tmp_path: Path) -> None:
    parts = re.split(r"^FROM .*\n", DOCKERFILE.read_text(encoding="utf-8"), flags=re.M)
    stages = [instructions(part) for part in parts[1:]]
    with bare_system(tmp_path / "build") as first, bare_system(tmp_path / "final") as final:
        use = build(stages, first, final)
        (final.root / "hello.c").write_text((ROOT / "examples/hello.c").read_text(encoding="utf-8"), encoding="utf-8")
        final.run(f"{use}; oshcc /hello.c -o /hello")
        assert len(final.run(f"{use}; oshrun -n 2 /hello").splitlines()) == 2
        assert "PE" in final.run(f"{use}; cd /tmp; wattle run -n 2 -- /hello")
        final.run(f"{use}; wattle doctor")
