/* ucx_paths.c - the paths of an endpoint: by UCX's query from 1.14 on, before that from its description in text. */
#include "fabric/ucx/ucx_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 128 };

#if UCP_API_VERSION >= UCP_VERSION(1, 14)

enum { MOST_PATHS = 64 }; /* UCX 1.18 has at most 16 for an endpoint */

/* Without names the UCX that is loaded is older than the one that this was compiled with. */
void wtl_ucx_paths_each(ucp_ep_h ep, wtl_ucx_path_fn *take, void *arg)
{
  ucp_transport_entry_t entries[MOST_PATHS] = {{0}};
  ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
                        .transports = {.entries = entries, .num_entries = MOST_PATHS, .entry_size = sizeof *entries}};
  char path[PATH_BYTES];
  if (ucp_ep_query(ep, &attr) != UCS_OK) return;
  for (unsigned i = 0; i < attr.transports.num_entries; i++) {
    if (!entries[i].transport_name || !entries[i].device_name) continue;
    snprintf(path, sizeof path, "%s/%s", entries[i].transport_name, entries[i].device_name);
    take(arg, path);
  }
}

#else

/* One transport ("lane") of the endpoint in a line: "lane[0]: 2:tcp/eth0.0 md[1] ...". The caller frees it. NULL: no
 * memory. */
static char *description(ucp_ep_h ep)
{
  char *words = NULL;
  size_t length;
  FILE *out = open_memstream(&words, &length);
  if (!out) return NULL;
  ucp_ep_print_info(ep, out);
  fclose(out);
  return words;
}

/* Finds transport and device in a line of such a text, without the number of the path at its end. */
static const char *path_in(const char *line, size_t *length)
{
  const char *at = strstr(line, "lane[");
  if (!at || !(at = strstr(at, ": ")) || !(at = strchr(at + 1, ':'))) return NULL;
  *length = strcspn(++at, " \n");
  for (size_t n = *length; n > 0 && at[n - 1] != '/'; n--)
    if (at[n - 1] == '.') {
      if (strspn(at + n, "0123456789") == *length - n) *length = n - 1;
      break;
    }
  return at;
}

void wtl_ucx_paths_each(ucp_ep_h ep, wtl_ucx_path_fn *take, void *arg)
{
  char *words = description(ep), *save = NULL, path[PATH_BYTES];
  size_t length;
  for (char *line = words ? strtok_r(words, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
    const char *at = path_in(line, &length);
    if (!at) continue;
    snprintf(path, sizeof path, "%.*s", (int)length, at);
    take(arg, path);
  }
  free(words);
}

#endif
