/*
 * late_armci.c - tests that every blocking call of ARMCI waits through the wait door (wait/late.h).
 *
 * On two nodes this includes calls that wait for the other node's agent, even while that agent's PE is busy.
 *
 * usage: late_armci near|far asleep|busy|either [list]. far: the PEs are on two nodes. asleep, busy, either: the
 * expected state of a waiting PE. list: prints the calls instead, by their names in profiles, one line for each place.
 */
#include "armci_tests.h"
#include "wait/late.h"

long armci_tcgmsg_nxtval(long *processes);
void armci_tcgmsg_snd(long *type, void *buf, long *bytes, long *node, long *sync);
void armci_tcgmsg_rcv(long *type, void *buf, long *room, long *came, long *node, long *from, long *sync);
void armci_tcgmsg_synch(long *type);
void armci_tcgmsg_brdcst(long *type, void *buf, long *bytes, long *root);

enum { ROWS = 20, ROW = 64, TIMES = 20 };

typedef struct walk {
  watcher watcher;
  int me;
  ARMCI_Group turned, split; /* turned: PE 1 is its first member and receives from the other one */
  void *ptrs[2], *of_group[2];
  char *memory[2]; /* ROWS * ROW bytes of each PE */
  armcix_mutex_hdl_t set;
} walk;

static void late(walk *w)
{
  come_late(&w->watcher);
}

/* --- collective --------------------------------------------------------------------------------------------------- */

#define COLLECTIVE(NAME, CALL)                                                                                         \
  static void call_##NAME(walk *w)                                                                                     \
  {                                                                                                                    \
    long l = 3;                                                                                                        \
    double d = 1;                                                                                                      \
    void *addresses[2] = {w, w};                                                                                       \
    (void)l, (void)d, (void)addresses;                                                                                 \
    late(w);                                                                                                           \
    CALL;                                                                                                              \
  }
COLLECTIVE(barrier, ARMCI_Barrier())
COLLECTIVE(malloc, ARMCI_Malloc(w->ptrs, 100))
COLLECTIVE(free, ARMCI_Free(w->ptrs[w->me]))
COLLECTIVE(malloc_group, ARMCI_Malloc_group(w->of_group, 100, &w->turned))
COLLECTIVE(free_group, ARMCI_Free_group(w->of_group[!w->me], &w->turned))
COLLECTIVE(malloc_memdev, ARMCI_Malloc_memdev(w->ptrs, 100, "host"))
COLLECTIVE(free_memdev, ARMCI_Free_memdev(w->ptrs[w->me]))
COLLECTIVE(split, ARMCIX_Group_split(&w->turned, 0, w->me, &w->split))
COLLECTIVE(create_mutexes, ARMCI_Create_mutexes(1))
COLLECTIVE(destroy_mutexes, ARMCI_Destroy_mutexes())
COLLECTIVE(create_set, w->set = ARMCIX_Create_mutexes_hdl(1, &w->turned))
COLLECTIVE(destroy_set, ARMCIX_Destroy_mutexes_hdl(w->set))
COLLECTIVE(msg_barrier, armci_msg_barrier())
COLLECTIVE(group_barrier, armci_msg_group_barrier(&w->turned))
COLLECTIVE(bcast, armci_msg_bcast(&l, sizeof l, 0))
COLLECTIVE(brdcst, armci_msg_brdcst(&l, sizeof l, 0))
COLLECTIVE(bcast_scope, armci_msg_bcast_scope(SCOPE_ALL, &l, sizeof l, 0))
COLLECTIVE(group_bcast, armci_msg_group_bcast_scope(SCOPE_ALL, &l, sizeof l, 0, &w->turned))
COLLECTIVE(gop, armci_msg_lgop(&l, 1, "+"))
COLLECTIVE(gop_scope, armci_msg_gop_scope(SCOPE_ALL, &d, 1, "max", ARMCI_DOUBLE))
COLLECTIVE(reduce, armci_msg_reduce(&d, 1, "min", ARMCI_DOUBLE))
COLLECTIVE(group_gop, armci_msg_group_dgop(&d, 1, "*", &w->turned))
COLLECTIVE(sel, armci_msg_sel(&d, sizeof d, "min", ARMCI_DOUBLE, 1))
COLLECTIVE(exchange, armci_exchange_address(addresses, 2))
COLLECTIVE(exchange_group, armci_exchange_address_grp(addresses, 2, &w->turned))
COLLECTIVE(synch, armci_tcgmsg_synch(&l))

