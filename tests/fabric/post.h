/*
 * post.h - a transport inside one process, for tests of src/fabric/net: letters lie in a queue until the test delivers
 * them, or forges others.
 *
 * Header and data of a delivered letter are copies of exactly their length, at odd addresses, so that a reader that
 * goes too far or trusts alignment is caught by the sanitizers.
 *
 * The test defines POST_SLICE_BYTES, a PE's open memory.
 */
#ifndef WTL_TESTS_POST_H
#define WTL_TESTS_POST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/net_state.h"
#include "node/lifeline.h"

enum { POST_PES = 2, SLICE_BYTES = POST_SLICE_BYTES, CONTROL_BYTES = 64, CANARY_BYTES = 256 };

typedef struct letter {
  struct letter *next;
  int from, to;
  unsigned message;
  const void *header, *data;
  size_t header_bytes, n;
  enum wtl_transport_send_mode mode;
  wtl_done_fn done;
  void *arg;
} letter;

/* One PE: its network, what it offers to others between canaries, and what has happened to it. */
typedef struct post {
  wtl_transport base;
  wtl_boot boot;
  wtl_transport_callbacks above;
  wtl_net *net;
  unsigned char memory[CANARY_BYTES + SLICE_BYTES + CANARY_BYTES + CONTROL_BYTES + CANARY_BYTES];
  int changed, completed, received;
  bool sleeps; /* a thread does, for data */
} post;

static post posts[POST_PES];
static letter *queue, **queue_end = &queue;
static char published[64];
static int leaders[POST_PES] = {0, 1};

void wtl_lifeline_end_launcher(void) {}

/* --- the boot ----------------------------------------------------------------------------------------------------- */

static int post_publish(wtl_boot *b, const char *key, const char *value)
{
  snprintf(published, sizeof published, "%s", value);
  return 0;
}

static int post_fence(wtl_boot *b)
{
  return 0;
}

static int post_lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  snprintf(value, size, "%s", published);
  return 0;
}

void wtl_boot_must_end(int status) {}

void wtl_boot_abort(wtl_boot *b, int status, const char *message)
{
  fprintf(stderr, "the job was ended: %s\n", message);
  exit(1);
}

static const wtl_boot_ops post_boot = {
    .name = "post", .publish = post_publish, .fence = post_fence, .lookup = post_lookup};

/* --- the transport ------------------------------------------------------------------------------------------------ */

static int post_start(wtl_transport **t, const wtl_settings *settings, wtl_boot *boot,
                      const wtl_transport_callbacks *callbacks, char *error, size_t size)
{
  posts[boot->pe].above = *callbacks;
  *t = &posts[boot->pe].base;
  return 0;
}

static void post_stop(wtl_transport *t) {}

static void post_send(wtl_transport *t, int pe, const wtl_transport_message *m)
{
  letter *l = malloc(sizeof *l);
  *l = (letter){
      NULL,  (int)((post *)(void *)t - posts), pe, m->kind, m->header, m->data, m->header_bytes, m->n, m->mode, m->done,
      m->arg};
  *queue_end = l;
  queue_end = &l->next;
}

static void post_receive(wtl_transport *t, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  ((post *)(void *)t)->received++;
  memcpy(to, ((letter *)handle)->data, n);
  done(arg);
}

static bool post_progress(wtl_transport *t)
{
  return false;
}

static wtl_transport_ops post_transport = {.name = "post",
                                           .start = post_start,
                                           .stop = post_stop,
                                           .send = post_send,
                                           .receive = post_receive,
                                           .progress = post_progress};

const wtl_transport_ops *wtl_transport_load(const char *name, const char *sysfs, char *error, size_t size)
{
  return &post_transport;
}

/* A copy of exactly `n` bytes at an odd address; `block` is to be freed. */
static void *odd_copy(const void *from, size_t n, char **block)
{
  *block = calloc(n + 1, 1);
  return n ? memcpy(*block + 1, from, n) : *block + 1;
}

/* A message arrives at PE `to`, from anybody. */
static void arrive(int to, unsigned message, const void *header, size_t header_bytes, const void *data, size_t n)
{
  char *blocks[2];
  void *h = odd_copy(header, header_bytes, &blocks[0]), *d = odd_copy(data, n, &blocks[1]);
  posts[to].above.arrived(posts[to].above.owner, message, h, header_bytes, d, n, false);
  free(blocks[0]);
  free(blocks[1]);
}

