/* served_file.c - writes the requests that a process served for others. */
#include "record/served_file.h"

#include "base/json.h"

static void write_row(FILE *out, const wtl_served_row *row, double agents_s, const wtl_served_prices *prices)
{
  double handlers_s = wtl_served_ticks(&row->by[WTL_SERVED_BY_HANDLER]) * prices->seconds_per_tick;
  double waits_s = wtl_served_ticks(&row->by[WTL_SERVED_IN_WAITS]) * prices->seconds_per_tick;
  double paid_s = agents_s + prices->handlers_part * handlers_s;
  wtl_json(out, "[%d,%d,%ju,%ju,%g,%g,%g,%g,%g]", row->pe, row->mark, row->requests, row->bytes, agents_s, handlers_s,
           waits_s, prices->joules_per_second[0] * paid_s, prices->joules_per_second[1] * paid_s);
}

void wtl_record_write_served(FILE *out, const wtl_served *s, const wtl_served_prices *prices)
{
  double ticks = wtl_served_sum(s, WTL_SERVED_BY_AGENT), price = ticks > 0 ? prices->agents_s / ticks : 0;
  const char *comma = "";
  wtl_json(out,
           "{'agents_s':%g,'columns':['pe','mark','requests','bytes','agents_s','handlers_s','waits_s','cpu','dram']"
           ",'rows':[",
           prices->agents_s);
  for (uint32_t i = 0; i <= s->used; i++) {
    const wtl_served_row *row = i == s->used ? &s->common : wtl_served_row_at(s, i);
    if (!row->used || (row->pe < 0 && !row->requests)) continue;
    fputs(comma, out);
    write_row(out, row, wtl_served_ticks(&row->by[WTL_SERVED_BY_AGENT]) * price, prices);
    comma = ",\n";
  }
  fputs("]}", out);
}
