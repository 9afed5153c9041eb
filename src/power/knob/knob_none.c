/* knob_none.c - the knob `none`, which sets no clock. */
#include "power/knob/knob_kind.h"

/* The domains are known, but their clocks stay 0. */
static int none_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  (void)k;
  (void)machine;
  (void)d;
  return 0;
}

const wtl_knob_ops wtl_knob_none = {.name = "none", .find = none_find};
