/* wire.c - reads the records of a batch. */
#include "fabric/wire.h"

#include <string.h>

static bool is_known(const wire_record *r)
{
  return r->kind >= WIRE_STORE && r->kind <= WIRE_RING;
}

/* Flushes and answers may have no bytes. */
static bool needs_bytes(const wire_record *r)
{
  return r->kind == WIRE_STORE || r->kind == WIRE_LOAD;
}

static bool carries_data(const wire_record *r)
{
  return r->kind == WIRE_STORE || r->kind == WIRE_AMO || r->kind == WIRE_ANSWER || r->kind == WIRE_KEY ||
         r->kind == WIRE_AM;
}

/* How many times `n` bytes, padded, follow. */
static uint64_t times(const wire_record *r)
{
  return r->kind == WIRE_AM ? (uint64_t)r->more + 1 : 1;
}

bool wtl_wire_next(const char **at, const char *end, wire_record *r, const void **data)
{
  size_t left = (size_t)(end - *at), length = sizeof *r;
  if (left < length) return false;
  memcpy(r, *at, sizeof *r);
  if (!is_known(r) || (needs_bytes(r) && r->n == 0) || (r->more && r->kind != WIRE_AM)) return false;
  if (carries_data(r)) {
    if (r->n > WIRE_BATCH_BYTES || times(r) * wire_padded(r->n) > left - length) return false;
    length += times(r) * wire_padded(r->n);
  }
  *data = *at + sizeof *r;
  *at += length;
  return true;
}
