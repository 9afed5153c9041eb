/* account.c - starts the record of a PE and writes it at the PE's end. */
#include "job/account.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"
#include "base/error.h"
#include "base/json.h"
#include "fabric/agent.h"
#include "pgas/far.h"
#include "job/pe_governor.h"
#include "os/floats.h"
#include "os/os.h"
#include "record/profile_file.h"
#include "team/barrier.h"
#include "team/team_entry.h"

/* The traffic with other nodes and the messages that were dropped. */
static void write_network(FILE *f, const void *arg)
{
  const wtl_pe *self = arg;
  if (!self->net) {
    fputs("null", f);
    return;
  }
  wtl_net_counts c = wtl_net_count(self->net);
  char paths[1024];
  wtl_net_paths(self->net, paths, sizeof paths);
  putc('{', f);
  wtl_json_text_field(f, "name", wtl_net_name(self->net), 1);
  wtl_json_text_field(f, "paths", paths, 0);
  fputs(",\"dropped\":{", f);
  wtl_json_number_field(f, "foreign", (double)c.foreign, 1);
  wtl_json_number_field(f, "malformed", (double)c.malformed, 0);
  fputs("},\"messages\":{", f);
  wtl_json_number_field(f, "sent", (double)c.sent, 1);
  wtl_json_number_field(f, "received", (double)c.received, 0);
  wtl_json_number_field(f, "merged", (double)c.merged, 0);
  fputs("},\"single\":{", f);
  wtl_json_number_field(f, "messages", (double)c.single, 1);
  wtl_json_number_field(f, "seconds", (double)c.single_ticks * wtl_clock_ns_per_tick() * 1e-9, 0);
  wtl_json_number_field(f, "least_s", (double)c.least_ticks * wtl_clock_ns_per_tick() * 1e-9, 0);
  fputs("},\"bytes\":{", f);
  wtl_json_number_field(f, "sent", (double)c.bytes_sent, 1);
  wtl_json_number_field(f, "received", (double)c.bytes_received, 0);
  wtl_json_number_field(f, "hardware", (double)c.rma_bytes, 0);
  fputs("}}", f);
}

static double served(const void *arg, wtl_served *to)
{
  wtl_pe *self = (wtl_pe *)(uintptr_t)arg;
  double agents_s = wtl_am_served(self, to);
  if (!self->net) return agents_s;
  wtl_net_served(self->net, to);
  return agents_s + wtl_agent_cpu_s(self->agent);
}

void wtl_account_start(wtl_pe *self)
{
  self->record->me = self->me;
  self->record->n = self->n;
  self->record->node = self->boot.node;
  self->record->api = "shmem";
  self->record->profile = &self->profile;
  self->record->door = &self->door;
  self->record->settings = &self->settings;
  self->record->meter = self->meter;
  self->record->write_network = write_network;
  self->record->network = self;
  self->record->served = served;
  wtl_record_register(self->record);
  wtl_record_start(self->record);
}

/* Splits the joules of the meter among `n` PEs of the node from `first` on. Only a PE that reads a meter calls it,
 * between two barriers. */
static void split_node(wtl_pe *self, wtl_account *first, size_t n, wtl_node_joules *node)
{
  wtl_activity *all = calloc(n, sizeof *all);
  wattle_joules_t *part = calloc(n * WTL_MAX_DOMAINS, sizeof *part);
  size_t d = 0;
  for (size_t i = 0; all && part && i < n; i++) all[i] = first[i].activity;
  if (all && part) d = wtl_split_node(self->record->meter, self->record->start_machine_s, all, n, node, part);
  for (size_t i = 0; i < n; i++) {
    wtl_account *theirs = &first[i];
    memcpy(theirs->joules, part + i * d, d * sizeof *part);
    if (all) theirs->activity = all[i];
    wtl_record_rates(wtl_meter_machine(self->meter), &theirs->activity, theirs->rate);
  }
  self->shared->n_domains = d;
  free(all);
  free(part);
}

