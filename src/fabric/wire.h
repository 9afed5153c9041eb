/*
 * wire.h - the format of messages between nodes. Native byte order: all nodes of a job run the same program.
 *
 * DESIGN. Small operations travel in batches. A batch is a message WIRE_BATCH, whose payload is a wire_head and then
 * records, each followed by its data, padded to 8 bytes. It has no header, so that it leaves in one piece. Larger puts,
 * answers and messages travel alone (WIRE_PUT, WIRE_DATA, WIRE_LARGE_AM). Their header is a wire_large and their
 * payload the data, which the transport receives without a copy.
 */
#ifndef WTL_FABRIC_WIRE_H
#define WTL_FABRIC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_message { WIRE_BATCH = 1, WIRE_PUT = 2, WIRE_DATA = 3, WIRE_LARGE_AM = 4 };

/* With its head less than 32 KiB. Puts of 1 to 4 KiB in a row take a third to a half of the time of batches
 * of 8 KiB. */
enum { WIRE_BATCH_BYTES = 32256 };

enum wire_kind {
  WIRE_STORE = 1, /* data: bytes to store at the place */
  WIRE_LOAD,      /* requests `n` bytes at the place; answered under `token` */
  WIRE_AMO,       /* data: a wtl_atomic (base/amo.h); answered under `token` if that is not 0 */
  WIRE_FLUSH,     /* requests an answer when all earlier operations, except large puts, are complete */
  WIRE_ANSWER,    /* data: the bytes that were requested, if any; `token`: that of the request */
  WIRE_WANT_KEY,  /* requests the key of the piece of memory that begins at the place; answered under `token` */
  WIRE_KEY,       /* data: a wire_key, then the transport's key; none: that piece stays closed */
  /* The job ends, because a node is lost; token: the cookie's complement, so that chance cannot produce it. */
  WIRE_END,
  WIRE_AM,         /* data: a message, and `more` further ones of its length; segment, offset and token: their tag */
  WIRE_NOTICE,     /* threads of the sender may sleep: it needs a ring after each put by hardware */
  WIRE_WITHDRAWAL, /* ends that */
  WIRE_RING, /* hardware has stored in these `token` bytes at the place: the target wakes threads that wait for them */
};

typedef struct wire_head {
  uint64_t cookie; /* of the job */
  uint32_t from;   /* PE */
  uint32_t records;
} wire_head;

typedef struct wire_record {
  uint16_t kind;
  uint16_t more; /* further messages of a WIRE_AM; else 0 */
  uint32_t segment;
  uint64_t offset;
  uint64_t token; /* of the sender; the answer carries it */
  uint32_t n;     /* bytes of data that follow (WIRE_AM: of each message, padded), or that are requested */
  uint16_t mark;  /* of the call site that asked (profile/served.h) */
  uint16_t rings; /* WIRE_STORE: 1 if hardware would have stored the bytes, but for the notice of the target */
} wire_record;

typedef struct wire_key {
  uint64_t address;
} wire_key;

typedef struct wire_large {
  uint64_t cookie;
  uint32_t from, segment;
  uint64_t offset; /* WIRE_PUT; WIRE_LARGE_AM: of its tag, as are segment and token */
  uint64_t token;  /* WIRE_PUT: answered under it if it is not 0. WIRE_DATA: that of the request */
  uint64_t mark;   /* as in a record */
} wire_large;

static inline size_t wire_padded(uint64_t n)
{
  return (n + 7) & ~(size_t)7;
}

/*
 * Takes the next record from a batch of unknown origin. Fills in `r` and `data` (r->n bytes, of any alignment, if its
 * kind carries data), and advances `at`. False if the bytes before `end` do not begin with a whole record of a known
 * kind.
 */
bool wtl_wire_next(const char **at, const char *end, wire_record *r, const void **data);

#endif
