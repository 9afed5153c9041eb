/* meters.c - the table of the kinds of meters. */
#include "power/meter.h"

#ifdef WTL_SIM
/* Sensors belong to the machine that runs the simulation. */
const wtl_meter_ops *const wtl_meter_kinds[] = {&wtl_meter_simgrid, &wtl_meter_model, &wtl_meter_none, NULL};
#else
/* Best first. `auto` takes the first that opens, except those of devices. */
const wtl_meter_ops *const wtl_meter_kinds[] = {&wtl_meter_powercap, &wtl_meter_perf,    &wtl_meter_cray,
                                                &wtl_meter_hwmon,    &wtl_meter_redfish, &wtl_meter_nvml,
                                                &wtl_meter_model,    &wtl_meter_none,    NULL};
#endif