static void add(wattle_joules_t *to, const wattle_joules_t *more)
{
  to->joules += more->joules;
  to->uncertainty += more->uncertainty;
}

/* Adds the joules of the other PEs of the node, each of which has read a meter of its own (simulation). */
static void add_others(const wtl_pe *self, wtl_node_joules *node)
{
  for (int slot = 1; slot < self->n_local; slot++)
    for (size_t d = 0; d < self->shared->n_domains; d++) {
      const wtl_account *theirs = &self->accounts[slot];
      add(&node->idle[d], &theirs->idle[d]);
      add(&node->total[d], &theirs->idle[d]);
      add(&node->total[d], &theirs->joules[d]);
    }
}

static void check_closed(const wtl_pe *self, int pe, uint32_t closed_at)
{
  if (closed_at != self->world->epoch)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s (or exit): PE %d is in another collective call; all PEs must make the same ones in the same order",
                self->record->calls[WTL_FRONT_FIRST] ? "shmem_finalize" : "ARMCI_Finalize", pe);
}

/*
 * Checks that all PEs close. A PE that closes while others are in another collective call would take part in that call.
 * Each PE checks the PEs of its node, and each leader also checks the leader of the next node. If only some nodes
 * close, one of them is followed by a node that does not, so the mistake is found.
 */
static void close_together(wtl_pe *self, wtl_site *site)
{
  const wtl_team *world = self->world;
  uint32_t there;
  wtl_control_of(self, self->me)->call_state.closed_at = self->world->epoch + 1;
  wtl_barrier(self, site);
  for (int i = 0; i < world->n_local; i++)
    check_closed(self, world->local[i], wtl_control_of(self, world->local[i])->call_state.closed_at);
  if (world->n_nodes == 1 || world->local_me != 0) return;
  int next = world->leader[(world->node + 1) % world->n_nodes];
  wtl_op op = {.self = self, .site = site, .pe = next};
  wtl_far_get_at(&op, (wtl_place){offsetof(wtl_call_state, closed_at), WTL_SEGMENT_CALL_STATE}, &there, sizeof there);
  check_closed(self, next, there);
}

/* Writes the record with the PE's share of the node's joules. No handler runs any more: all PEs have closed. */
static void write_record(wtl_pe *self, wtl_site *site)
{
  WTL_FLOATS_APART;
  wtl_node_joules *node = self->meter ? calloc(1, sizeof *node) : NULL;
  wtl_account *mine = &self->accounts[self->slot];
  wtl_governed_close(self);
  self->door.stages.ns_per_tick = wtl_clock_ns_per_tick();
  wtl_record_activity(self->record, &mine->activity);
  wtl_barrier(self, site);
  if (WTL_OS_IS_SIMULATED && node) {
    split_node(self, mine, 1, node);
    memcpy(mine->idle, node->idle, sizeof mine->idle);
  } else if (node) {
    split_node(self, self->accounts, (size_t)self->n_local, node);
  }
  wtl_barrier(self, site);
  if (WTL_OS_IS_SIMULATED && node && self->slot == 0) add_others(self, node);
  wtl_share share = {.n_domains = self->shared->n_domains,
                     .mine = mine->joules,
                     .rate = {mine->rate[0], mine->rate[1]},
                     .wake_s = mine->activity.wake_s,
                     .second_s = mine->activity.second_s};
  wtl_record_write(self->record, &share, self->slot == 0 ? node : NULL);
  wtl_barrier(self, site); /* no PE may leave while another still reads the accounts in the arena */
  free(node);
}

void wtl_account_close(wtl_pe *self, wtl_site *site)
{
  wtl_record_unregister();
  self->exchange_watts = NULL; /* it would be a collective call beyond those that close_together counts */
  close_together(self, site);  /* all calls of all PEs are complete */
  write_record(self, site);
}

void wtl_account_abandon(wtl_pe *self)
{
  wtl_record_write(self->record, NULL, NULL);
}
