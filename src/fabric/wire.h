/*
 * wire.h - what goes over the wire. Native byte order: all nodes of a job run the same program.
 *
 * Small things travel in batches: a UCX active message WIRE_BATCH whose header is a wire_head and whose payload is
 * records, each followed by its data, padded to 8 bytes. Large puts and large answers travel alone (WIRE_PUT,
 * WIRE_DATA): header a wire_large, payload the data, which UCX places without a copy.
 */
#ifndef WTL_FABRIC_WIRE_H
#define WTL_FABRIC_WIRE_H

#include <stdint.h>

enum wire_message { WIRE_BATCH = 1, WIRE_PUT = 2, WIRE_DATA = 3 };

enum wire_kind {
  WIRE_STORE = 1, /* data: bytes to store at the place */
  WIRE_LOAD,      /* `n` bytes at the place are wanted; answered under `token` */
  WIRE_AMO,       /* data: wire_amo */
  WIRE_FLUSH,     /* answer when all that came before is done */
  WIRE_ANSWER,    /* data: what `token` waits for */
  WIRE_FLUSHED,
};

typedef struct wire_head {
  uint64_t cookie; /* of the job */
  uint32_t from;   /* PE */
  uint32_t records;
} wire_head;

typedef struct wire_record {
  uint16_t kind, unused;
  uint32_t region;
  uint64_t offset;
  uint64_t token; /* the sender's; comes back with the answer */
  uint64_t n;     /* bytes of data that follow, or that are wanted */
} wire_record;

typedef struct wire_amo {
  uint32_t op, size;
  uint64_t operand, condition;
} wire_amo;

typedef struct wire_large {
  uint64_t cookie;
  uint32_t from, region;
  uint64_t offset; /* WIRE_PUT */
  uint64_t token;  /* WIRE_DATA */
} wire_large;

#endif
