/* net.c - the life of a network: start, progress, heartbeats, end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fabric/net_state.h"
#include "node/lifeline.h"
#include "os/atomic.h"
#include "os/floats.h"
#include "os/os.h"

void wtl_net_fail(const wtl_net *net, int pe, const char *what, const char *why)
{
  wtl_message_print("%s PE %d: %s", what, pe, why);
  wtl_boot_abort(net->boot, WTL_EXIT_UNAVAILABLE, "a PE cannot be reached");
}

static void end_job(wtl_net *net, const char *why) __attribute__((noreturn));
static void end_job(wtl_net *net, const char *why)
{
  wtl_lifeline_end_launcher(); /* asked to end the job, the launcher would wait for the lost node's daemon */
  wtl_boot_abort(net->boot, WTL_EXIT_UNAVAILABLE, why);
}

/*
 * A connection breaks when the process of a PE ends. The launcher mostly knows more: the PE and its exit code. If it
 * ends the job soon, this PE prints nothing. If not, it may know no more, for example because a daemon of its own is
 * lost. So this PE prints what it sees, and later ends the job itself. Open MPI's launcher needs one second from node
 * to node, also after shmem_global_exit, when there is nothing to report.
 */
enum { SPEAK_AFTER_MS = 1500, END_AFTER_MS = 3000 };

static void on_lost(void *owner, int pe, const char *why)
{
  wtl_net *net = owner;
  if (net->ending || net->lost_pe >= 0) return;
  snprintf(net->lost_why, sizeof net->lost_why, "%s", why);
  net->lost_at = wtl_clock_ns();
  net->lost_pe = pe;
}

/* The time until the next step, in ms. */
static int after_loss(const wtl_net *net)
{
  int64_t ms = (int64_t)(wtl_clock_ns() - net->lost_at) / 1000000,
          next = net->loss_reported ? END_AFTER_MS : SPEAK_AFTER_MS;
  return ms < next ? (int)(next - ms) : 0;
}

static void act_on_loss(wtl_net *net)
{
  if (after_loss(net) > 0) return;
  if (net->loss_reported) end_job(net, "a PE cannot be reached");
  wtl_message_print("the connection is lost to PE %d: %s", net->lost_pe, net->lost_why);
  net->loss_reported = true;
}

/* Shares the job's cookie, a random number from PE 0, and compares the network with that of PE 0. The cookie tells jobs
 * apart. It does not protect UCX, which reads each message first (docs/security.md). */
static int share_cookie(wtl_net *net, char *error, size_t size)
{
  wtl_boot *b = net->boot;
  const char *ours = net->transport->ops->name;
  char text[32], theirs[32] = "";
  snprintf(error, size, "boot by %s: the PEs cannot exchange their network addresses", b->ops->name);
  if (b->pe == 0) {
    if (!wtl_os_random(&net->cookie, sizeof net->cookie)) return -1;
    snprintf(text, sizeof text, "%016llx %s", (unsigned long long)net->cookie, ours);
    if (b->ops->publish(b, "wattle.cookie", text) != 0) return -1;
  }
  if (b->ops->fence(b) != 0 || b->ops->lookup(b, 0, "wattle.cookie", text, sizeof text) != 0) return -1;
  if (sscanf(text, "%" SCNx64 " %31s", &net->cookie, theirs) != 2) return -1;
  if (strcmp(ours, theirs) == 0) return 0;
  snprintf(error, size,
           "PE %d uses the network %s and PE 0 the network %s: give all PEs the same WATTLE_NETWORK, and all nodes the "
           "same installation",
           b->pe, ours, theirs);
  return -1;
}

static void find_neighbours(wtl_net *net, double silence_s)
{
  const wtl_boot *b = net->boot;
  bool has_part = b->local_rank == 0 && b->n_nodes > 1 && silence_s > 0;
  net->after = has_part ? b->leader_pe[(b->node + 1) % b->n_nodes] : -1;
  net->silence_ns = (uint64_t)(silence_s * 1e9);
  net->beat_ns = net->silence_ns / 4;
  net->before = has_part ? b->leader_pe[(b->node + b->n_nodes - 1) % b->n_nodes] : -1;
}

