/* clock_plan.c - reads the list of PEs and clocks. */
#include "govern/clock_plan.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "os/locale.h"

/* The number of a PE: digits alone. */
static bool read_pe(const char **at, long *pe)
{
  char *end;
  if (**at < '0' || **at > '9') return false;
  *pe = strtol(*at, &end, 10);
  *at = end;
  return true;
}

/* Reads one entry. Returns the start of the next one; NULL if the entry is wrong. */
static const char *read_entry(const char *at, long *first, long *last, double *ghz)
{
  WTL_LOCALE_APART;
  char *end;
  if (!read_pe(&at, first)) return NULL;
  *last = *first;
  if (*at == '-' && (at++, !read_pe(&at, last))) return NULL;
  if (*at++ != '=') return NULL;
  *ghz = strtod(at, &end);
  if (end == at || !(*ghz > 0 && *ghz < 100) || (*end && *end != ',') || *last < *first) return NULL;
  return *end ? end + 1 : end;
}

double wtl_clocks_plan_ghz(const char *list, int pe)
{
  double mine = 0, ghz;
  long first, last;
  for (const char *at = list; at && *at;) {
    at = read_entry(at, &first, &last, &ghz);
    if (!at)
      mine = NAN;
    else if (pe >= first && pe <= last)
      mine = ghz;
  }
  return mine;
}
