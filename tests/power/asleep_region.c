/*
 * asleep_region.c - sleeps in a region for the given seconds and prints each figure's domain, provenance and seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wattle.h>

enum { MOST = 16 };

int main(int argc, char **argv)
{
  wattle_joules_t figures[MOST];
  wattle_energy_t *e = wattle_energy_open(NULL);
  if (!e || argc != 2) return 1;
  wattle_region_begin(e, "asleep");
  usleep((useconds_t)(1e6 * atof(argv[1])));
  wattle_region_end(e, "asleep");
  int n = wattle_region_joules(e, "asleep", figures, MOST);
  for (int i = 0; i < n && i < MOST; i++)
    printf("%s %s %.3f of %.3f\n", figures[i].domain, wattle_provenance_name(figures[i].provenance),
           figures[i].covered_s, figures[i].interval_s);
  wattle_energy_close(e);
  return 0;
}
