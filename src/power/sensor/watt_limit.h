/*
 * watt_limit.h - more watts than a domain can draw. A reading beyond this limit is wrong, so a meter leaves it out.
 *
 * DESIGN. A limit must never refuse a true reading, and must refuse error values, which are far off: firmware reports
 * 4294967295 mW for an unknown power (_PMM of ACPI). So a limit has a margin over what the hardware states, and a
 * default where the hardware states nothing.
 */
#ifndef WTL_POWER_WATT_LIMIT_H
#define WTL_POWER_WATT_LIMIT_H

#include <stddef.h>

#include "power/meter.h"

/*
 * Returns the limit of a domain about which only its scope is known, in W. Assumed, from about 1.4 to 2 times the most
 * in data sheets: 500 W (AMD EPYC 9965), 1400 W (NVIDIA B300), 14 kW (DGX B300).
 */
double wtl_watt_limit_default(wattle_scope_t scope);

/*
 * Returns `margin` times the watts that the hardware states, or `otherwise` if these are no plausible watts: not above
 * 0, or with the margin above ten times `otherwise`.
 */
double wtl_watt_limit_rated(double rated_w, double margin, double otherwise);

/* Returns the limit of a package by the TDP of the profile that matched this CPU, or of the table of CPUs; the default
 * if there is none. */
double wtl_watt_limit_package(const wtl_meter_env *env);

/*
 * Adds to a text of `size` bytes that `refused` readings of a domain were left out. Adds nothing if `refused` is 0.
 */
void wtl_watt_limit_remark(char *text, size_t size, const char *domain, unsigned refused, double limit_w);

#endif
