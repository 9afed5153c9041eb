/* served_file.c - writes the requests that a process served for others. */
#include "record/served_file.h"

#include "base/json.h"

static void write_number(FILE *out, double value)
{
  putc(',', out);
  wtl_json_number(out, value);
}

static void write_row(FILE *out, const wtl_served_row *row, double agents_s, const wtl_served_prices *prices)
{
  double handlers_s = wtl_served_ticks(&row->by[WTL_SERVED_BY_HANDLER]) * prices->seconds_per_tick;
  fprintf(out, "[%d,%d,%ju,%ju", row->pe, row->mark, (uintmax_t)row->requests, (uintmax_t)row->bytes);
  write_number(out, agents_s);
  write_number(out, handlers_s);
  write_number(out, wtl_served_ticks(&row->by[WTL_SERVED_IN_WAITS]) * prices->seconds_per_tick);
  for (int d = 0; d < 2; d++)
    write_number(out, prices->joules_per_second[d] * (agents_s + prices->handlers_part * handlers_s));
  putc(']', out);
}

void wtl_record_write_served(FILE *out, const wtl_served *s, const wtl_served_prices *prices)
{
  double ticks = wtl_served_sum(s, WTL_SERVED_BY_AGENT), price = ticks > 0 ? prices->agents_s / ticks : 0;
  const char *comma = "";
  putc('{', out);
  wtl_json_number_field(out, "agents_s", prices->agents_s, 1);
  fputs(",\"columns\":[\"pe\",\"mark\",\"requests\",\"bytes\",\"agents_s\",\"handlers_s\",\"waits_s\",\"cpu\",\"dram\"]"
        ",\"rows\":[",
        out);
  for (int i = 0; i <= WTL_SERVED_ROWS; i++) {
    const wtl_served_row *row = i == WTL_SERVED_ROWS ? &s->common : s->row ? &s->row[i] : NULL;
    if (!row || !row->used || (row->pe < 0 && !row->requests)) continue;
    fputs(comma, out);
    write_row(out, row, wtl_served_ticks(&row->by[WTL_SERVED_BY_AGENT]) * price, prices);
    comma = ",\n";
  }
  fputs("]}", out);
}
