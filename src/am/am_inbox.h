/* am_inbox.h - a queue of messages from other nodes, in chunks of memory that are reused. One thread at a time
 * writes to it, and one reads from it. Its size is bounded by the bytes that senders may have pending. */
#ifndef WTL_AM_AM_INBOX_H
#define WTL_AM_AM_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/net.h"

/* One message, or several with the same tag and length, one after the other, each padded to 8 bytes. */
typedef struct wtl_am_letter {
  wtl_net_tag tag;
  int from;
  uint32_t n;           /* bytes of each message */
  uint32_t count, done; /* messages in it, and those of them that the reader has taken */
  uint32_t bytes;       /* bytes of data here */
  void *far_data;       /* not NULL: the n bytes are there; `owned`: the reader frees them */
  bool owned;
  _Alignas(16) char data[];
} wtl_am_letter;

typedef struct wtl_am_chunk wtl_am_chunk;

typedef struct wtl_am_inbox {
  wtl_am_chunk *last;  /* of the writer */
  wtl_am_chunk *first; /* of the reader */
  size_t read;
  wtl_am_chunk *_Atomic spare;
  _Atomic uint64_t in, out; /* letters so far */
} wtl_am_inbox;

/* Returns a letter with space for `n` bytes of data, for all its messages together, at most 32 KiB; NULL without
 * memory. The reader sees it after wtl_am_inbox_show. */
wtl_am_letter *wtl_am_inbox_add(wtl_am_inbox *b, size_t n);
void wtl_am_inbox_show(wtl_am_inbox *b);

/* Returns the oldest letter, or NULL. It stays until wtl_am_inbox_remove. */
wtl_am_letter *wtl_am_inbox_peek(wtl_am_inbox *b);
void wtl_am_inbox_remove(wtl_am_inbox *b, wtl_am_letter *l);

static inline bool wtl_am_inbox_is_empty(const wtl_am_inbox *b)
{
  return atomic_load_explicit(&b->in, memory_order_acquire) == atomic_load_explicit(&b->out, memory_order_relaxed);
}

void wtl_am_inbox_free(wtl_am_inbox *b);

#endif
