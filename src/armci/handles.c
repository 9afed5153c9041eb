/*
 * handles.c - the handles of non-blocking operations.
 *
 * A handle may contain any bytes until an operation between nodes begins with it, because programs written for other
 * libraries need not initialize it. So a handle counts only if it names an entry of the table that is in use, with the
 * right number of uses. Copies of a handle are the same handle. Random bytes that happen to match an entry share it,
 * and a wait for them then lasts longer than necessary.
 */
#include <pthread.h>
#include <stdlib.h>

#include "armci/armci_front.h"

/* The number in a handle: an entry and, above it, the number of its uses. */
enum { ENTRY_BITS = 16, MOST_ENTRIES = 1 << ENTRY_BITS, BLOCK = 64 };

typedef struct entry {
  wtl_request request;
  armci_load load;
  _Atomic bool in_use;
  unsigned used; /* number of uses */
} entry;

struct armci_requests {
  pthread_mutex_t lock;
  wtl_request implicit; /* of calls without a handle */
  armci_load implicit_load;
  entry *block[MOST_ENTRIES / BLOCK]; /* entries do not move, because the network counts in them */
  _Atomic int n;
  int next; /* the search for a free entry begins here */
};

armci_requests *armci_requests_make(void)
{
  armci_requests *r = calloc(1, sizeof *r);
  if (!r) wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Init: no memory for handles");
  pthread_mutex_init(&r->lock, NULL);
  return r;
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

/* Returns the entry of a handle, or NULL if nothing is pending. */
static entry *find(armci_requests *r, const armci_hdl_t *hdl)
{
  int i = hdl->wtl_request & (MOST_ENTRIES - 1);
  if (!r || hdl->wtl_request <= 0 || i >= r->n) return NULL;
  entry *e = entry_at(r, i);
  return e->in_use && (e->used & 0x7fff) == (unsigned)hdl->wtl_request >> ENTRY_BITS ? e : NULL;
}

/* Returns -1 if there is no free entry. */
static int find_free(armci_requests *r)
{
  int n = r->n;
  for (int k = 0; k < n; k++) {
    int i = (r->next + k) % n;
    if (!entry_at(r, i)->in_use) return i;
  }
  return -1;
}

/* Frees entries of complete operations. Programs may forget handles, and wait for all or fence instead. With several
 * threads they are kept, because another thread may be about to begin an operation with a handle that looks
 * complete. */
static void forget_done(const wtl_pe *self, armci_requests *r)
{
  for (int i = 0; i < r->n && self->thread_level < WTL_THREAD_MULTIPLE; i++)
    if (wtl_global_request_is_done(&entry_at(r, i)->request)) entry_at(r, i)->in_use = false;
}

static int free_entry(const wtl_pe *self, armci_requests *r)
{
  int i = find_free(r), n = r->n;
  if (i < 0 && n == MOST_ENTRIES) {
    forget_done(self, r);
    if ((i = find_free(r)) < 0)
      wtl_pe_fail(WTL_EXIT_USAGE, "ARMCI: %d handles are in use; wait for some (ARMCI_Wait)", MOST_ENTRIES);
  }
  if (i >= 0) return i;
  if (!(r->block[n / BLOCK] = calloc(BLOCK, sizeof(entry))))
    wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI: no memory for handles");
  r->n = n + BLOCK;
  return n;
}

static entry *make(const wtl_pe *self, armci_requests *r, armci_hdl_t *hdl)
{
  pthread_mutex_lock(&r->lock);
  int i = free_entry(self, r);
  entry *e = entry_at(r, i);
  r->next = i + 1;
  e->load = (armci_load){0};
  if ((++e->used & 0x7fff) == 0) e->used++;
  e->in_use = true;
  pthread_mutex_unlock(&r->lock);
  hdl->wtl_request = (int)((e->used & 0x7fff) << ENTRY_BITS) | i;
  return e;
}

static void release(armci_hdl_t *hdl, entry *e)
{
  e->in_use = false;
  hdl->wtl_request = 0;
}

wtl_request *armci_request_of(wtl_pe *self, armci_hdl_t *hdl, armci_load **load)
{
  armci_requests *r = armci_of(self)->requests;
  if (!hdl) {
    *load = &r->implicit_load;
    return &r->implicit;
  }
  entry *e = find(r, hdl);
  if (!e) e = make(self, r, hdl);
  *load = &e->load;
  return &e->request;
}

static void wait_for(wtl_pe *self, wtl_site *site, armci_hdl_t *hdl)
{
  armci_requests *r = armci_of(self)->requests;
  entry *e = find(r, hdl);
  if (!e) return;
  armci_transfer_awaited(self, site, &e->load, &e->request);
  release(hdl, e);
}

void armci_wait_all(wtl_pe *self, wtl_site *site)
{
  armci_requests *r = armci_of(self)->requests;
  if (!r) return;
  armci_transfer_awaited(self, site, &r->implicit_load, &r->implicit);
  for (int i = 0; i < r->n; i++) { /* the program may still wait for their handles */
    entry *e = entry_at(r, i);
    if (e->in_use) armci_transfer_awaited(self, site, &e->load, &e->request);
  }
}

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl)
{
  if (hdl) *hdl = (armci_hdl_t){0};
}

void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_SET_AGGREGATE_HANDLE, 0);
  armci_check_given(&f, "nb_handle", hdl, sizeof *hdl);
  if (!find(armci_of(f.self)->requests, hdl)) hdl->wtl_request = 0;
  hdl->wtl_aggregate = 1; /* every handle takes several operations; this is for debuggers */
}

void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl)
{
  if (hdl) hdl->wtl_aggregate = 0;
}

int PARMCI_Wait(armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_Wait, 0);
  if (hdl)
    wait_for(f.self, f.site, hdl);
  else
    armci_wait_all(f.self, f.site);
  return 0;
}
ARMCI_TWIN(int, Wait, armci_hdl_t *hdl)

int PARMCI_Test(armci_hdl_t *hdl)
{
  ARMCI_ENTER(ARMCI_Test, 0);
  armci_check_given(&f, "nb_handle", hdl, sizeof *hdl);
  armci_requests *r = armci_of(f.self)->requests;
  entry *e = find(r, hdl);
  int left = 0;
  if (e) {
    wtl_door_missed(&f.self->door); /* makes progress */
    left = !wtl_global_request_is_done(&e->request);
    if (!left) release(hdl, e);
  }
  return left;
}
ARMCI_TWIN(int, Test, armci_hdl_t *hdl)

int PARMCI_WaitProc(int proc)
{
  ARMCI_ENTER(ARMCI_WaitProc, 0);
  armci_check_proc(&f, proc);
  if (!wtl_global_is_near(f.self, proc)) armci_wait_all(f.self, f.site);
  return 0;
}
ARMCI_TWIN(int, WaitProc, int proc)

int PARMCI_WaitAll(void)
{
  ARMCI_ENTER(ARMCI_WaitAll, 0);
  armci_wait_all(f.self, f.site);
  return 0;
}
ARMCI_TWIN(int, WaitAll, void)