static void call_tcgmsg_brdcst(walk *w)
{
  long type = 1, value = 2, bytes = sizeof value, root = 0;
  late(w);
  armci_tcgmsg_brdcst(&type, &value, &bytes, &root);
}

static void call_nxtval(walk *w)
{
  long again = -1;
  late(w);
  armci_tcgmsg_nxtval(&again);
}

/* --- PE 1 waits for what PE 0 does -------------------------------------------------------------------------------- */

static void call_notify_wait(walk *w)
{
  int times;
  late(w);
  if (w->me == 0) armci_notify(1);
  if (w->me == 1) armci_notify_wait(0, &times);
}

static void call_rcv(walk *w)
{
  long l = 5;
  late(w);
  if (w->me == 0) armci_msg_snd(1, &l, sizeof l, 1);
  if (w->me == 1) armci_msg_rcv(1, &l, sizeof l, NULL, 0);
}

static void call_rcvany(walk *w)
{
  long l = 5;
  late(w);
  if (w->me == 0) armci_msg_snd(2, &l, sizeof l, 1);
  if (w->me == 1) armci_msg_rcvany(2, &l, sizeof l, NULL);
}

static void call_tcgmsg_rcv(walk *w)
{
  long type = 3, value = 4, bytes = sizeof value, to = 1, from = 0, sync = 1, came, who;
  late(w);
  if (w->me == 0) armci_tcgmsg_snd(&type, &value, &bytes, &to, &sync);
  if (w->me == 1) armci_tcgmsg_rcv(&type, &value, &bytes, &came, &from, &who, &sync);
}

static void call_lock(walk *w)
{
  if (w->me == 0) ARMCI_Lock(0, 0);
  shmem_sync_all();
  late(w);
  if (w->me == 1) ARMCI_Lock(0, 0);
  ARMCI_Unlock(0, 0);
}

static void call_lock_hdl(walk *w)
{
  if (w->me == 0) ARMCIX_Lock_hdl(w->set, 0, 1);
  shmem_sync_all();
  late(w);
  if (w->me == 1) ARMCIX_Lock_hdl(w->set, 0, 1);
  ARMCIX_Unlock_hdl(w->set, 0, 1);
}

/* --- the other node's agent --------------------------------------------------------------------------------------- */

/* Several times: an answer may be there at once. */
#define FAR(NAME, CALL)                                                                                                \
  static void call_##NAME(walk *w)                                                                                     \
  {                                                                                                                    \
    enum { HERE = ROW / 2 };                                                                                           \
    static _Thread_local char here[ROWS * HERE];                                                                       \
    char *there = w->memory[0];                                                                                        \
    int stride[1] = {ROW}, packed[1] = {HERE}, count[2] = {HERE, ROWS};                                                \
    long one = 1;                                                                                                      \
    void *from[2] = {there, there + ROW}, *to[2] = {here, here + HERE};                                                \
    armci_giov_t fetched = {from, to, HERE, 2};                                                                        \
    armci_hdl_t hdl;                                                                                                   \
    (void)here, (void)one, (void)fetched, (void)hdl, (void)stride, (void)packed, (void)count;                          \
    ARMCI_INIT_HANDLE(&hdl);                                                                                           \
    for (int i = 0; w->me == 1 && i < TIMES; i++) { CALL; }                                                            \
    shmem_sync_all();                                                                                                  \
  }
#define BEGIN_GETS(HDL) ARMCI_NbGetS(there, stride, here, packed, count, 1, 0, HDL)
#define BEGIN_ACCS ARMCI_AccS(ARMCI_ACC_LNG, &one, here, packed, there, stride, count, 1, 0)
FAR(get, ARMCI_Get(there, here, HERE, 0))
FAR(get_value, ARMCI_GetValueLong(there, 0))
FAR(gets, ARMCI_GetS(there, stride, here, packed, count, 1, 0))
FAR(getv, ARMCI_GetV(&fetched, 1, 0))
FAR(rmw, ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &one, there, 1, 0))
FAR(wait, BEGIN_GETS(&hdl); ARMCI_Wait(&hdl))
FAR(wait_proc, BEGIN_GETS(NULL); ARMCI_WaitProc(0))
FAR(wait_all, BEGIN_GETS(NULL); ARMCI_WaitAll())
FAR(fence, BEGIN_ACCS; ARMCI_Fence(0))
FAR(all_fence, BEGIN_ACCS; ARMCI_AllFence())
FAR(group_fence, BEGIN_ACCS; ARMCI_GroupFence(&w->turned))

