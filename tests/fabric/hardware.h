/*
 * hardware.h - remote memory access between the posts of post.h, imitated by stores. The test ends each flush by hand.
 */
#ifndef WTL_TESTS_HARDWARE_H
#define WTL_TESTS_HARDWARE_H

#include "fabric/post.h"

static struct {
  wtl_done_fn done;
  void *arg;
} flush; /* done NULL: none is under way */
static int flushes;

static int rma_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  *length = 1;
  *(char *)key = 'k';
  return 0;
}

static void *rma_accept(wtl_transport *t, int pe, const void *key)
{
  return t;
}

static void rma_put(wtl_transport *t, int pe, const wtl_transport_rma *r)
{
  memcpy((char *)(uintptr_t)(r->key->address + r->offset), r->here, r->n);
  r->done(r->arg);
}

static void rma_flush(wtl_transport *t, wtl_done_fn done, void *arg)
{
  flush.done = done;
  flush.arg = arg;
  flushes++;
}

static inline void end_flush(void)
{
  wtl_done_fn done = flush.done;
  flush.done = NULL;
  done(flush.arg);
  progress_all();
}

static void open_posts_with_hardware(void)
{
  post_transport.offer = rma_offer;
  post_transport.accept = rma_accept;
  post_transport.put = rma_put;
  post_transport.flush = rma_flush;
  flushes = 0;
  open_posts();
  for (int pe = 0; pe < POST_PES; pe++) posts[pe].net->rma = WTL_RMA_ON;
}

#endif
