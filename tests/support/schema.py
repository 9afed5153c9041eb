"""Checks a document against a JSON Schema, for the keywords that this project's schemas use."""

from __future__ import annotations

from typing import Any

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "null": (type(None),),
}
WORDS = {"$schema", "title", "description"}
CHECKED = {"type", "const", "enum", "minimum", "required", "properties", "additionalProperties", "items"}


def violations(schema: dict[str, Any], value: Any, place: str = "$") -> list[str]:
    """Returns the violations, each with its place. Raises ValueError for a keyword that it does not know."""
    if unknown := set(schema) - WORDS - CHECKED:
        raise ValueError(f"{place}: no check for {sorted(unknown)}")
    found: list[str] = []
    kinds = schema.get("type", list(KINDS))
    allowed = tuple(kind for name in ([kinds] if isinstance(kinds, str) else kinds) for kind in KINDS[name])
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        return [f"{place}: {value!r} is no {kinds}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{place}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        found.append(f"{place}: {value!r} is below {schema['minimum']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{place}: no {name}" for name in schema.get("required", []) if name not in value]
        if schema.get("additionalProperties") is False:
            found += [f"{place}: {name} is unknown" for name in value if name not in properties]
        for name in properties:
            if name in value:
                found += violations(properties[name], value[name], f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            found += violations(schema["items"], item, f"{place}[{i}]")
    return found