static void on_closing(void *owner)
{
  wtl_net *net = owner;
  if (net->callbacks.closing) net->callbacks.closing(net->callbacks.owner);
}

int wtl_net_open(wtl_net **out, const char *name, const wtl_settings *settings, wtl_boot *boot,
                 const wtl_net_callbacks *callbacks, char *error, size_t size)
{
  size_t n = (size_t)boot->n_pes;
  int rc;
  const wtl_transport_ops *ops = wtl_transport_load(name, settings->sysfs.text, error, size);
  if (!ops) return WTL_EXIT_UNAVAILABLE;
  wtl_net *net = calloc(1, sizeof *net);
  if (net) {
    net->peers = calloc(n, sizeof *net->peers);
    net->unsent = calloc(2 * n, sizeof *net->unsent); /* a PE may be listed again while the first list is sent */
    net->dirty = calloc(n, sizeof *net->dirty);
  }
  if (!net || !net->peers || !net->unsent || !net->dirty) {
    snprintf(error, size, "no memory for the network to %zu PEs", n);
    return WTL_EXIT_OSERR; /* the caller ends the process */
  }
  net->boot = boot;
  net->callbacks = *callbacks;
  net->free_pending = UINT32_MAX;
  net->lost_pe = -1;
  net->rma = settings->rma.number;
  net->merges = settings->merge.number == WTL_MERGE_AUTO;
  find_neighbours(net, settings->silence.seconds);
  pthread_mutex_init(&net->lock, NULL);
  wtl_transport_callbacks below = {net, wtl_net_arrived, on_lost, on_closing};
  if ((rc = ops->start(&net->transport, settings, boot, &below, error, size)) != 0) return rc;
  if (share_cookie(net, error, size) != 0) return WTL_EXIT_UNAVAILABLE;
  *out = net;
  return 0;
}

void wtl_net_ending(wtl_net *net)
{
  net->ending = true;
}

void wtl_net_close(wtl_net *net)
{
  net->transport->ops->stop(net->transport);
  wtl_net_rma_close(net);
  for (batch *b = net->free_batches, *next; b; b = next) next = b->next_free, free(b);
  wtl_served_free(&net->served);
  free(net->pendings);
  free(net->peers);
  free(net->unsent);
  free(net->dirty);
  pthread_mutex_destroy(&net->lock);
  free(net);
}

/* --- heartbeats --------------------------------------------------------------------------------------------------- */

void wtl_net_received_end(wtl_net *net)
{
  end_job(net, "another node reports that the job ends");
}

/* A node is lost. The other nodes are notified, because the launcher that must end runs on one of them. */
static void give_up(wtl_net *net)
{
  const wtl_boot *b = net->boot;
  wtl_message_print("no message has arrived for %g s from the node of PE %d: the job ends (WATTLE_SILENCE)",
                    (double)net->silence_ns * 1e-9, net->before);
  wtl_boot_must_end(WTL_EXIT_UNAVAILABLE); /* the launcher is asked for the address of a PE that is new to this one */
  for (int node = 0; node < b->n_nodes; node++) {
    int leader = b->leader_pe[node];
    if (leader == b->pe || leader == net->before) continue;
    wtl_net_send_heartbeat(net, leader, true);
  }
  for (uint64_t until = wtl_clock_ns() + 300000000; wtl_clock_ns() < until;)
    net->transport->ops->progress(net->transport);
  end_job(net, "a node cannot be reached");
}

static void beat(wtl_net *net, uint64_t now)
{
  /* The first time, or after the whole job was stopped for a while, the silence begins now. */
  if (!net->last_beat || now - net->last_beat > 2 * net->beat_ns) net->last_received = now;
  net->last_beat = now;
  net->next_beat = now + net->beat_ns;
  wtl_net_send_heartbeat(net, net->after, false);
  if (now > net->last_received && now - net->last_received > net->silence_ns) give_up(net);
}

