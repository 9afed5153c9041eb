/* power_start.c - reads WATTLE_POWER_BUDGET, checks it against what the job may draw, and reports what came of it. */
#include "govern/power_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "os/locale.h"

static bool parse(const char *text, wtl_power_asked *asked)
{
  WTL_LOCALE_APART;
  static const struct {
    const char *name;
    enum wtl_power_unit unit;
    double factor;
  } units[] = {{"W", WTL_POWER_WATTS, 1},
               {"kW", WTL_POWER_WATTS, 1e3},
               {"W/node", WTL_POWER_WATTS_A_NODE, 1},
               {"kW/node", WTL_POWER_WATTS_A_NODE, 1e3},
               {"%", WTL_POWER_PERCENT, 1}};
  char *end;
  double number = strtod(text, &end);
  if (end == text || !isfinite(number)) return false;
  while (*end == ' ') end++;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strcmp(end, units[i].name) != 0) continue;
    *asked = (wtl_power_asked){number * units[i].factor, units[i].unit};
    return true;
  }
  return false;
}

/* Another setting that sets clocks or limits; NULL: none. */
static const char *rival(const wtl_settings *settings)
{
  if (settings->govern.number != WTL_GOVERN_OFF) return "WATTLE_GOVERN";
  if (*settings->clocks.text) return "WATTLE_CLOCKS";
  if (*settings->package_limit.text) return "WATTLE_PACKAGE_LIMIT";
  return settings->transfers.number == WTL_TRANSFERS_OFF ? NULL : "WATTLE_TRANSFERS";
}

int wtl_clocks_budget_read(const wtl_settings *settings, wtl_power_asked *asked, char *error, size_t size)
{
  const char *text = settings->power_budget.text, *other = rival(settings);
  *asked = (wtl_power_asked){.number = NAN};
  if (!*text) return 0;
  if (!parse(text, asked))
    snprintf(
        error, size,
        "WATTLE_POWER_BUDGET=%.100s is not a value; expected watts of the job such as 400W, watts of each node such "
        "as 300W/node, or a part such as 70%% of what the job's %ss may draw",
        text, wtl_message_noun());
  else if (other)
    snprintf(error, size, "WATTLE_POWER_BUDGET and %s both set clocks or limits; use one", other);
  else
    return 0;
  return WTL_EXIT_CONFIG;
}

/* Why this process cannot keep a budget; NULL: it can. */
static const char *hindrance(const wtl_clocks *c, const wtl_machine *m)
{
  const wtl_vote *v = &c->governor.vote;
  if (v->own == v->n_domains) return "the clock of its cores cannot be set";
  if (wtl_knob_domain(v->knob, v->own)->hint) return "the knob only suggests a clock, so the watts are not known";
  if (!m || wtl_machine_clocks(m) < 2) return "the machine profile has the watts of one clock only (WATTLE_MACHINE)";
  return c->governor.power->budget.clocks.n < 2 ? "the machine has one clock" : NULL;
}

/* Sets the watts of the job, which has nodes like this one. */
static int set_watts(wtl_clocks *c, const wtl_clocks_node *node, wtl_power_asked asked, char *error, size_t size)
{
  WTL_LOCALE_APART;
  wtl_power_watch *w = c->governor.power;
  const wtl_power_clocks *clocks = &w->budget.clocks;
  double all = node->n_all, nodes = ceil(all / node->n_local);
  double unit = asked.unit == WTL_POWER_WATTS ? 1 : nodes;
  w->least_w = all * (clocks->always_w + clocks->at[0].computes);
  w->most_w = all * (clocks->always_w + clocks->at[clocks->n - 1].computes);
  if (asked.unit == WTL_POWER_PERCENT) unit = w->most_w / 100;
  double watts = asked.number * unit;
  const char *name[] = {" W", " W/node", " %"};
  if (!(watts >= w->least_w * (1 - 1e-9) && watts <= w->most_w * (1 + 1e-9))) {
    snprintf(
        error, size,
        "WATTLE_POWER_BUDGET=%.100s: expected %.4g to %.4g%s: the packages of the job's %d %ss draw %.4g W at their "
        "lowest clock and %.4g W at their highest",
        c->settings->power_budget.text, ceil(10 * w->least_w / unit) / 10, floor(10 * w->most_w / unit) / 10,
        name[asked.unit], node->n_all, wtl_message_noun(), w->least_w, w->most_w);
    return WTL_EXIT_CONFIG;
  }
  wtl_budget_power_start(&w->budget, watts, watts / all);
  return 0;
}

int wtl_clocks_budget_prepare(wtl_clocks *c, const wtl_clocks_node *node, char *error, size_t size)
{
  wtl_power_asked asked;
  char reason[512] = "";
  wtl_governor *g = &c->governor;
  int rc = wtl_clocks_budget_read(c->settings, &asked, error, size);
  if (rc || isnan(asked.number)) return rc;
  wtl_machine *m = wtl_machine_load(c->settings->machine.text, c->settings->sysfs.text, reason, sizeof reason);
  g->power = calloc(1, sizeof *g->power);
  if (!g->power) {
    snprintf(error, size, "no memory for the budget of watts");
    wtl_machine_free(m);
    return WTL_EXIT_OSERR;
  }
  wtl_clocks_power_read(&g->power->budget.clocks, &g->vote, m, node->n_local);
  if (g->vote.own < g->vote.n_domains) g->power->budget.normal_ghz = 1e-6 * wtl_vote_normal_khz(&g->vote, g->vote.own);
  const char *why = hindrance(c, m);
  wtl_machine_free(m);
  if (!why) return set_watts(c, node, asked, error, size);
  snprintf(error, size, "WATTLE_POWER_BUDGET: %s: %s", why, *reason ? reason : c->why);
  return WTL_EXIT_CONFIG;
}

void wtl_clocks_budget_stop(wtl_clocks *c)
{
  free(c->governor.power);
  c->governor.power = NULL;
}

void wtl_clocks_budget_write(FILE *f, const wtl_clocks *c)
{
  const wtl_power_watch *w = c->governor.power;
  if (!w) return;
  const wtl_power_plan *p = &w->budget.plan;
  bool is_metered = p->all_s > 0;
  fputs(",\"power_budget\":{", f);
  wtl_json_text_field(f, "asked", c->settings->power_budget.text, 1);
  wtl_json_number_field(f, "watts", p->budget_w, 0);
  wtl_json_number_field(f, "least_w", w->least_w, 0);
  wtl_json_number_field(f, "most_w", w->most_w, 0);
  wtl_json_number_field(f, "mean_w", is_metered ? p->all_j / p->all_s : NAN, 0);
  wtl_json_number_field(f, "highest_w", p->highest_w > 0 ? p->highest_w : NAN, 0);
  wtl_json_number_field(f, "seconds", p->all_s, 0);
  wtl_json_number_field(f, "above_s", p->above_s, 0);
  wtl_json_number_field(f, "exchanges", w->budget.exchanges, 0);
  wtl_json_number_field(f, "own_w", is_metered ? w->budget.own_j / p->all_s : NAN, 0);
  wtl_json_number_field(f, "equal_w", w->budget.equal_w, 0);
  putc('}', f);
}
