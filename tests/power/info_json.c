/*
 * info_json.c - prints what wattle-info says of the power room, for info_json.py to hold against a JSON parser. With an
 * argument, that is the root of the sysfs tree.
 */
#include "power/info.h"

int main(int argc, char **argv)
{
  wtl_settings s;
  char errors[1024];
  if (wtl_settings_parse(&s, errors, sizeof errors) != 0) return 2;
  if (argc > 1) s.sysfs.text = argv[1];
  printf("{\"meters\": ");
  wtl_meters_json(stdout, &s);
  printf(", \"machine\": ");
  wtl_machine_json(stdout, &s);
  printf("}\n");
  return 0;
}
