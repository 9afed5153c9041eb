/* The parser of batches: what was written comes back, and no byte beyond the end is read, whatever arrives. */
#include <stdlib.h>

#include "power/check.h"
#include "net/records.h"

/* A block of exactly `n` bytes, at any alignment, so that the sanitizer sees a byte read too much. */
static char *exactly(const char *from, size_t n, size_t odd, char **block)
{
  *block = malloc(odd + n);
  if (n) memcpy(*block + odd, from, n);
  return *block + odd;
}

static void records_come_back_as_they_were_written(void)
{
  static const unsigned kinds[] = {WIRE_STORE, WIRE_LOAD, WIRE_AMO, WIRE_FLUSH, WIRE_ANSWER, WIRE_WANT_KEY};
  uint64_t random = 1;
  for (int round = 0; round < 2000; round++) {
    pack p = {0};
    wire_record wrote[20], r;
    const void *data;
    size_t n = next_random(&random) % 20;
    for (size_t i = 0; i < n; i++) {
      wrote[i] = (wire_record){(uint16_t)kinds[next_random(&random) % 6],
                               0,
                               (uint32_t)next_random(&random),
                               next_random(&random),
                               next_random(&random),
                               1 + next_random(&random) % 300};
      bool carries = wrote[i].kind == WIRE_STORE || wrote[i].kind == WIRE_AMO || wrote[i].kind == WIRE_ANSWER;
      char *mark = add(&p, wrote[i].kind, wrote[i].region, wrote[i].offset, wrote[i].token, wrote[i].n,
                       carries ? wrote[i].n : 0);
      if (carries && wrote[i].n) *mark = (char)i;
    }
    char *block;
    const char *at = exactly(p.data, p.used, next_random(&random) % 8, &block), *end = at + p.used;
    for (size_t i = 0; i < n; i++) {
      bool carries = wrote[i].kind == WIRE_STORE || wrote[i].kind == WIRE_AMO || wrote[i].kind == WIRE_ANSWER;
      CHECK(wire_next(&at, end, &r, &data));
      CHECK(memcmp(&r, &wrote[i], sizeof r) == 0);
      CHECK(!carries || !r.n || *(const char *)data == (char)i);
    }
    CHECK(at == end && !wire_next(&at, end, &r, &data));
    free(block);
  }
}

static void every_truncation_is_noticed(void)
{
  pack p = {0};
  add(&p, WIRE_STORE, 0, 8, 0, 21, 21);
  for (size_t n = 0; n < p.used; n++) {
    char *block;
    const char *at = exactly(p.data, n, 1, &block), *start = at;
    wire_record r;
    const void *data;
    CHECK(!wire_next(&at, at + n, &r, &data) && at == start);
    free(block);
  }
}

/* Whatever is accepted lies between where it began and the end. */
static void noise_is_never_read_beyond_its_end(void)
{
  uint64_t random = 2;
  for (int round = 0; round < 200000; round++) {
    char noise[160];
    size_t n = next_random(&random) % sizeof noise;
    for (size_t i = 0; i + 8 <= sizeof noise; i += 8) {
      uint64_t word = next_random(&random);
      /* Small numbers where a kind or a length would be, or nothing is ever accepted. */
      if (word % 4) word = word >> 8 & (word % 2 ? 0xf : 0xff);
      memcpy(noise + i, &word, 8);
    }
    char *block;
    const char *at = exactly(noise, n, round % 8, &block), *end = at + n, *before = at;
    wire_record r;
    const void *data;
    for (; wire_next(&at, end, &r, &data); before = at) {
      CHECK(at > before && at <= end && (const char *)data >= before && (const char *)data <= at);
    }
    CHECK(at == before);
    free(block);
  }
}

TESTS(TEST(records_come_back_as_they_were_written), TEST(every_truncation_is_noticed),
      TEST(noise_is_never_read_beyond_its_end))
