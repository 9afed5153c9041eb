"""What the generators of C share: the environment of their templates, and how a file is written."""

import shutil
import subprocess
from pathlib import Path

import jinja2

STYLE = Path(__file__).parents[2] / ".clang-format"


def environment(templates: Path) -> jinja2.Environment:
    """Templates of C: a name that is not there is an error. A statement alone in its line leaves no empty line, and a
    macro's lines take the place of the line that calls it."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: value.rstrip("\n") if isinstance(value, str) else value,
        autoescape=False,
    )


def in_house_style(text: str) -> str:
    """C as clang-format lays it out, or as it is where there is none."""
    command = [shutil.which("clang-format"), f"--style=file:{STYLE}", "--assume-filename=generated.c"]
    if command[0] is None:
        return text
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else text


def write(path: Path, text: str) -> None:
    """Leaves a file that is already right alone, so that nothing is rebuilt for it."""
    if path.suffix in (".c", ".h"):
        text = in_house_style(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
