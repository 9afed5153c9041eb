"""The environment of the templates from which the generators make C, and the writing of a file."""

import shutil
import subprocess
from pathlib import Path

import jinja2

STYLE = Path(__file__).parents[2] / ".clang-format"


def environment(templates: Path) -> jinja2.Environment:
    """Templates of C. An unknown name is an error. A statement alone in its line leaves no empty line, and the lines of
    a macro replace the line that calls it."""
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
    """C in the layout of clang-format, or unchanged if clang-format is not installed."""
    command = [shutil.which("clang-format"), f"--style=file:{STYLE}", "--assume-filename=generated.c"]
    if command[0] is None:
        return text
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else text


def write(path: Path, text: str) -> None:
    """Writes a file only if its text differs, so that nothing is rebuilt without need."""
    if path.suffix in (".c", ".h"):
        text = in_house_style(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
