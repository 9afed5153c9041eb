/*
 * transport.h - messages from process to process, and remote memory access where the network has it: what a network
 * must offer for src/fabric/net.h to run on it. One folder for each kind: ucx, mpi, sim,
 * threads.
 *
 * Order: messages from one PE to another arrive in the order they were sent. The data of one that was sent by
 * rendezvous may follow later; one that was sent apart or aside has no order with the others.
 *
 * Threads: the caller holds one lock around every call; everything a transport calls back, it calls from inside one of
 * these calls, but for `closing`.
 */
#ifndef WTL_FABRIC_TRANSPORT_H
#define WTL_FABRIC_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "node/boot.h"

typedef struct wtl_transport wtl_transport;

typedef void (*wtl_done_fn)(void *arg);

/*
 * How a message is sent: EAGER, it needs no answer of its target to leave; by RENDEZVOUS where that serves long ones;
 * APART, eager and on a connection of its own, so that what is queued on the other does not hold it up; ASIDE, as by
 * RENDEZVOUS, but on a third one, so that it does not hold up others.
 */
enum wtl_send_manner { WTL_SEND_EAGER, WTL_SEND_RENDEZVOUS, WTL_SEND_APART, WTL_SEND_ASIDE };

static inline bool wtl_may_send_later(enum wtl_send_manner manner)
{
  return manner == WTL_SEND_RENDEZVOUS || manner == WTL_SEND_ASIDE;
}

static inline bool wtl_is_ordered(enum wtl_send_manner manner)
{
  return manner == WTL_SEND_EAGER || manner == WTL_SEND_RENDEZVOUS;
}

/* The side that gets what arrives. */
typedef struct wtl_transport_home {
  void *owner;
  /*
   * A message is here; header and data are valid during the call. Where `later`, the data are not here yet: `data` is a
   * handle for `receive`, to be called before this returns, or the message is dropped.
   */
  void (*arrived)(void *owner, unsigned message, const void *header, size_t header_bytes, void *data, size_t n,
                  bool later);
  void (*lost)(void *owner, int pe, const char *why); /* the connection to a PE is gone */
  /* In the program's thread, outside any call: it is about to end what the network runs on. When this returns the
   * network has been stopped. */
  void (*closing)(void *owner);
} wtl_transport_home;

/* Memory of a PE that others may reach by hardware. */
typedef struct wtl_transport_key {
  void *handle;     /* the transport's */
  uint64_t address; /* where the memory begins at its owner's */
} wtl_transport_key;

typedef struct wtl_transport_ops {
  const char *name;
  bool keeps_order; /* the data of a message of up to WTL_NET_MOST bytes, too, if it is sent by rendezvous */

  /* Publishes what others need to reach this process (they look it up on first contact, after a fence of the caller's).
   * 0, or an exit code with the reason in `error`. */
  int (*start)(wtl_transport **t, const wtl_settings *settings, wtl_boot *boot, const wtl_transport_home *home,
               char *error, size_t size);
  void (*stop)(wtl_transport *t);

  /*
   * Sends a message, small integer `message` in [1, 4]. Header and data must stay until `done`, which may be called
   * before this returns.
   */
  void (*send)(wtl_transport *t, int pe, unsigned message, const void *header, size_t header_bytes, const void *data,
               size_t n, enum wtl_send_manner manner, wtl_done_fn done, void *arg);

  /* Takes the data of a message that came `later` to where they belong. */
  void (*receive)(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg);

  /* Moves things along; returns whether anything happened. */
  bool (*progress)(wtl_transport *t);

  /* A descriptor that becomes readable when something arrives, and the right to sleep on it (false: progress first). */
  int (*descriptor)(const wtl_transport *t);
  bool (*arm)(wtl_transport *t);

  /* --- remote memory access ----------------------------------------------------------------------------------------*/

  /* Does hardware move bytes to and from this PE's memory? */
  bool (*has_rma)(wtl_transport *t, int pe);

  /* Opens this process's memory to others for as long as the transport runs. `key`: `*length` bytes of room, then the
   * bytes to send. -1 if it cannot. */
  int (*offer)(wtl_transport *t, void *start, size_t n, void *key, size_t *length);
  /* Makes a handle of what `pe` offered, valid as long as the transport runs; NULL if it cannot. */
  void *(*accept)(wtl_transport *t, int pe, const void *key);

  /* `done`: the memory on this side may be used again; for a get, the data are there. */
  void (*put)(wtl_transport *t, int pe, const wtl_transport_key *key, uint64_t offset, const void *from, size_t n,
              wtl_done_fn done, void *arg);
  void (*get)(wtl_transport *t, int pe, const wtl_transport_key *key, uint64_t offset, void *to, size_t n,
              wtl_done_fn done, void *arg);
  /* `done`: all puts so far are visible at their targets. */
  void (*flush)(wtl_transport *t, wtl_done_fn done, void *arg);
} wtl_transport_ops;

/* The first member of every transport's own struct. */
struct wtl_transport {
  const wtl_transport_ops *ops;
};

/*
 * Loads a transport: "ucx" or "mpi", or with "auto" the first of them that can be loaded. They are modules beside this
 * library (libwattle-net-ucx.so; MPI's is its boot's, node/boot_mpi.h), so that a job on one node loads nothing of
 * them. NULL with the reason in `error`.
 */
const wtl_transport_ops *wtl_transport_load(const char *name, char *error, size_t size);

#endif
