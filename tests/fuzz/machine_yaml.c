/* machine_yaml.c - fuzzes machine profiles. An accepted profile keeps the rules, and a refused one has a reason. */
#include <math.h>

#include "fuzz.h"
#include "power/machine/machine.h"

static int is_good(void *arg, const char *key, const wtl_number *n)
{
  (void)arg;
  FUZZ_MUST(*key && isfinite(n->value) && n->value >= 0 && isfinite(n->plus_minus) && n->plus_minus >= 0 && n->unit);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_input in = {data, data + size};
  char error[512] = "", *text;
  size_t n;
  uint8_t *bytes = fuzz_bytes(&in, size, &n);
  text = malloc(n + 1); /* its reader is given a NUL behind the last byte, and the length without it */
  if (!text) abort();
  memcpy(text, bytes, n);
  text[n] = '\0';
  free(bytes);
  wtl_machine *m = wtl_machine_parse("profile.yaml", text, n, error, sizeof error);
  FUZZ_MUST(m ? wtl_machine_clocks(m) >= 1 && *wtl_machine_name(m) : *error);
  if (m) {
    wtl_machine_numbers(m, is_good, NULL);
    FUZZ_MUST(wtl_machine_base_clock(m) < wtl_machine_clocks(m));
    wtl_machine_matches(m, text);
  }
  wtl_machine_free(m);
  free(text);
  return 0;
}
