/*
 * am_inbox.h - a queue of messages that one thread at a time puts in and one takes out, in pieces of memory that are
 * used again. How much it holds is bounded by what senders may have on their way.
 */
#ifndef WTL_AM_AM_INBOX_H
#define WTL_AM_AM_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/net.h"

/* One message, or several of one tag and length, which lie one after the other, each padded to 8 bytes. */
typedef struct wtl_am_letter {
  wtl_net_tag tag;
  int from;
  uint32_t n;           /* bytes of a message */
  uint32_t count, done; /* messages; those that have been taken, the reader's to count */
  uint32_t bytes;       /* of data here */
  void *far_data;       /* not NULL: n bytes there; `owned`: to be freed */
  bool owned;
  _Alignas(16) char data[];
} wtl_am_letter;

typedef struct wtl_am_chunk wtl_am_chunk;

typedef struct wtl_am_inbox {
  wtl_am_chunk *last;  /* the writer's */
  wtl_am_chunk *first; /* the reader's */
  size_t read;
  wtl_am_chunk *_Atomic spare;
  _Atomic uint64_t in, out; /* letters so far */
} wtl_am_inbox;

/* Room for `n` bytes of data, all messages together, at most 32 KiB; NULL: no memory. It is seen after
 * wtl_am_inbox_show. */
wtl_am_letter *wtl_am_inbox_add(wtl_am_inbox *b, size_t n);
void wtl_am_inbox_show(wtl_am_inbox *b);

/* The oldest one, or NULL; it stays until wtl_am_inbox_remove. */
wtl_am_letter *wtl_am_inbox_peek(wtl_am_inbox *b);
void wtl_am_inbox_remove(wtl_am_inbox *b, wtl_am_letter *l);

static inline bool wtl_am_inbox_is_empty(const wtl_am_inbox *b)
{
  return atomic_load_explicit(&b->in, memory_order_acquire) == atomic_load_explicit(&b->out, memory_order_relaxed);
}

void wtl_am_inbox_free(wtl_am_inbox *b);

#endif
