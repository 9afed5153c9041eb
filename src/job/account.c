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
#include "record/file.h"
#include "record/node_split.h"
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

/* Splits the node's joules among its PEs. Only the PE that reads the meter calls it, between two barriers. */
static void split_node(wtl_pe *self, wtl_node_joules *node)
{
  wtl_activity *all = calloc((size_t)self->n_local, sizeof *all);
  wattle_joules_t *part = calloc((size_t)self->n_local * WTL_MAX_DOMAINS, sizeof *part);
  size_t d = 0;
  for (int slot = 0; all && part && slot < self->n_local; slot++) all[slot] = self->accounts[slot].activity;
  if (all && part) d = wtl_record_split_node(self->record, all, (size_t)self->n_local, node, part);
  for (size_t slot = 0; slot < (size_t)self->n_local; slot++) {
    wtl_account *theirs = &self->accounts[slot];
    memcpy(theirs->joules, part + slot * d, d * sizeof *part);
    if (all) theirs->activity = all[slot];
    wtl_record_rates(wtl_meter_machine(self->meter), &theirs->activity, theirs->rate);
  }
  self->shared->n_domains = d;
  free(all);
  free(part);
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
  if (node) split_node(self, node);
  wtl_barrier(self, site);
  wtl_share share = {.n_domains = self->shared->n_domains,
                     .mine = mine->joules,
                     .rate = {mine->rate[0], mine->rate[1]},
                     .wake_s = mine->activity.wake_s,
                     .second_s = mine->activity.second_s};
  wtl_record_write(self->record, &share, node);
  wtl_barrier(self, site); /* no PE may leave while another still reads the accounts in the arena */
  free(node);
}

void wtl_account_close(wtl_pe *self, wtl_site *site)
{
  wtl_record_unregister();
  close_together(self, site); /* all calls of all PEs are complete */
  write_record(self, site);
}

void wtl_account_abandon(wtl_pe *self)
{
  wtl_record_write(self->record, NULL, NULL);
}
