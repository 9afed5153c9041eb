/* boot.c - fuzzes the text that PEs and launchers exchange at start. Only numbers in range may become indices. */
#include "fuzz.h"
#include "node/boot_text.h"

enum { MOST_PES = 300, MOST_BYTES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_input in = {data, data + size};
  int n_pes = 1 + (int)fuzz_below(&in, MOST_PES), leader = -1;
  int *peers = malloc((size_t)n_pes * sizeof *peers);
  unsigned char *bytes = malloc(MOST_BYTES);
  uint64_t program;
  if (!peers || !bytes) abort();
  char *text = fuzz_line(&in, 4096);
  int n = wtl_boot_read_peers(text, n_pes, peers);
  FUZZ_MUST(n == -1 || (n >= 1 && n <= n_pes));
  for (int i = 0; i < n; i++) FUZZ_MUST(peers[i] < n_pes && peers[i] >= (i ? peers[i - 1] + 1 : 0));
  if (wtl_boot_read_leader(text, n_pes, &leader, &program)) FUZZ_MUST(leader >= 0 && leader < n_pes);
  ptrdiff_t length = wtl_boot_read_bytes(text, bytes, MOST_BYTES);
  FUZZ_MUST(length == -1 || (size_t)length == strlen(text) / 2);
  free(text);
  free(bytes);
  free(peers);
  return 0;
}
