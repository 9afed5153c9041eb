/* power_file.c - writes the watts of the node's meter over time as JSON. */
#include "record/power_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/new_file.h"
#include "os/locale.h"

/* Seconds since 1970 at the middle of a point. `apart_ns`: the time of day less the monotonic clock. */
static double middle_s(const wtl_watts *p, double apart_ns)
{
  return ((double)p->begin_ns + (double)(p->end_ns - p->begin_ns) / 2 + apart_ns) * 1e-9;
}

static double clocks_apart_ns(void)
{
  struct timespec wall;
  clock_gettime(CLOCK_REALTIME, &wall);
  return (double)wall.tv_sec * 1e9 + (double)wall.tv_nsec - (double)wtl_clock_ns();
}

static void write_domain(FILE *f, const char *meter, const char *domain, const wtl_watts *point, size_t n)
{
  WTL_LOCALE_APART;
  double apart_ns = clocks_apart_ns();
  wtl_json(f, "{'scope':%s,'source':%s,'at_s':[", domain, meter);
  for (size_t i = 0; i < n; i++) fprintf(f, "%s%.6f", i ? "," : "", middle_s(&point[i], apart_ns));
  fputs("],\"watts\":[", f);
  for (size_t i = 0; i < n; i++) fprintf(f, "%s%.6g", i ? "," : "", point[i].watts);
  fputs("]}", f);
}

static void write_all(FILE *f, const wtl_record *self, size_t domains)
{
  bool first = true;
  wtl_json(f, "{'schema':1,'pe':%d,'every_s':%g,'power':[", self->me, self->settings->timeline_power.seconds);
  for (size_t d = 0; d < domains; d++) {
    const wtl_watts *point;
    const char *name;
    size_t n = wtl_meter_watts(self->meter, d, &name, &point);
    if (!n) continue;
    if (!first) putc(',', f);
    write_domain(f, wtl_meter_name(self->meter), name, point, n);
    first = false;
  }
  fputs("]}\n", f);
}

void wtl_record_write_power(const wtl_record *self)
{
  char path[WTL_NEW_FILE_PATH];
  wtl_new_file file;
  size_t points = 0;
  for (size_t d = 0; self->meter && d < WTL_MAX_DOMAINS; d++) {
    const wtl_watts *point;
    const char *name;
    points += wtl_meter_watts(self->meter, d, &name, &point);
  }
  if (!points) return;
  snprintf(path, sizeof path, "%s/power-%05d.json", self->settings->profile_dir.text, self->me);
  if (!wtl_new_file_open(&file, path)) {
    wtl_message_print("cannot write the watts of the meter %s: %s", path, strerror(errno));
    return;
  }
  write_all(file.out, self, WTL_MAX_DOMAINS);
  if (!wtl_new_file_close(&file))
    wtl_message_print("cannot write the watts of the meter %s: %s", path, strerror(errno));
}
