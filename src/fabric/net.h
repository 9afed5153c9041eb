/*
 * net.h - bytes to PEs of other nodes, over a transport (transport.h).
 *
 * A place on a PE is (region, offset). What regions are is the business of the room above: it gives a `home` that finds
 * a place in this process or refuses it, so that no message writes outside of what is offered.
 *
 * How: put, get and atomics are messages of ours (wire.h), served by the target's CPU. Where hardware moves bytes, puts
 * and gets of region WTL_NET_OPEN_REGION use it instead, piece by piece, once the target has sent its key; nobody's bell
 * rings then (wtl_net_is_silent).
 *
 * Order: what one PE sends to another arrives in order, but for puts of WTL_NET_LARGE bytes and more and those done by
 * hardware, which may overtake and be overtaken (wtl_net_in_order). Completion: gets and fetching operations count until
 * their result is there (wtl_net_fetched); everything else is complete at its target after wtl_net_flush, once
 * wtl_net_flushed.
 *
 * Threads: any thread may call; the calls take turns. Handlers of arriving messages run in whoever makes progress.
 */
#ifndef WTL_FABRIC_NET_H
#define WTL_FABRIC_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "node/boot.h"

enum { WTL_NET_MERGED = 1024, WTL_NET_LARGE = 32768 };
enum { WTL_NET_OPEN_REGION = 0 };
#define WTL_NET_BEAT_NS 2000000000ull
#define WTL_NET_SILENCE_NS 10000000000ull

typedef struct wtl_net wtl_net;

typedef struct wtl_place {
  uint64_t offset;
  uint32_t region;
} wtl_place;

/* The side of this PE that others reach. */
typedef struct wtl_net_home {
  void *owner;
  uint64_t open_bytes;                                    /* of region WTL_NET_OPEN_REGION, on every PE */
  void *(*find)(void *owner, wtl_place at, uint64_t n);   /* NULL: not (all of it) there */
  void (*changed)(void *owner, wtl_place at, uint64_t n); /* `n` bytes were stored; a full barrier lies between */
  void (*completed)(void *owner);                         /* an operation of this PE's own got its answer */
} wtl_net_home;

/*
 * How a put is sent: NOW, and its completion is asked for in the same message where none is asked for already; HELD,
 * small ones travel with more, at the next flush or progress; SIGNAL, now, as a message, and no flush waits for it.
 */
enum wtl_net_manner { WTL_NET_NOW, WTL_NET_HELD, WTL_NET_SIGNAL };

enum wtl_net_op {
  WTL_NET_FETCH,
  WTL_NET_SET,
  WTL_NET_SWAP,
  WTL_NET_CSWAP,
  WTL_NET_ADD,
  WTL_NET_AND,
  WTL_NET_OR,
  WTL_NET_XOR
};

/* For the profile and the tests. */
typedef struct wtl_net_counts {
  uint64_t foreign; /* messages dropped: of another job, or of none */
  uint64_t
      malformed; /* messages dropped: lengths that do not fit, places that do not exist, answers nobody asked for */
  uint64_t sent, received;             /* messages, dropped ones not counted */
  uint64_t bytes_sent, bytes_received; /* in them, headers included */
  uint64_t rma_bytes;                  /* moved by hardware for this PE's puts and gets */
} wtl_net_counts;

/* Starts the network `name`; collective. 0, or an exit code with the reason in `error`. */
int wtl_net_open(wtl_net **net, const char *name, const wtl_settings *settings, wtl_boot *boot,
                 const wtl_net_home *home, char *error, size_t size);

/* All of this PE's operations are complete, and no more will come: PEs may leave from now on without that being an
 * error. */
void wtl_net_ending(wtl_net *net);
void wtl_net_close(wtl_net *net);

/* May this PE send more, fetch more? If not, wait (and make progress): what is under way is bounded. */
bool wtl_net_has_room(const wtl_net *net);

/* True: `from` is still needed, until wtl_net_sent or after a flush. (False is the rule below WTL_NET_LARGE bytes.) */
bool wtl_net_put(wtl_net *net, int pe, wtl_place at, const void *from, size_t n, enum wtl_net_manner manner);
bool wtl_net_sent(const wtl_net *net);
void wtl_net_get(wtl_net *net, int pe, wtl_place at, void *to, size_t n);

/* An atomic operation on 4 or 8 bytes. `result` (of `size` bytes) NULL: the old value is not wanted. */
void wtl_net_amo(wtl_net *net, int pe, wtl_place at, enum wtl_net_op op, size_t size, uint64_t operand,
                 uint64_t condition, void *result);

/* Nothing this PE fetches is outstanding. */
bool wtl_net_fetched(const wtl_net *net);

/* Nothing sent after it reaches a PE before what was sent to that PE so far. */
bool wtl_net_in_order(const wtl_net *net);

/* Asks all PEs that this one sent anything to for completion; complete when `flushed`. */
void wtl_net_flush(wtl_net *net);
bool wtl_net_flushed(const wtl_net *net);

/* Sends what is held back, takes what has arrived. Returns whether anything happened. */
bool wtl_net_progress(wtl_net *net);

/* Do puts arrive that ring no bell? Who waits for one must look by himself from time to time. */
bool wtl_net_is_silent(const wtl_net *net);

const char *wtl_net_name(const wtl_net *net);
wtl_net_counts wtl_net_count(wtl_net *net);

/*
 * To be called every WTL_NET_BEAT_NS where the job has several nodes: their first PEs send each other, in a ring, a sign
 * of life, and end the job if the one before is silent for WTL_NET_SILENCE_NS. (A connection with data under way notices
 * a cut link only after TCP's retransmissions, a quarter of an hour.) False: this PE has no part in it.
 */
bool wtl_net_beat(wtl_net *net);

/* For the agent (agent.h): a descriptor that becomes readable when something arrives, and the right to sleep on it
 * (false: something is there already, progress first). */
int wtl_net_descriptor(const wtl_net *net);
bool wtl_net_arm(wtl_net *net);

#endif
