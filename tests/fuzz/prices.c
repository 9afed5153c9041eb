/* The file of prices of waiting, as anybody may have written it. */
#include <math.h>

#include "base/prices.h"
#include "fuzz.h"

/* In an input, KEY stands for the key of this machine. */
static const uint8_t *with_key(const uint8_t *data, size_t size, const char *key, size_t *length)
{
  static uint8_t text[1 << 17];
  size_t n = 0;
  for (size_t i = 0; i < size && n + 16 < sizeof text;) {
    bool here = size - i >= 3 && memcmp(data + i, "KEY", 3) == 0;
    memcpy(text + n, here ? (const uint8_t *)key : data + i, here ? 16 : 1);
    n += here ? 16 : 1;
    i += here ? 3 : 1;
  }
  *length = n;
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  wtl_prices_machine machine;
  wtl_prices prices;
  char file[512], why[256];
  size_t n;
  wtl_prices_this_machine(&machine);
  setenv("XDG_CACHE_HOME", "/", 1);
  FUZZ_MUST(wtl_prices_file(&machine, file, sizeof file, why, sizeof why));
  const uint8_t *text = with_key(data, size, file + strlen(file) - strlen("0123456789abcdef.json"), &n);
  wtl_settings settings = {.prices.text = fuzz_file(text, n)};
  wtl_prices_read(&settings, &prices);
  FUZZ_MUST(prices.known || *prices.why);
  FUZZ_MUST(prices.known || isnan(prices.median_s[0][0]));
  return 0;
}
