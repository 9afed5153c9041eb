/* info.h - the part of wattle-info about meters and machine profiles, as JSON. */
#ifndef WTL_POWER_INFO_H
#define WTL_POWER_INFO_H

#include <stdio.h>

#include "base/settings.h"

/*
 * Prints an array with one object for each kind of meter, best first:
 *
 *   {"name", "usable", "why", "grant", "domains": [{"name", "scope", "nested", "available"}]}
 *
 * `why` says what is missing. `grant` says how to give access safely, one command or remark after '#' a line; "" if no
 * permission would help. Opens and closes each meter, which takes some milliseconds if there are sensors. Prints no
 * newline at the end.
 */
void wtl_meters_json(FILE *out, const wtl_settings *s);

/*
 * Prints the machine profile that the settings choose:
 *
 *   {"name", "title", "about", "file", "matched", "sockets", "cores_per_socket", "base_ghz",
 *    "power_limits": [{"watts", "window_s"}] (of a package, those in force),
 *    "numbers": [{"key", "value", "plus_minus", "unit", "tag", "source", "how", "ghz" (clocks only)}]}
 *
 * or {"error": "..."} if there is no such profile or it is wrong. Prints no newline at the end.
 */
void wtl_machine_json(FILE *out, const wtl_settings *s);

#endif
