/* The kinds of meters on a real machine. The best comes first: `auto` takes the first one with processors as its main
 * meter. */
#include "power/meter.h"

const wtl_meter_ops *const wtl_meter_kinds[] = {&wtl_meter_powercap, &wtl_meter_perf,    &wtl_meter_cray,
                                                &wtl_meter_hwmon,    &wtl_meter_redfish, &wtl_meter_nvml,
                                                &wtl_meter_model,    &wtl_meter_none,    NULL};
