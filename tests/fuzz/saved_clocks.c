/*
 * saved_clocks.c - fuzzes the file of the clocks that a job found. Only lines of the right form and one kind are read.
 */
#include <fcntl.h>

#include "fuzz.h"
#include "power/knob/knob_saved.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  bool limits = size && data[0] & 1;
  size_t n = 1;
  if (size) data++, size--;
  int fd = open(fuzz_file(data, size), O_RDONLY);
  wtl_knob_saved *saved = wtl_knob_saved_read(fd, "/sys", limits, &n);
  FUZZ_MUST(!saved == (n == 0));
  for (size_t i = 0; i < n; i++) {
    FUZZ_MUST(saved[i].place.attribute < WTL_KNOB_ATTRIBUTES && saved[i].place.of >= 0);
    FUZZ_MUST(wtl_knob_attribute_is_limit(saved[i].place.attribute) == limits);
    FUZZ_MUST(*saved[i].value && strlen(saved[i].value) < sizeof saved[i].value && !strchr(saved[i].value, '\n'));
  }
  free(saved);
  close(fd);
  return 0;
}
