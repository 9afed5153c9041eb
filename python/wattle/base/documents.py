"""Records as dictionaries for JSON."""

from __future__ import annotations

from typing import Any


def fields(record: object, names: str) -> dict[str, Any]:
    """The attributes of a record with these names, which blanks separate, each as `plain` gives it."""
    return {name: plain(getattr(record, name)) for name in names.split()}


def plain(found: Any) -> Any:
    """A value for JSON: a record by its own `as_dict`, a list of such values, or the value itself."""
    if isinstance(found, list | tuple):
        return [plain(one) for one in found]
    return found.as_dict() if hasattr(found, "as_dict") else found
