/*
 * wattle_info.c - the program wattle-info, which prints what the library finds on this machine, as JSON for the lab.
 * `wattle-info settings` prints the table of settings only.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/settings.h"
#include "base/sigpipe.h"
#include "node/cores.h"
#include "power/info.h"

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

static void print_all(const wtl_settings *s)
{
  putchar('{');
  wtl_json_text_field(stdout, "version", WTL_VERSION, 1);
  fputs(",\n\"settings\":", stdout);
  print_settings(s);
  fputs(",\n\"meters\":", stdout);
  wtl_meters_json(stdout, s);
  fputs(",\n\"machine\":", stdout);
  wtl_machine_json(stdout, s);
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
