// header_test.cc - wattle.h is plain C++11, alone and first.
#include "wattle.h"

int main()
{
  wattle_energy_t *e = wattle_energy_open("none");
  if (!e) return 1;
  wattle_joules_t figures[4];
  bool bad = wattle_region_begin(e, "r") != WATTLE_OK || wattle_region_end(e, "r") != WATTLE_OK ||
             wattle_region_joules(e, "r", figures, 4) != 2 || figures[0].provenance != WATTLE_UNAVAILABLE;
  wattle_energy_close(e);
  return bad ? 1 : 0;
}
