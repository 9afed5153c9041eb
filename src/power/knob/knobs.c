/* The kinds of knobs on a real machine. */
#include "power/knob/knob_kind.h"

const wtl_knob_ops *const wtl_knob_kinds[] = {[WTL_KNOB_AUTO] = &wtl_knob_cpufreq,
                                              [WTL_KNOB_CPUFREQ] = &wtl_knob_cpufreq,
                                              [WTL_KNOB_POWERCAP] = &wtl_knob_powercap,
                                              [WTL_KNOB_RECORD] = &wtl_knob_record,
                                              [WTL_KNOB_NONE] = &wtl_knob_none};

const wtl_knob_ops *const wtl_knob_package_kinds[] = {
    [WTL_PACKAGE_UNCORE] = &wtl_knob_uncore, [WTL_PACKAGE_LIMIT] = &wtl_knob_limit};