static const struct {
  const char *name;
  void (*make)(walk *);
} calls[] = {
    {"ARMCI_Barrier", call_barrier},
    {"ARMCI_Malloc", call_malloc},
    {"ARMCI_Free", call_free},
    {"ARMCI_Malloc", call_malloc_memdev},
    {"ARMCI_Free", call_free_memdev},
    {"ARMCI_Malloc_group", call_malloc_group},
    {"ARMCI_Free_group", call_free_group},
    {"ARMCIX_Group_split", call_split},
    {"ARMCI_Create_mutexes", call_create_mutexes},
    {"ARMCI_Create_mutexes", call_create_set},
    {"ARMCI_Lock", call_lock},
    {"ARMCI_Lock", call_lock_hdl},
    {"ARMCI_Destroy_mutexes", call_destroy_set},
    {"ARMCI_Destroy_mutexes", call_destroy_mutexes},
    {"armci_msg_barrier", call_msg_barrier},
    {"armci_msg_barrier", call_group_barrier},
    {"armci_msg_barrier", call_synch},
    {"armci_msg_bcast", call_bcast},
    {"armci_msg_bcast", call_brdcst},
    {"armci_msg_bcast", call_bcast_scope},
    {"armci_msg_bcast", call_group_bcast},
    {"armci_msg_bcast", call_tcgmsg_brdcst},
    {"armci_msg_gop", call_gop},
    {"armci_msg_gop", call_gop_scope},
    {"armci_msg_gop", call_reduce},
    {"armci_msg_gop", call_group_gop},
    {"armci_msg_sel", call_sel},
    {"armci_exchange_address", call_exchange},
    {"armci_exchange_address", call_exchange_group},
    {"armci_tcgmsg_nxtval", call_nxtval},
    {"armci_notify_wait", call_notify_wait},
    {"armci_msg_rcv", call_rcv},
    {"armci_msg_rcv", call_rcvany},
    {"armci_msg_rcv", call_tcgmsg_rcv},
    /* On two nodes. */
    {"ARMCI_Get", call_get},
    {"ARMCI_GetValue", call_get_value},
    {"ARMCI_GetS", call_gets},
    {"ARMCI_GetV", call_getv},
    {"ARMCI_Rmw", call_rmw},
    {"ARMCI_Wait", call_wait},
    {"ARMCI_WaitProc", call_wait_proc},
    {"ARMCI_WaitAll", call_wait_all},
    {"ARMCI_Fence", call_fence},
    {"ARMCI_AllFence", call_all_fence},
    {"ARMCI_GroupFence", call_group_fence},
};
enum { N_CALLS = sizeof calls / sizeof calls[0], N_FAR = 11 };

int main(int argc, char **argv)
{
  bool far = argc > 1 && strcmp(argv[1], "far") == 0;
  int n = far ? N_CALLS : N_CALLS - N_FAR;
  if (argc > 3) {
    for (int i = 0; i < n; i++) puts(calls[i].name);
    return 0;
  }
  shmem_init();
  ARMCI_Init();
  walk w = {.me = armci_msg_me()};
  ARMCI_Group_create(2, (int[]){1, 0}, &w.turned);
  ARMCI_Malloc((void **)w.memory, ROWS * ROW);
  memset(w.memory[w.me], 0, ROWS * ROW);
  watch(&w.watcher, argc > 2 ? argv[2] : "either");
  for (int i = 0; i < n; i++) calls[i].make(&w);
  EXPECT(far == !ARMCI_Same_node(!w.me), "process %d is on %s node", !w.me, far ? "this" : "another");
  shmem_sync_all();
  ARMCI_Group_free(&w.split);
  ARMCI_Group_free(&w.turned);
  ARMCI_Finalize();
  shmem_finalize();
  return failures != 0;
}
