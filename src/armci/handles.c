/*
 * Handles. One that nothing was begun with, or only what was over at once (all within a node), is all zeros or whatever the program
 * left in it: programs written for other libraries need not initialise it. So a handle means something only where it names an entry
 * of the table that knows the handle's own address.
 */
#include <pthread.h>
#include <stdlib.h>

#include "armci/front.h"

/* A handle's number: entry and, above it, how often that was used. */
enum { ENTRY_BITS = 16, MOST_ENTRIES = 1 << ENTRY_BITS, BLOCK = 64 };

typedef struct entry {
  wtl_request request;
  const armci_hdl_t *owner; /* NULL: free */
  unsigned used;            /* how often */
} entry;

struct armci_requests {
  pthread_mutex_t lock;
  wtl_request implicit;               /* of calls without a handle */
  entry *block[MOST_ENTRIES / BLOCK]; /* entries stay where they are: the network counts in them */
  int n;
};

static armci_requests *requests_of(const wtl_pe *self)
{
  armci_state *s = armci_of(self);
  if (WTL_LIKELY(s->requests != NULL)) return s->requests;
  armci_requests *r = calloc(1, sizeof *r);
  if (!r) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for handles");
  pthread_mutex_init(&r->lock, NULL);
  return s->requests = r;
}

void armci_requests_free(armci_requests *r)
{
  if (!r) return;
  for (int i = 0; i < MOST_ENTRIES / BLOCK; i++) free(r->block[i]);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

static entry *entry_at(armci_requests *r, int i)
{
  return &r->block[i / BLOCK][i % BLOCK];
}

/* What the handle stands for; NULL: nothing is under way. */
static entry *find(armci_requests *r, const armci_hdl_t *hdl)
{
  int i = hdl->wtl_request & (MOST_ENTRIES - 1);
  if (!r || hdl->wtl_request <= 0 || i >= r->n) return NULL;
  entry *e = entry_at(r, i);
  bool same = (e->used & 0x7fff) == (unsigned)hdl->wtl_request >> ENTRY_BITS;
  return same && e->owner == hdl ? e : NULL;
}

static int free_entry(armci_requests *r)
{
  for (int i = 0; i < r->n; i++)
    if (!entry_at(r, i)->owner) return i;
  if (r->n == MOST_ENTRIES)
    wtl_pe_fail(WTL_EXIT_USAGE, "ARMCI: %d handles are in use; wait for some (ARMCI_Wait)", MOST_ENTRIES);
  if (!(r->block[r->n / BLOCK] = calloc(BLOCK, sizeof(entry))))
    wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for handles");
  r->n += BLOCK;
  return r->n - BLOCK;
}

static entry *make(armci_requests *r, armci_hdl_t *hdl)
{
  pthread_mutex_lock(&r->lock);
  int i = free_entry(r);
  entry *e = entry_at(r, i);
  e->owner = hdl;
  if ((++e->used & 0x7fff) == 0) e->used++;
  pthread_mutex_unlock(&r->lock);
  hdl->wtl_request = (int)((e->used & 0x7fff) << ENTRY_BITS) | i;
  return e;
}

static void release(armci_requests *r, armci_hdl_t *hdl, entry *e)
{
  pthread_mutex_lock(&r->lock);
  e->owner = NULL;
  pthread_mutex_unlock(&r->lock);
  hdl->wtl_request = 0;
}

void armci_begin_nonblocking(const wtl_frame *f, armci_waiter *w, armci_hdl_t *hdl)
{
  *w = (armci_waiter){.blocking = false};
  w->request = &w->own; /* within a node nothing is left to wait for */
  if (WTL_LIKELY(!f->self->net)) return;
  armci_requests *r = requests_of(f->self);
  entry *e = hdl ? find(r, hdl) : NULL;
  w->request = !hdl ? &r->implicit : e ? &e->request : &make(r, hdl)->request;
}

static void wait_for(wtl_pe *self, wtl_site *site, armci_hdl_t *hdl)
{
  armci_requests *r = armci_of(self)->requests;
  entry *e = find(r, hdl);
  if (!e) return;
  wtl_request_wait(self, site, &e->request);
  release(r, hdl, e);
}

void armci_wait_all(wtl_pe *self, wtl_site *site)
{
  armci_requests *r = armci_of(self)->requests;
  if (!r) return;
  wtl_request_wait(self, site, &r->implicit);
  for (int i = 0; i < r->n; i++) /* their handles may be waited for yet */
    if (entry_at(r, i)->owner) wtl_request_wait(self, site, &entry_at(r, i)->request);
}

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl)
{
  if (hdl) *hdl = (armci_hdl_t){0};
}

void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_SET_AGGREGATE_HANDLE, 0);
  if (!find(armci_of(f.self)->requests, hdl)) hdl->wtl_request = 0;
  hdl->wtl_aggregate = 1; /* every handle takes several operations: for debuggers */
  wtl_leave(&f);
}

void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl)
{
  hdl->wtl_aggregate = 0;
}

int PARMCI_Wait(armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_Wait, 0);
  if (hdl)
    wait_for(f.self, f.site, hdl);
  else
    armci_wait_all(f.self, f.site);
  return armci_leave(&f);
}
ARMCI_TWIN(int, Wait, armci_hdl_t *hdl)

int PARMCI_Test(armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_Test, 0);
  armci_requests *r = armci_of(f.self)->requests;
  entry *e = find(r, hdl);
  int left = 0;
  if (e) {
    wtl_door_missed(&f.self->door); /* moves on what is under way */
    left = !wtl_request_is_done(&e->request);
    if (!left) release(r, hdl, e);
  }
  wtl_leave(&f);
  return left;
}
ARMCI_TWIN(int, Test, armci_hdl_t *hdl)

int PARMCI_WaitProc(int proc)
{
  ARMCI_ENTER(ARMCI_WaitProc, 0);
  armci_check_proc(&f, proc);
  if (!wtl_is_near(f.self, proc)) armci_wait_all(f.self, f.site);
  return armci_leave(&f);
}
ARMCI_TWIN(int, WaitProc, int proc)

int PARMCI_WaitAll(void)
{
  ARMCI_ENTER(ARMCI_WaitAll, 0);
  armci_wait_all(f.self, f.site);
  return armci_leave(&f);
}
ARMCI_TWIN(int, WaitAll, void)
