/*
 * powercap_mirror.h - dies that show one and the same counter (AMD packages of several dies do), found so that they
 * count once.
 */
#ifndef WTL_POWER_POWERCAP_MIRROR_H
#define WTL_POWER_POWERCAP_MIRROR_H

#include <stddef.h>

#include "power/powercap_zones.h"

/*
 * Samples the top-level zones of packages that have several dies and removes those that mirror an earlier one. Takes
 * about 10 ms where such zones exist and no time otherwise. Returns the number of zones left, their order kept.
 */
size_t wtl_powercap_drop_mirrors(wtl_zone *zones, size_t n, const wtl_sys *sys);

#endif
