/* info.c - prints meters and machine profiles as JSON. */
#include "power/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "os/locale.h"
#include "power/machine/machine.h"
#include "power/meter.h"

static void put_pair(FILE *out, const char *key, const char *text)
{
  fprintf(out, "\"%s\": ", key);
  wtl_json_text(out, text);
  fputs(", ", out);
}

static void put_domains(FILE *out, const wtl_domain *d, size_t n)
{
  fputs("\"domains\": [", out);
  for (size_t i = 0; i < n; i++) {
    fputs(i ? ", {" : "{", out);
    put_pair(out, "name", d[i].name);
    put_pair(out, "scope", wattle_scope_name(d[i].scope));
    fprintf(out, "\"nested\": %s, \"available\": %s}", d[i].nested ? "true" : "false",
            d[i].available ? "true" : "false");
  }
  fputs("]", out);
}

static void put_meter(FILE *out, const wtl_meter_ops *kind, const wtl_meter_env *env)
{
  char why[1024] = "", grant[1024] = "";
  wtl_domain domain[WTL_MAX_DOMAINS];
  void *state = wtl_meter_open_kind(kind, env, why, sizeof why, grant, sizeof grant);
  fputs("{", out);
  put_pair(out, "name", kind->name);
  fprintf(out, "\"usable\": %s, ", state ? "true" : "false");
  put_pair(out, "why", why);
  put_pair(out, "grant", grant);
  put_domains(out, domain, state ? kind->domains(state, domain) : 0);
  fputs("}", out);
  if (state) kind->close(state);
}

void wtl_meters_json(FILE *out, const wtl_settings *s)
{
  char error[1024];
  wtl_machine *machine = wtl_machine_load(s->machine.text, s->sysfs.text, error, sizeof error);
  wtl_sys sys = wtl_sys_real;
  sys.background = false; /* a check, not a measurement */
  wtl_meter_env env = {.sysfs = s->sysfs.text, .sys = &sys, .machine = machine, .settings = s};
  fputs("[", out);
  for (size_t i = 0; wtl_meter_kinds[i]; i++) {
    if (i) fputs(", ", out);
    put_meter(out, wtl_meter_kinds[i], &env);
  }
  fputs("]", out);
  wtl_machine_free(machine);
}

typedef struct list {
  FILE *out;
  const wtl_machine *machine;
  bool more;
} list;

static int put_profile_number(void *arg, const char *key, const wtl_number *n)
{
  list *l = arg;
  fputs(l->more ? ", {" : "{", l->out);
  l->more = true;
  put_pair(l->out, "key", key);
  if (strncmp(key, "clocks[", 7) == 0) {
    fputs("\"ghz\": ", l->out);
    wtl_json_number(l->out, wtl_machine_clock_ghz(l->machine, strtoul(key + 7, NULL, 10)));
    fputs(", ", l->out);
  }
  fputs("\"value\": ", l->out);
  wtl_json_number(l->out, n->value);
  fputs(", \"plus_minus\": ", l->out);
  wtl_json_number(l->out, n->plus_minus);
  fputs(", ", l->out);
  put_pair(l->out, "unit", n->unit);
  put_pair(l->out, "tag", wtl_tag_name(n->tag));
  put_pair(l->out, "source", n->source);
  fputs("\"how\": ", l->out);
  wtl_json_text(l->out, n->how);
  fputs("}", l->out);
  return 0;
}

void wtl_machine_json(FILE *out, const wtl_settings *s)
{
  WTL_LOCALE_APART;
  char error[1024] = "";
  wtl_machine *m = wtl_machine_load(s->machine.text, s->sysfs.text, error, sizeof error);
  fputs("{", out);
  if (!m) {
    fputs("\"error\": ", out);
    wtl_json_text(out, error);
    fputs("}", out);
    return;
  }
  put_pair(out, "name", m->name);
  put_pair(out, "title", m->title);
  put_pair(out, "about", m->about);
  put_pair(out, "file", m->file);
  put_pair(out, "matched", m->matched);
  fprintf(out, "\"sockets\": %u, \"cores_per_socket\": ", m->sockets);
  wtl_json_number(out, m->cores_per_socket ? m->cores_per_socket : NAN);
  fputs(", \"base_ghz\": ", out);
  wtl_json_number(out, wtl_machine_clock_ghz(m, wtl_machine_base_clock(m)));
  fputs(", \"power_limits\": [", out);
  for (int i = 0, n = 0; i < WTL_POWER_LIMITS; i++)
    if (m->limit[i].watts > 0)
      fprintf(out, "%s{\"watts\": %g, \"window_s\": %g}", n++ ? ", " : "", m->limit[i].watts, m->limit[i].window_s);
  fputs("], \"numbers\": [", out);
  list l = {.out = out, .machine = m};
  wtl_machine_numbers(m, put_profile_number, &l);
  fputs("]}", out);
  wtl_machine_free(m);
}