static void check_clock(wtl_net *net)
{
  WTL_FLOATS_APART;
  uint64_t now = wtl_clock_ns();
  if (net->has_received) net->last_received = now;
  net->has_received = false;
  if (now >= net->next_beat) beat(net, now);
}

int wtl_net_progress_interval_ms(const wtl_net *net)
{
  if (net->lost_pe >= 0 && !net->ending) return after_loss(net);
  if (net->after < 0) return -1;
  uint64_t now = wtl_clock_ns(), next = net->next_beat;
  return next > now ? (int)((next - now) / 1000000) + 1 : 0;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/* A network computes, writes and changes errno. It runs no code of the program. */
static void enter(wtl_net *net)
{
  net->guest = wtl_guest_enter();
  net->floats = wtl_floats_hold();
}

void wtl_net_lock(wtl_net *net)
{
  pthread_mutex_lock(&net->lock);
  enter(net);
}

void wtl_net_unlock(wtl_net *net)
{
  while (WTL_UNLIKELY(net->ring_due)) wtl_net_rma_send_rings(net);
  bool completed = net->completed;
  net->completed = false;
  wtl_guest guest = net->guest;
  wtl_floats_release(&net->floats);
  pthread_mutex_unlock(&net->lock);
  wtl_guest_leave(&guest);
  if (completed) net->callbacks.completed(net->callbacks.owner);
}

enum { TURNS_A_CLOCK = 16 }; /* progress reads the clock once in so many calls */

static bool progress_by(wtl_net *net, enum wtl_server server)
{
  bool happened = false;
  if (pthread_mutex_trylock(&net->lock) != 0) return false; /* another thread makes progress */
  enter(net);
  net->server = server;
  if (net->after >= 0 && net->turns++ % TURNS_A_CLOCK == 0) check_clock(net);
  if (net->lost_pe >= 0 && !net->ending) act_on_loss(net);
  /* Only once: the caller may wait for what this did. */
  if (net->transport->ops->progress(net->transport)) happened = true;
  if (net->answers && wtl_net_send_answers(net)) happened = true;
  if (net->n_unsent) wtl_net_send_all(net, true), happened = true;
  wtl_net_unlock(net);
  return happened;
}

bool wtl_net_progress(wtl_net *net)
{
  return progress_by(net, WTL_SERVED_IN_WAITS);
}

bool wtl_net_progress_by_agent(wtl_net *net)
{
  return progress_by(net, WTL_SERVED_BY_AGENT);
}

bool wtl_net_notice_is_posted(const wtl_net *net)
{
  return net->n_unaware == 0;
}

bool wtl_net_owes_rings(const wtl_net *net)
{
  return net->n_owed > 0;
}

const char *wtl_net_name(const wtl_net *net)
{
  return net->transport->ops->name;
}

void wtl_net_paths(wtl_net *net, char *out, size_t size)
{
  *out = '\0';
  if (!net->transport->ops->paths) return;
  wtl_net_lock(net);
  net->transport->ops->paths(net->transport, out, size);
  wtl_net_unlock(net);
}

wtl_net_counts wtl_net_count(wtl_net *net)
{
  wtl_net_lock(net);
  wtl_net_counts counts = net->counts;
  wtl_net_unlock(net);
  return counts;
}

void wtl_net_served(wtl_net *net, wtl_served *to)
{
  wtl_net_lock(net);
  wtl_served_add(to, &net->served);
  wtl_net_unlock(net);
}

/* --- for the agent ------------------------------------------------------------------------------------------------ */

int wtl_net_descriptor(const wtl_net *net)
{
  return net->transport->ops->descriptor(net->transport);
}

bool wtl_net_arm(wtl_net *net)
{
  wtl_net_lock(net);
  bool armed = !net->n_unsent && net->transport->ops->arm(net->transport);
  wtl_net_unlock(net);
  return armed;
}
