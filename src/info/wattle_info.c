/*
 * wattle_info.c - the program wattle-info, which prints what the library finds on this machine, as JSON for the lab.
 * `wattle-info settings` prints the table of settings only.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/settings.h"
#include "base/sigpipe.h"
#include "node/cores.h"
#include "os/locale.h"
#include "power/machine/machine.h"
#include "power/meter.h"

static void print_settings(const wtl_settings *s)
{
  static const char *const kinds[] = {"bool", "flag", "int", "size", "seconds", "choice", "text"};
  size_t count;
  const wtl_setting *row = wtl_settings_table(&count);
  char value[4096];
  putchar('[');
  for (size_t i = 0; i < count; i++) {
    bool ranged = row[i].kind == WTL_SET_INT || row[i].kind == WTL_SET_SIZE || row[i].kind == WTL_SET_SECONDS;
    fputs(i ? ",\n {" : "\n {", stdout);
    wtl_json_text_field(stdout, "name", row[i].name, 1);
    wtl_json_text_field(stdout, "kind", kinds[row[i].kind], 0);
    wtl_json_text_field(stdout, "unit", row[i].unit, 0);
    wtl_json_text_field(stdout, "default", row[i].def, 0);
    wtl_json_number_field(stdout, "lo", ranged ? row[i].lo : __builtin_nan(""), 0);
    wtl_json_number_field(stdout, "hi", ranged ? row[i].hi : __builtin_nan(""), 0);
    wtl_json_text_field(stdout, "choices", row[i].choices, 0);
    wtl_json_text_field(stdout, "help", row[i].help, 0);
    wtl_json_text_field(stdout, "value", wtl_settings_text(s, i, value, sizeof value), 0);
    putchar('}');
  }
  putchar(']');
}

/* ---- meters and the machine profile ---- */

static void put_flag(const char *key, bool value)
{
  wtl_json_key(stdout, key, 0);
  fputs(value ? "true" : "false", stdout);
}

static void put_meter(const wtl_meter_ops *kind, const wtl_meter_env *env)
{
  char why[1024] = "", grant[1024] = "";
  wtl_domain domain[WTL_MAX_DOMAINS];
  void *state = wtl_meter_open_kind(kind, env, why, sizeof why, grant, sizeof grant);
  size_t n = state ? kind->domains(state, domain) : 0;
  putchar('{');
  wtl_json_text_field(stdout, "name", kind->name, 1);
  put_flag("usable", state != NULL);
  wtl_json_text_field(stdout, "why", why, 0);
  wtl_json_text_field(stdout, "grant", grant, 0);
  fputs(",\"domains\":[", stdout);
  for (const wtl_domain *d = domain; d < domain + n; d++) {
    fputs(d > domain ? ",{" : "{", stdout);
    wtl_json_text_field(stdout, "name", d->name, 1);
    wtl_json_text_field(stdout, "scope", wattle_scope_name(d->scope), 0);
    put_flag("nested", d->nested);
    put_flag("available", d->available);
    putchar('}');
  }
  fputs("]}", stdout);
  if (state) kind->close(state);
}

/*
 * Prints an array with one object for each kind of meter, best first:
 *
 *   {"name", "usable", "why", "grant", "domains": [{"name", "scope", "nested", "available"}]}
 *
 * `why` says what is missing. `grant` says how to give access safely, one command or remark after '#' a line; "" if no
 * permission would help.
 */
static void print_meters(const wtl_settings *s)
{
  char error[1024];
  wtl_machine *machine = wtl_machine_load(s->machine.text, s->sysfs.text, error, sizeof error);
  wtl_sys sys = wtl_sys_real;
  sys.background = false; /* a check, not a measurement */
  wtl_meter_env env = {.sysfs = s->sysfs.text, .sys = &sys, .machine = machine, .settings = s};
  for (size_t i = 0; wtl_meter_kinds[i]; i++) {
    putchar(i ? ',' : '[');
    put_meter(wtl_meter_kinds[i], &env);
  }
  putchar(']');
  wtl_machine_free(machine);
}

typedef struct list {
  const wtl_machine *machine;
  bool more;
} list;

