/*
 * net.h - bytes to PEs of other nodes. One interface, one file for each network (net_ucx.c).
 *
 * A place on a PE is (region, offset). What regions are is the business of the room above: it gives a `home` that finds
 * a place in this process or refuses it, so that no message writes outside of what is offered.
 *
 * Order: what one PE sends to another arrives in order, but for puts of WTL_NET_LARGE bytes and more, which may be
 * overtaken. Completion: gets and fetching operations count in `fetches` until their result is there; everything else
 * is complete at its target after `flush` and `flushed`.
 *
 * Threads: any thread may call; the calls take turns. Handlers of arriving messages run in whoever makes progress.
 */
#ifndef WTL_FABRIC_NET_H
#define WTL_FABRIC_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/boot.h"

enum { WTL_NET_MERGED = 1024, WTL_NET_LARGE = 32768 };
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
  void *(*find)(void *owner, wtl_place at, uint64_t n);   /* NULL: not (all of it) there */
  void (*changed)(void *owner, wtl_place at, uint64_t n); /* `n` bytes were stored; a full barrier lies between */
  void (*completed)(void *owner);                         /* an operation of this PE's own got its answer */
} wtl_net_home;

/*
 * How a put is sent: NOW, and its completion is asked for in the same message where none is asked for already; HELD,
 * small ones travel with more, at the next flush or progress; SIGNAL, now, and no flush waits for it.
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

/* What was dropped, and why; for the profile and the tests. */
typedef struct wtl_net_counts {
  uint64_t foreign;   /* of another job, or of none */
  uint64_t malformed; /* lengths that do not fit, places that do not exist */
} wtl_net_counts;

typedef struct wtl_net_ops {
  const char *name;
  /* Collective. 0, or an exit code with the reason in `error`. */
  int (*start)(wtl_net **net, wtl_boot *boot, const wtl_net_home *home, char *error, size_t size);
  /* All of this PE's operations are complete, and no more will come: PEs may leave from now on without that being an
   * error. */
  void (*ending)(wtl_net *net);
  void (*stop)(wtl_net *net);

  /* May this PE send more? If not, wait (and make progress): what is under way is bounded. */
  bool (*has_room)(const wtl_net *net);

  /* `from` may be changed when `sent` says so or after a flush; what is shorter than WTL_NET_LARGE is copied at once.
   */
  void (*put)(wtl_net *net, int pe, wtl_place at, const void *from, size_t n, enum wtl_net_manner manner);
  bool (*sent)(const wtl_net *net);
  void (*get)(wtl_net *net, int pe, wtl_place at, void *to, size_t n);

  /* An atomic operation on 4 or 8 bytes. `result` (of `size` bytes) NULL: the old value is not wanted. */
  void (*amo)(wtl_net *net, int pe, wtl_place at, enum wtl_net_op op, size_t size, uint64_t operand, uint64_t condition,
              void *result);

  /* Nothing this PE fetches is outstanding. */
  bool (*fetched)(const wtl_net *net);

  /* Nothing sent after it reaches a PE before what was sent to that PE so far. */
  bool (*in_order)(const wtl_net *net);

  /* Asks all PEs that this one sent anything to for completion; complete when `flushed`. */
  void (*flush)(wtl_net *net);
  bool (*flushed)(const wtl_net *net);

  /* Sends what is held back, takes what has arrived. Returns whether anything happened. */
  bool (*progress)(wtl_net *net);
  wtl_net_counts (*counts)(const wtl_net *net);

  /*
   * To be called every WTL_NET_BEAT_NS where the job has several nodes: their first PEs send each other, in a ring, a sign
   * of life, and end the job if the one before is silent for WTL_NET_SILENCE_NS. (A connection with data under way notices a
   * cut link only after TCP's retransmissions, a quarter of an hour.) False: this PE has no part in it.
   */
  bool (*beat)(wtl_net *net);

  /* For the agent (agent.h): a descriptor that becomes readable when something arrives, and the right to sleep on it
   * (false: something is there already, progress first). */
  int (*descriptor)(const wtl_net *net);
  bool (*arm)(wtl_net *net);
} wtl_net_ops;

/* The first member of every network's own struct. */
struct wtl_net {
  const wtl_net_ops *ops;
};

/*
 * Loads a network and starts it; collective. Networks are modules beside this library (libwattle-net-NAME.so, which
 * exports wtl_net_NAME), so that a job on one node loads nothing of them. 0, or an exit code with the reason in
 * `error`.
 */
int wtl_net_open(wtl_net **net, const char *name, wtl_boot *boot, const wtl_net_home *home, char *error, size_t size);

#endif
