/*
 * wire.h - what goes over the wire. Native byte order: all nodes of a job run the same program.
 *
 * Small things travel in batches: a message WIRE_BATCH, whose payload is a wire_head and, right behind it, records,
 * each followed by its data, padded to 8 bytes. It has no header, so that it leaves in one piece. Larger puts and
 * answers travel alone (WIRE_PUT, WIRE_DATA, WIRE_LARGE_AM): header a wire_large, payload the data, which the transport
 * places without a copy.
 */
#ifndef WTL_FABRIC_WIRE_H
#define WTL_FABRIC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_message { WIRE_BATCH = 1, WIRE_PUT = 2, WIRE_DATA = 3, WIRE_LARGE_AM = 4 };

/* With its head less than 32 KiB. Puts of 1 to 4 KiB in a row take a third to a half of the time that batches of 8 KiB
 * need. */
enum { WIRE_BATCH_BYTES = 32256 };

enum wire_kind {
  WIRE_STORE = 1, /* data: bytes to store at the place */
  WIRE_LOAD,      /* `n` bytes at the place are wanted; answered under `token` */
  WIRE_AMO,       /* data: a wtl_atomic (base/amo.h); answered under `token` if that is not 0 */
  WIRE_FLUSH,     /* answer when all that came before, but for large puts, is done */
  WIRE_ANSWER,    /* data: what `token` waits for; none: it waits only for this */
  WIRE_WANT_KEY,  /* for the piece of memory that begins at the place; answered under `token` */
  WIRE_KEY,       /* data: wire_key, then the transport's own; none: that piece stays closed */
  WIRE_END,       /* the job ends: a node is lost; token: the cookie's complement, so that no accident says it */
  WIRE_AM, /* data: a message of the room above, and `more` of its length; segment, offset and token: their tag */
};

typedef struct wire_head {
  uint64_t cookie; /* of the job */
  uint32_t from;   /* PE */
  uint32_t records;
} wire_head;

typedef struct wire_record {
  uint16_t kind;
  uint16_t more; /* WIRE_AM; else 0 */
  uint32_t segment;
  uint64_t offset;
  uint64_t token; /* the sender's; comes back with the answer */
  uint64_t n;     /* bytes of data that follow (WIRE_AM: of each message, padded), or that are wanted */
} wire_record;

typedef struct wire_key {
  uint64_t address;
} wire_key;

typedef struct wire_large {
  uint64_t cookie;
  uint32_t from, segment;
  uint64_t offset; /* WIRE_PUT; WIRE_LARGE_AM: of its tag, as segment and token */
  uint64_t token;  /* WIRE_PUT: answered under it when done, if it is not 0. WIRE_DATA: whose data these are */
} wire_large;

static inline size_t wire_padded(uint64_t n)
{
  return (n + 7) & ~(size_t)7;
}

/*
 * Takes the next record from a batch of unknown origin: fills in `r` and `data` (r->n bytes where its kind carries
 * data; of any alignment) and moves `at` on. False if what is left before `end` does not begin with a whole record of a
 * known kind.
 */
bool wire_next(const char **at, const char *end, wire_record *r, const void **data);

#endif
