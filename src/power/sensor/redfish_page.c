/* redfish_page.c - parses a Redfish page. */
#include "power/sensor/redfish_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"

typedef struct reading {
  wtl_redfish_page *page;
  double sensor;
  bool is_in_watts;
} reading;

static void keep(char *out, const wtl_json_leaf *leaf)
{
  if (leaf->kind == WTL_JSON_IS_TEXT && *leaf->text == '/') snprintf(out, WTL_REDFISH_PATH, "%s", leaf->text);
}

static void take_value(void *arg, const wtl_json_leaf *leaf)
{
  reading *r = arg;
  wtl_redfish_page *p = r->page;
  bool is_number = leaf->kind == WTL_JSON_IS_NUMBER && isfinite(leaf->number);
  if (is_number && strcmp(leaf->path, "PowerWatts.Reading") == 0) {
    p->watts = leaf->number;
    p->name = "PowerWatts";
  } else if (is_number && strcmp(leaf->path, "PowerControl.0.PowerConsumedWatts") == 0) {
    p->watts = leaf->number;
    p->name = "PowerConsumedWatts";
  } else if (is_number && strcmp(leaf->path, "Reading") == 0) {
    r->sensor = leaf->number;
  } else if (is_number &&
             (strcmp(leaf->path, "PowerControl.0.PowerCapacityWatts") == 0 ||
              strcmp(leaf->path, "PowerWatts.ReadingRangeMax") == 0 || strcmp(leaf->path, "ReadingRangeMax") == 0)) {
    p->most_w = leaf->number;
  } else if (strcmp(leaf->path, "ReadingUnits") == 0) {
    r->is_in_watts = strcmp(leaf->text, "W") == 0;
  } else if (strcmp(leaf->path, "EnvironmentMetrics.@odata.id") == 0) {
    keep(p->metrics, leaf);
  } else if (strcmp(leaf->path, "Power.@odata.id") == 0) {
    keep(p->power, leaf);
  } else if (strcmp(leaf->path, "Members.0.@odata.id") == 0) {
    keep(p->member, leaf);
  }
}

const char *wtl_redfish_page_read(const char *text, wtl_redfish_page *page)
{
  reading r = {.page = page, .sensor = NAN};
  *page = (wtl_redfish_page){.watts = NAN};
  const char *wrong = wtl_json_read(text, strlen(text), take_value, &r);
  if (isnan(page->watts) && r.is_in_watts && !isnan(r.sensor)) {
    page->watts = r.sensor;
    page->name = "Sensor";
  }
  return wrong;
}
