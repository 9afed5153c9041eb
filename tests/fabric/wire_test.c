/*
 * wire_test.c - tests the parser of batches: it returns the written records and never reads beyond the end of any
 * input.
 */
#include <stdlib.h>

#include "power/check.h"
#include "fabric/records.h"

/* A block of exactly `n` bytes, at any alignment, so that the sanitizer sees a byte read too much. */
static char *exactly(const char *from, size_t n, size_t odd, char **block)
{
  *block = malloc(odd + n);
  if (n) memcpy(*block + odd, from, n);
  return *block + odd;
}

static bool carries_data(unsigned kind)
{
  return kind == WIRE_STORE || kind == WIRE_AMO || kind == WIRE_ANSWER || kind == WIRE_AM;
}

static void records_come_back_as_they_were_written(void)
{
  static const unsigned kinds[] = {WIRE_STORE, WIRE_LOAD, WIRE_AMO, WIRE_FLUSH, WIRE_ANSWER, WIRE_WANT_KEY, WIRE_AM};
  uint64_t random = 1;
  for (int round = 0; round < 2000; round++) {
    pack p = {0};
    wire_record wrote[20], r;
    const void *data;
    size_t n = next_random(&random) % 20;
    for (size_t i = 0; i < n; i++) {
      wrote[i] = (wire_record){(uint16_t)kinds[next_random(&random) % 7],
                               0,
                               (uint32_t)next_random(&random),
                               next_random(&random),
                               next_random(&random),
                               1 + next_random(&random) % 300,
                               (uint16_t)next_random(&random),
                               0};
      bool carries = carries_data(wrote[i].kind);
      char *data_of = add(&p, wrote[i].kind, wrote[i].segment, wrote[i].offset, wrote[i].token, wrote[i].n,
                          carries ? wrote[i].n : 0);
      memcpy(data_of - sizeof r + offsetof(wire_record, mark), &wrote[i].mark, sizeof wrote[i].mark);
      if (wrote[i].kind == WIRE_AM) add_more(&p, data_of, wrote[i].more = (uint16_t)(next_random(&random) % 4));
      if (carries && wrote[i].n) *data_of = (char)i;
    }
    char *block;
    const char *at = exactly(p.data, p.used, next_random(&random) % 8, &block), *end = at + p.used;
    for (size_t i = 0; i < n; i++) {
      bool carries = carries_data(wrote[i].kind);
      CHECK(wtl_wire_next(&at, end, &r, &data));
      CHECK(memcmp(&r, &wrote[i], sizeof r) == 0);
      CHECK(!carries || !r.n || *(const char *)data == (char)i);
    }
    CHECK(at == end && !wtl_wire_next(&at, end, &r, &data));
    free(block);
  }
}

static void expect_no_record_before_its_end(const pack *p)
{
  for (size_t n = 0; n < p->used; n++) {
    char *block;
    const char *at = exactly(p->data, n, 1, &block), *start = at;
    wire_record r;
    const void *data;
    CHECK(!wtl_wire_next(&at, at + n, &r, &data) && at == start);
    free(block);
  }
}

static void every_truncation_is_noticed(void)
{
  pack store = {0}, messages = {0};
  add(&store, WIRE_STORE, 0, 8, 0, 21, 21);
  expect_no_record_before_its_end(&store);
  add_more(&messages, add(&messages, WIRE_AM, 1, 0, 8, 21, 21), 2);
  expect_no_record_before_its_end(&messages);
}

static void only_messages_have_more(void)
{
  for (unsigned kind = WIRE_STORE; kind <= WIRE_AM; kind++) {
    pack p = {0};
    wire_record r;
    const void *data;
    add_more(&p, add(&p, kind, 0, 0, 0, 8, 8), 3);
    const char *at = p.data;
    CHECK(wtl_wire_next(&at, p.data + p.used, &r, &data) == (kind == WIRE_AM));
    CHECK(at == (kind == WIRE_AM ? p.data + p.used : p.data));
  }
}

/* An accepted record lies between the start and the end. */
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
    noise[2] &= 3; /* few more */
    noise[3] = 0;
    char *block;
    const char *at = exactly(noise, n, round % 8, &block), *end = at + n, *before = at;
    wire_record r;
    const void *data;
    for (; wtl_wire_next(&at, end, &r, &data); before = at) {
      CHECK(at > before && at <= end && (const char *)data >= before && (const char *)data <= at);
    }
    CHECK(at == before);
    free(block);
  }
}

TESTS(TEST(records_come_back_as_they_were_written), TEST(every_truncation_is_noticed), TEST(only_messages_have_more),
      TEST(noise_is_never_read_beyond_its_end))
