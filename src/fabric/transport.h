/*
 * transport.h - the interface of a network: messages from PE to PE, and remote memory access where hardware has it.
 * net.h runs on it. One folder for each network: ucx, mpi, sim, threads. docs/adding-a-network.md is the guide.
 *
 * DESIGN
 *
 * A network is a table of functions, wtl_transport_ops, and a struct of its own that begins with a wtl_transport. The
 * caller is src/fabric/net*.c, for one PE. The network calls back through a wtl_transport_callbacks.
 *
 * Order. Messages that are sent EAGER or by RENDEZVOUS from one PE to another arrive in the order of the calls of send.
 * The data of one that was sent by rendezvous may follow later, and data of several may follow in any order. Messages
 * that are sent in an UNORDERED mode have no order with others.
 *
 * Completion. Each operation is given a function `done` with its argument. The network calls it exactly once, when the
 * memory on this side may be reused and, for a get or a receive, the data are there. It may do so before the call
 * returns. It says nothing of the target. After a loss the network need not call it any more.
 *
 * Threads. The caller holds one lock around every call, so that no two run at the same time; they may run in different
 * threads. The network calls back from inside these calls only, `closing` excepted. `done` and `arrived` may call send
 * and receive again.
 *
 * Errors. `start` returns an exit code (base/error.h) and a text for the user. Later a network does not fail: it
 * reports the loss of a PE by `lost`, and the job ends. A network may end the process if there is no memory.
 *
 * Trust. A network may deliver messages of senders outside the job. net_in.c checks each message's cookie and bounds
 * before it uses it. Memory that is offered has no such check, so `offer` is for networks whose hardware checks
 * keys (docs/security.md).
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

enum wtl_transport_send_mode {
  WTL_SEND_EAGER,           /* leaves without an answer of its target */
  WTL_SEND_RENDEZVOUS,      /* may ask its target first, if that is better for long messages */
  WTL_SEND_EAGER_UNORDERED, /* eager, on another connection: messages that are queued on the first do not delay it */
  WTL_SEND_RENDEZVOUS_UNORDERED /* like RENDEZVOUS, on a third connection: it does not delay others */
};

static inline bool wtl_transport_may_send_later(enum wtl_transport_send_mode mode)
{
  return mode == WTL_SEND_RENDEZVOUS || mode == WTL_SEND_RENDEZVOUS_UNORDERED;
}

static inline bool wtl_transport_is_ordered(enum wtl_transport_send_mode mode)
{
  return mode == WTL_SEND_EAGER || mode == WTL_SEND_RENDEZVOUS;
}

/* A message to be sent. Header and data belong to the network until `done`. The struct does not. */
typedef struct wtl_transport_message {
  unsigned kind; /* 1 to 4; passed to the target's `arrived` */
  const void *header;
  size_t header_bytes; /* 0 to 64 */
  const void *data;
  size_t n; /* of data; may be 0 */
  enum wtl_transport_send_mode mode;
  wtl_done_fn done;
  void *arg;
} wtl_transport_message;

/* Memory of a PE that others may access by hardware. */
typedef struct wtl_transport_key {
  void *handle;     /* the network's own, from `accept` */
  uint64_t address; /* where the memory begins in its owner */
} wtl_transport_key;

/* A put from, or a get to, the `n` bytes of memory at `here`. They belong to the network until `done`. The struct does
 * not. */
typedef struct wtl_transport_rma {
  const wtl_transport_key *key;
  uint64_t offset; /* from key->address */
  void *here;      /* a put only reads it */
  size_t n;
  wtl_done_fn done;
  void *arg;
} wtl_transport_rma;

typedef void wtl_rma_fn(wtl_transport *t, int pe, const wtl_transport_rma *r);

/* The functions of the caller. */
typedef struct wtl_transport_callbacks {
  void *owner;
  /* A message has arrived. Header and data are valid during the call. If `later`, the data have not arrived yet. Then
   * `data` is a handle, and `arrived` calls `receive` with it before it returns, or the message is dropped. */
  void (*arrived)(void *owner, unsigned kind, const void *header, size_t header_bytes, void *data, size_t n,
                  bool later);
  /* The connection to a PE is lost. `why`: a text for the user, valid during the call. */
  void (*lost)(void *owner, int pe, const char *why);
  /* The library under the network is about to end. Called by the program's thread, outside any call and without the
   * lock. When it returns, the network has been stopped. */
  void (*closing)(void *owner);
} wtl_transport_callbacks;

