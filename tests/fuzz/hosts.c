/*
 * hosts.c - fuzzes the list of --host and a hostfile. Hosts that were read and written must be read as the same again.
 */
#include "fuzz.h"
#include "launch/hosts.h"

static void write_and_read_again(const wtl_hosts *h)
{
  wtl_hosts again;
  char error[512], *text = wtl_hosts_text(h);
  if (!text) abort();
  for (int i = 0; i < h->n; i++) FUZZ_MUST(*h->at[i].name && h->at[i].slots >= 0);
  if (h->n && !h->ranges) {
    FUZZ_MUST(wtl_hosts_of_list(&again, text, error, sizeof error));
    FUZZ_MUST(again.n == h->n);
    wtl_hosts_free(&again);
  }
  free(text);
}

static void read_one(bool good, wtl_hosts *h, const char *error)
{
  if (good) write_and_read_again(h);
  FUZZ_MUST(good || *error);
  wtl_hosts_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  wtl_hosts h;
  char error[512] = "", *list = strndup((const char *)data, size);
  if (!list) abort();
  read_one(wtl_hosts_of_list(&h, list, error, sizeof error), &h, error);
  free(list);
  *error = '\0';
  read_one(wtl_hosts_of_file(&h, fuzz_file(data, size), error, sizeof error), &h, error);
  return 0;
}
