"""Hooks of mkdocs: add the generated pages to the site, and adapt links that only the repository has.

The generated pages need a build: `WATTLE_HOME`, by default build/release.
"""

from __future__ import annotations

import functools
import os
import posixpath
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

import command_pages
import header_pages
import python_page
import routine_pages

ROOT = Path(__file__).resolve().parents[2]

# Files outside of docs/ that have a page, by their path in the repository.
PROJECT = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "MAINTAINERS.md": "project/maintainers.md",
    "LICENSE": "project/license.md",
    "CITATION.cff": "project/citation.md",
    "examples/hello-slurm.sh": "project/hello-slurm.md",
}
TITLES = {"LICENSE": "License", "CITATION.cff": "Citation", "examples/hello-slurm.sh": "A job for Slurm"}
# Pages for developers stand after the others in the results of a search.
LATER = ("decisions/", "appendix/", "project/", "bench.md")
LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
# A date that fills a cell of a table. A browser would break it at its hyphens.
DATE = re.compile(r"(?<=\| )\d{4}-\d\d-\d\d(?= \|)")


def home() -> Path:
    found = Path(os.environ.get("WATTLE_HOME") or ROOT / "build/release")
    if not (found / "generated/api.json").exists():
        raise PluginError(f"{found} is no build of Wattle: run `make build`, or set WATTLE_HOME")
    return found


@functools.cache
def generated() -> dict[str, str]:
    """The text of each page that is not in docs/, by its path in the site."""
    return {
        "reference/commands.md": command_pages.page(),
        "reference/python.md": python_page.page(),
        **{f"reference/routines/{name}": text for name, text in routine_pages.pages(home()).items()},
        **{f"reference/headers/{name}": text for name, text in header_pages.pages(home()).items()},
        **{page: project_page(path) for path, page in PROJECT.items()},
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replaces each FOLDER/ in the navigation by the pages of that folder, and adds the address once it is set."""
    config.nav = expanded(config.nav)
    address = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["wattle"]["address"]
    if ".invalid" not in address:
        config.repo_url, config.repo_name = address, "source"
    return config


def expanded(nav: Any) -> Any:
    if isinstance(nav, dict):
        return {title: expanded(entry) for title, entry in nav.items()}
    if isinstance(nav, list):
        return [page for entry in nav for page in (pages_of(entry) if is_folder(entry) else [expanded(entry)])]
    return nav


def is_folder(entry: Any) -> bool:
    return isinstance(entry, str) and entry.endswith("/")


def pages_of(folder: str) -> list[str]:
    """Generated pages in their order, or the numbered pages of a folder of docs/."""
    on_disk = sorted(path.name for path in (ROOT / "docs" / folder).glob("[0-9]*.md"))
    return [folder + name for name in on_disk] or [path for path in generated() if path.startswith(folder)]


def project_page(path: str) -> str:
    """The text of a file of the repository as a page."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path == "README.md":  # the only page of its section
        return f"---\nhide: [navigation]\n---\n\n{text}"
    if path.endswith(".md"):
        return text
    language = {".cff": "yaml", ".sh": "sh"}.get(Path(path).suffix, "text")
    return f"# {TITLES[path]}\n\n```{language}\n{text}```\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links to files of the repository to their pages, weighs the page for the search, and marks dates."""
    source = page.file.src_uri
    if source.startswith(LATER):
        page.meta["search"] = {"boost": 0.3}
    in_repository = next((path for path, to in PROJECT.items() if to == source), f"docs/{source}")

    def lead(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), match[2]))
        target = PROJECT.get(path) or path.removeprefix("docs/")
        relative = posixpath.relpath(target, posixpath.dirname(source) or ".")
        return f"{match[1]}{relative}{match[3] or ''}"

    return DATE.sub(r'<span class="date">\g<0></span>', LINK.sub(lead, markdown))
