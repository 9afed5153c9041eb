/* open_ports.h - lets only the job's nodes reach the TCP ports that a network opens. */
#ifndef WTL_FABRIC_PORTS_OPEN_PORTS_H
#define WTL_FABRIC_PORTS_OPEN_PORTS_H

#include "base/settings.h"
#include "node/boot.h"

/*
 * Calls `open`, and then guards the ports on which this process listens since. Those at public addresses are refused,
 * unless the settings allow them. The others get a filter (port_filter.h), unless the settings turn it off. Collective
 * over the job. Returns 0, or an exit code with the reason in `error`, which may be that of `open`.
 */
int wtl_open_guarded(const wtl_settings *settings, wtl_boot *boot, int (*open)(void *arg, char *error, size_t size),
                     void *arg, char *error, size_t size);

#endif