static int put_profile_number(void *arg, const char *key, const wtl_number *n)
{
  list *l = arg;
  fputs(l->more ? ",{" : "{", stdout);
  l->more = true;
  wtl_json_text_field(stdout, "key", key, 1);
  if (strncmp(key, "clocks[", 7) == 0)
    wtl_json_number_field(stdout, "ghz", wtl_machine_clock_ghz(l->machine, strtoul(key + 7, NULL, 10)), 0);
  wtl_json_number_field(stdout, "value", n->value, 0);
  wtl_json_number_field(stdout, "plus_minus", n->plus_minus, 0);
  wtl_json_text_field(stdout, "unit", n->unit, 0);
  wtl_json_text_field(stdout, "tag", wtl_tag_name(n->tag), 0);
  wtl_json_text_field(stdout, "source", n->source, 0);
  wtl_json_text_field(stdout, "how", n->how, 0);
  putchar('}');
  return 0;
}

/*
 * Prints the machine profile that the settings choose:
 *
 *   {"name", "title", "about", "file", "matched", "sockets", "cores_per_socket", "base_ghz",
 *    "power_limits": [{"watts", "window_s"}] (of a package, those in force),
 *    "numbers": [{"key", "value", "plus_minus", "unit", "tag", "source", "how", "ghz" (clocks only)}]}
 *
 * or {"error": "..."} if there is no such profile or it is wrong.
 */
static void print_machine(const wtl_settings *s)
{
  WTL_LOCALE_APART;
  char error[1024] = "";
  wtl_machine *m = wtl_machine_load(s->machine.text, s->sysfs.text, error, sizeof error);
  putchar('{');
  if (!m) {
    wtl_json_text_field(stdout, "error", error, 1);
    putchar('}');
    return;
  }
  wtl_json_text_field(stdout, "name", m->name, 1);
  wtl_json_text_field(stdout, "title", m->title, 0);
  wtl_json_text_field(stdout, "about", m->about, 0);
  wtl_json_text_field(stdout, "file", m->file, 0);
  wtl_json_text_field(stdout, "matched", m->matched, 0);
  wtl_json_number_field(stdout, "sockets", m->sockets, 0);
  wtl_json_number_field(stdout, "cores_per_socket", m->cores_per_socket ? m->cores_per_socket : NAN, 0);
  wtl_json_number_field(stdout, "base_ghz", wtl_machine_clock_ghz(m, wtl_machine_base_clock(m)), 0);
  fputs(",\"power_limits\":[", stdout);
  for (int i = 0, n = 0; i < WTL_POWER_LIMITS; i++)
    if (m->limit[i].watts > 0)
      printf("%s{\"watts\":%g,\"window_s\":%g}", n++ ? "," : "", m->limit[i].watts, m->limit[i].window_s);
  fputs("],\"numbers\":[", stdout);
  list l = {.machine = m};
  wtl_machine_numbers(m, put_profile_number, &l);
  fputs("]}", stdout);
  wtl_machine_free(m);
}

/* ---- all ---- */

static void print_all(const wtl_settings *s)
{
  putchar('{');
  wtl_json_text_field(stdout, "version", WTL_VERSION, 1);
  fputs(",\n\"settings\":", stdout);
  print_settings(s);
  fputs(",\n\"meters\":", stdout);
  print_meters(s);
  fputs(",\n\"machine\":", stdout);
  print_machine(s);
  wtl_json_text_field(stdout, "pmix", WTL_PMIX_VERSION, 0);
  fputs(",\n\"waits\":{", stdout);
  wtl_json_number_field(stdout, "cores_allowed", wtl_cores_allowed(), 1);
  fputs("}}", stdout);
}

int main(int argc, char **argv)
{
  wtl_settings s;
  char errors[4096];
  wtl_sigpipe_outlive();
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "settings") != 0)) {
    fputs("usage: wattle-info [settings]\nPrints what the library knows of itself and this machine, as JSON.\n",
          stderr);
    return WTL_EXIT_USAGE;
  }
  if (wtl_settings_parse(&s, errors, sizeof errors) != 0) {
    fprintf(stderr, "%s", errors);
    return WTL_EXIT_CONFIG;
  }
  if (argc == 2)
    print_settings(&s);
  else
    print_all(&s);
  putchar('\n');
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : WTL_EXIT_OSERR;
}
