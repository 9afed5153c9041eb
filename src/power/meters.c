#include "power/meter.h"

/* Best first: `auto` takes the first that opens. */
const wtl_meter_ops *const wtl_meter_kinds[] = {&wtl_meter_powercap, &wtl_meter_model, &wtl_meter_none, NULL};
