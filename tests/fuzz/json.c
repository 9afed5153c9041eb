/* JSON as anybody may have written it: the reader itself, the file of prices, and a management controller's pages. */
#include <math.h>

#include "base/json_read.h"
#include "base/prices.h"
#include "fuzz.h"
#include "power/sensor/redfish_page.h"

static void leaf(void *arg, const wtl_json_leaf *l)
{
  size_t *leaves = arg;
  ++*leaves;
  FUZZ_MUST(strlen(l->path) < WTL_JSON_PATH && strlen(l->text) < WTL_JSON_TEXT);
  FUZZ_MUST(!isnan(l->number) == (l->kind == WTL_JSON_IS_NUMBER || l->kind == WTL_JSON_IS_BOOL));
}

static void read_page(const char *text, size_t size)
{
  wtl_redfish_page page;
  char *page_text = strndup(text, size);
  if (!page_text) abort();
  wtl_redfish_page_read(page_text, &page);
  free(page_text);
  FUZZ_MUST((page.name == NULL) == (isnan(page.watts) != 0));
}

static void read_prices(const uint8_t *data, size_t size)
{
  wtl_settings settings = {.prices.text = fuzz_file(data, size)};
  wtl_prices prices;
  wtl_prices_read(&settings, &prices);
  FUZZ_MUST(prices.known || *prices.why);
  FUZZ_MUST(prices.known || isnan(prices.median_s[0][0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_input in = {data, data + size};
  size_t n, leaves = 0;
  char *text = (char *)fuzz_bytes(&in, size, &n);
  wtl_json_read(text, n, leaf, &leaves);
  FUZZ_MUST(leaves <= n); /* a value takes a byte at least */
  read_page(text, n);
  free(text);
  read_prices(data, size);
  return 0;
}
