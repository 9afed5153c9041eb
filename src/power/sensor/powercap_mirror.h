/*
 * powercap_mirror.h - finds dies that show the same counter, as in AMD packages of several dies, so that it counts
 * once.
 */
#ifndef WTL_POWER_POWERCAP_MIRROR_H
#define WTL_POWER_POWERCAP_MIRROR_H

#include <stddef.h>

#include "power/sensor/powercap_zones.h"

/*
 * Samples the top-level zones of packages with several dies and removes those that mirror an earlier one. Takes about
 * 10 ms if there are such zones, otherwise no time. Returns the number of zones left, in the same order.
 */
size_t wtl_powercap_drop_mirrors(wtl_zone *zones, size_t n, const wtl_sys *sys);

#endif
