/* records.h - batches made by hand, right or wrong, for tests of the wire protocol; and random numbers. */
#ifndef WTL_TESTS_RECORDS_H
#define WTL_TESTS_RECORDS_H

#include <string.h>

#include "fabric/wire.h"

typedef struct pack {
  size_t used;
  wire_head head; /* and right behind it */
  char data[2 * WIRE_BATCH_BYTES];
} pack;

/* Adds a record that says `n`, followed by `data` zero bytes, which it returns. */
static inline void *add(pack *p, unsigned kind, uint32_t segment, uint64_t offset, uint64_t token, uint64_t n,
                        size_t data)
{
  wire_record r = {(uint16_t)kind, 0, segment, offset, token, (uint32_t)n, 0, 0};
  char *after = p->data + p->used + sizeof r;
  memcpy(p->data + p->used, &r, sizeof r);
  memset(after, 0, wire_padded(data));
  p->used += sizeof r + wire_padded(data);
  p->head.records++;
  return after;
}

/* To the record whose data add() returned: it says that so many more follow, which are zeros, too. */
static inline void add_more(pack *p, void *data, uint16_t more)
{
  wire_record r;
  char *record = (char *)data - sizeof r;
  memcpy(&r, record, sizeof r);
  r.more = more;
  memcpy(record, &r, sizeof r);
  memset(p->data + p->used, 0, more * wire_padded(r.n));
  p->used += more * wire_padded(r.n);
}

#ifndef WTL_TESTS_PES_H /* which has it, too */
/* splitmix64 */
static inline uint64_t next_random(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
#endif

#endif