/* As above, but its data can only be received, from `data`. */
static void arrive_later(int to, unsigned message, const void *header, size_t header_bytes, const void *data, size_t n)
{
  letter l = {.data = data, .n = n};
  posts[to].above.arrived(posts[to].above.owner, message, header, header_bytes, &l, n, true);
}

/* The first letter of the queue; the caller frees it. */
static letter *take_letter(void)
{
  letter *l = queue;
  if (l && !(queue = l->next)) queue_end = &queue;
  return l;
}

static size_t letters(void)
{
  size_t n = 0;
  for (letter *l = queue; l; l = l->next) n++;
  return n;
}

static void deliver(letter *l)
{
  (wtl_transport_may_send_later(l->mode) ? arrive_later : arrive)(l->to, l->message, l->header, l->header_bytes,
                                                                  l->data, l->n);
  l->done(l->arg);
  free(l);
}

static void progress_all(void)
{
  for (int pe = 0; pe < POST_PES; pe++) wtl_net_progress(posts[pe].net);
}

static void deliver_all(void)
{
  for (letter *l; (l = take_letter()) != NULL;) {
    deliver(l);
    if (!queue) progress_all();
  }
}

/* As if what was sent aside were long on its way: those letters stay, in their order. */
__attribute__((unused)) static void deliver_all_but_aside(void)
{
  letter *aside = NULL, **end = &aside;
  for (letter *l; (l = take_letter()) != NULL;) {
    if (l->mode == WTL_SEND_RENDEZVOUS_UNORDERED) {
      l->next = NULL;
      *end = l;
      end = &l->next;
    } else {
      deliver(l);
    }
    if (!queue) progress_all();
  }
  if ((queue = aside)) queue_end = end;
}

/* --- a PE --------------------------------------------------------------------------------------------------------- */

static unsigned char *slice_of(int pe)
{
  return posts[pe].memory + CANARY_BYTES;
}

static unsigned char *control_of(int pe)
{
  return slice_of(pe) + SLICE_BYTES + CANARY_BYTES;
}

static void *post_find(void *owner, wtl_place at, uint64_t n)
{
  int pe = (int)((post *)owner - posts);
  uint64_t length = at.segment == 0 ? SLICE_BYTES : CONTROL_BYTES;
  if (at.segment > 1 || at.offset > length || n > length - at.offset) return NULL;
  return (at.segment == 0 ? slice_of(pe) : control_of(pe)) + at.offset;
}

static void post_changed(void *owner, wtl_place at, uint64_t n)
{
  ((post *)owner)->changed++;
}

static void post_completed(void *owner)
{
  ((post *)owner)->completed++;
}

static uint64_t post_open_bytes(void *owner, uint32_t segment)
{
  return segment == 0 ? SLICE_BYTES : 0;
}

static bool post_sleeps(void *owner)
{
  return ((post *)owner)->sleeps;
}

static void open_post(int pe)
{
  post *p = &posts[pe];
  char error[256];
  wtl_settings settings = {0};
  wtl_net_callbacks callbacks = {.owner = p,
                                 .open_bytes = post_open_bytes,
                                 .find = post_find,
                                 .changed = post_changed,
                                 .completed = post_completed,
                                 .sleeps = post_sleeps};
  memset(p, 0, sizeof *p);
  memset(p->memory, 0xca, sizeof p->memory);
  memset(slice_of(pe), 0, SLICE_BYTES);
  memset(control_of(pe), 0, CONTROL_BYTES);
  p->base.ops = &post_transport;
  p->boot = (wtl_boot){.ops = &post_boot,
                       .pe = pe,
                       .n_pes = POST_PES,
                       .n_local = 1,
                       .node = pe,
                       .n_nodes = POST_PES,
                       .leader_pe = leaders};
  settings.rma.number = WTL_RMA_OFF;
  settings.silence.seconds = 8;
  if (wtl_net_open(&p->net, "post", &settings, &p->boot, &callbacks, error, sizeof error) != 0) exit(1);
}

static void open_posts(void)
{
  for (int pe = 0; pe < POST_PES; pe++) open_post(pe);
}

static void close_posts(void)
{
  deliver_all();
  for (int pe = 0; pe < POST_PES; pe++) wtl_net_close(posts[pe].net);
}

__attribute__((unused)) static bool canaries_live(int pe)
{
  const unsigned char *at[] = {posts[pe].memory, slice_of(pe) + SLICE_BYTES, control_of(pe) + CONTROL_BYTES};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
    for (size_t b = 0; b < CANARY_BYTES; b++)
      if (at[i][b] != 0xca) return false;
  return true;
}

#endif
