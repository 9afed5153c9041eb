/*
 * info.h - what wattle-info says of the power room, as JSON.
 */
#ifndef WTL_POWER_INFO_H
#define WTL_POWER_INFO_H

#include <stdio.h>

#include "base/settings.h"

/*
 * Prints an array, one object for each kind of meter, best first:
 *   {"name", "usable", "why", "grant", "domains": [{"name", "scope", "nested", "available"}]}
 * `why` says what is missing, `grant` how access can be given safely: a command, or a remark after '#', a line; ""
 * where no permission would help. Opens and closes each meter; takes some milliseconds where sensors exist. No newline
 * at the end.
 */
void wtl_meters_json(FILE *out, const wtl_settings *s);

/*
 * Prints the machine profile the settings choose:
 *   {"name", "title", "about", "file", "matched", "sockets", "cores_per_socket",
 *    "numbers": [{"key", "value", "plus_minus", "unit", "tag", "source", "how", "ghz" (clocks only)}]}
 * or {"error": "..."} if there is no such profile or it is wrong. No newline at the end.
 */
void wtl_machine_json(FILE *out, const wtl_settings *s);

#endif
