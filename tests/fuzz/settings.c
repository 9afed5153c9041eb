/* Values of settings: those of the table, and the lists that some of them are. */
#include <math.h>

#include "base/settings.h"
#include "fuzz.h"
#include "govern/clock_plan.h"
#include "govern/thresholds.h"

/* A value that is taken is printed as text that is taken as the same. Texts are left out: any is, and is kept. */
static void read_value(const wtl_setting *row, size_t i, const char *text)
{
  wtl_settings s, again;
  char errors[1024], first[512], second[512];
  if (row->kind == WTL_SET_TEXT) return;
  setenv(row->name, text, 1);
  if (wtl_settings_parse(&s, errors, sizeof errors) == 0) {
    setenv(row->name, wtl_settings_text(&s, i, first, sizeof first), 1);
    if (row->kind != WTL_SET_SECONDS) { /* these are printed in six digits */
      FUZZ_MUST(wtl_settings_parse(&again, errors, sizeof errors) == 0);
      FUZZ_MUST(strcmp(first, wtl_settings_text(&again, i, second, sizeof second)) == 0);
    }
  } else {
    FUZZ_MUST(*errors);
  }
  unsetenv(row->name);
}

static void read_thresholds(const char *text)
{
  uint64_t bytes[WTL_TRANSFER_KINDS];
  char error[512] = "";
  bool learns;
  FUZZ_MUST(wtl_thresholds_read(text, bytes, &learns, error, sizeof error) == 0 || *error);
}

static void read_plan(const char *text, int pe)
{
  double ghz = wtl_clocks_plan_ghz(text, pe);
  FUZZ_MUST(isnan(ghz) || (ghz >= 0 && ghz < 100));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_input in = {data, data + size};
  size_t rows;
  const wtl_setting *table = wtl_settings_table(&rows);
  size_t i = fuzz_below(&in, rows);
  int pe = (int)fuzz_number(&in, 2);
  char *text = fuzz_line(&in, 400);
  read_value(&table[i], i, text);
  read_thresholds(text);
  read_plan(text, pe);
  free(text);
  return 0;
}