/* All functions must exist, except `has_provider`, `paths` and `copies`, and put, get and flush of a network without
 * remote memory access. */
typedef struct wtl_transport_ops {
  const char *name;
  /* Also the data of messages of up to WTL_NET_MOST bytes arrive in order, even by rendezvous. */
  bool keeps_order;

  /*
   * Makes the network of this PE and publishes its address (boot->ops->publish). The caller runs a fence of all PEs
   * before the first other call. The network looks addresses up on first contact. It may be collective. `settings`,
   * `boot` and callbacks->owner outlive the network; `callbacks` itself is copied. Returns 0, or an exit code with the
   * reason in the `size` bytes at `error`.
   */
  int (*start)(wtl_transport **t, const wtl_settings *settings, wtl_boot *boot,
               const wtl_transport_callbacks *callbacks, char *error, size_t size);
  /* Called after a barrier of all PEs, when no PE needs a pending operation. Frees `t`. Calls no `done`. */
  void (*stop)(wtl_transport *t);

  /* Sends a message to PE `pe` of another node. Does not block: a message that cannot leave is queued. */
  void (*send)(wtl_transport *t, int pe, const wtl_transport_message *m);

  /* Called only from `arrived`. Receives the `n` bytes of a message's data into `to`, then calls `done`. */
  void (*receive)(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg);

  /* Makes progress without blocking: sends queued messages, delivers those that have arrived, calls `done`. True if
   * anything happened. */
  bool (*progress)(wtl_transport *t);

  /* A descriptor for epoll, which becomes readable when progress may have something to do; -1: there is none. It never
   * changes and belongs to the network. */
  int (*descriptor)(const wtl_transport *t);
  /* Permits the caller to sleep on the descriptor, which becomes readable for all later events. False: something is
   * there already, and progress must be made first. */
  bool (*arm)(wtl_transport *t);
  /* Has the library under this network a provider (a driver) of this name for this node? NULL: it has no providers. It
   * may be called before `start`. */
  bool (*has_provider)(const char *name);
  /* Writes the transports and devices that lead to other nodes into `out`, such as "tcp/eth0,rc_mlx5/mlx5_0:1"; ""
   * before the first contact. NULL: the library under this network does not name them. */
  void (*paths)(const wtl_transport *t, char *out, size_t size);

  /* --- remote memory access ----------------------------------------------------------------------------------------*/

  /* Can hardware access the memory of PE `pe`? */
  bool (*has_rma)(wtl_transport *t, int pe);

  /* True if put and get copy memory on this side that was not offered. The caller then offers its own open memory, too.
   * NULL: false. */
  bool (*copies)(const wtl_transport *t);

  /* Opens `n` bytes of this process's memory to others until `stop`. Writes the key for them to `key`, which has space
   * for *length bytes, and its length to *length. Returns 0, or -1 if that is not possible. */
  int (*offer)(wtl_transport *t, void *start, size_t n, void *key, size_t *length);
  /* Makes a handle from a key of PE `pe`, valid until `stop`. `key` is aligned for any type. NULL if that is not
   * possible. */
  void *(*accept)(wtl_transport *t, int pe, const void *key);

  wtl_rma_fn *put, *get;
  /* Calls `done` when all earlier puts are visible at their targets. The caller starts one flush at a time. */
  void (*flush)(wtl_transport *t, wtl_done_fn done, void *arg);
} wtl_transport_ops;

/* The first member of each network's own struct. */
struct wtl_transport {
  const wtl_transport_ops *ops;
};

/*
 * Loads a network: "ucx", "ofi" or "mpi", or with "auto" the first of them that can be loaded. With "auto" on a node
 * with a device that a provider of libfabric serves better than UCX does, "ofi" comes first. `sysfs` is the folder that
 * shows the devices (WATTLE_SYSFS). Each network is a module beside this library, so that a job on one node loads none:
 * libwattle-net-ucx.so, libwattle-net-ofi.so, and for MPI the module that boots by it (node/boot_mpi.h). Returns NULL,
 * with the reason in `error`, if none can be loaded.
 */
const wtl_transport_ops *wtl_transport_load(const char *name, const char *sysfs, char *error, size_t size);

#endif
