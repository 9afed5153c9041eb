/*
 * groups.c - tests groups of processes in any order, made by their members alone.
 *
 * It allocates memory of different lengths, also none. It compares collectives of all types and operations with sums
 * made here. It also tests tagged messages, notifications, nodes, TCGMSG's counter, and OpenSHMEM in the same
 * processes.
 */
#include <math.h>

#include "armci_tests.h"

long armci_tcgmsg_nxtval(long *processes);
void armci_tcgmsg_snd(long *type, void *buf, long *bytes, long *node, long *sync);
void armci_tcgmsg_rcv(long *type, void *buf, long *room, long *came, long *node, long *from, long *sync);
long armci_tcgmsg_probe(long *type, long *node);

static void memory_of_different_lengths(int me, int n)
{
  long **p = calloc((size_t)n, sizeof *p);
  REQUIRE(p);
  for (int round = 0; round < 3; round++) {
    long bytes = me % 3 == round ? 0 : (me + 1) * 1000L;
    EXPECT(ARMCI_Malloc((void **)p, bytes) == 0, "%ld bytes", bytes);
    for (int q = 0; q < n; q++)
      EXPECT((p[q] == NULL) == (q % 3 == round), "process %d has memory at %p", q, (void *)p[q]);
    for (int q = 0; q < n; q++)
      if (p[q]) ARMCI_PutValueLong(me + 1, (char *)p[q] + (q + 1) * 1000L - 8 * (me + 1), q);
    ARMCI_Barrier();
    for (int q = 0; p[me] && q < n; q++)
      EXPECT(*(long *)(void *)((char *)p[me] + (me + 1) * 1000L - 8 * (q + 1)) == q + 1, "from process %d", q);
    ARMCI_Free(p[me]);
  }
  free(p);
}

static void too_much_is_refused_on_all(int me, int n)
{
  void **p = calloc((size_t)n, sizeof *p);
  REQUIRE(p);
  EXPECT(ARMCI_Malloc(p, me == n - 1 ? 1L << 62 : 100) != 0, "process %d", me);
  EXPECT(p[0] == NULL && p[n - 1] == NULL, "%p %p", p[0], p[n - 1]);
  EXPECT(ARMCI_Malloc(p, 100) == 0, "and then there is room again");
  ARMCI_Free(p[me]);
  free(p);
}

/* Sums of each type over a group of processes `pe`, and what else can be computed. */
static void reductions(int me, const int *pe, int n, ARMCI_Group *g)
{
  enum { N = 3000 };
  static const char *const ops[] = {"+", "*", "max", "min", "absmax", "absmin"}, *const of_bits[] = {"and",  "&",
                                                                                                     "band", "or",
                                                                                                     "|",    "bor",
                                                                                                     "xor",  "bxor",
                                                                                                     "bxor"},
                           *const of_truth[] = {"&&", "land", "||", "lor"};
  double *x = calloc(N, sizeof *x);
  REQUIRE(x);
  for (int op = 0; op < 6; op++) {
    for (int count = 1; count <= N; count = count * 7 + 2) {
      for (int i = 0; i < count; i++) x[i] = (i % 5 - 2) + (me % 2 ? 1 : -1) * (me % 3);
      armci_msg_group_dgop(x, count, (char *)(uintptr_t)ops[op], g);
      for (int i = 0; i < count; i++) {
        double want = 0;
        for (int k = 0; k < n; k++) {
          double v = (i % 5 - 2) + (pe[k] % 2 ? 1 : -1) * (pe[k] % 3), a = fabs(v);
          if (k == 0)
            want = op < 4 ? v : a;
          else if (op == 0)
            want += v;
          else if (op == 1)
            want *= v;
          else if (op == 2)
            want = v > want ? v : want;
          else if (op == 3)
            want = v < want ? v : want;
          else if (op == 4)
            want = a > want ? a : want;
          else
            want = a < want ? a : want;
        }
        EXPECT(x[i] == want, "%s of %d: element %d is %g, not %g", ops[op], count, i, x[i], want);
      }
    }
  }
  for (int op = 0; op < 9; op++) {
    int v = 0x5a5a ^ (me + 1), want = 0;
    for (int k = 0; k < n; k++) {
      int theirs = 0x5a5a ^ (pe[k] + 1);
      want = k == 0 ? theirs : op < 3 ? want & theirs : op < 6 ? want | theirs : want ^ theirs;
    }
    armci_msg_group_igop(&v, 1, (char *)(uintptr_t)of_bits[op], g);
    EXPECT(v == want, "%s: %x, not %x", of_bits[op], (unsigned)v, (unsigned)want);
  }
  for (int op = 0; op < 4; op++) { /* all are true; one is; none is */
    long v[3] = {me + 2, me == pe[n - 1] ? 4 : 0, 0}, one_is = op >= 2 || n == 1;
    armci_msg_group_lgop(v, 3, (char *)(uintptr_t)of_truth[op], g);
    EXPECT(v[0] == 1 && v[1] == one_is && v[2] == 0, "%s: %ld %ld %ld", of_truth[op], v[0], v[1], v[2]);
  }
  long l = me + 1;
  long long ll = 3 - me;
  float f = (float)me;
  armci_msg_group_lgop(&l, 1, "+", g);
  armci_msg_group_llgop(&ll, 1, "max", g);
  armci_msg_group_fgop(&f, 1, "min", g);
  int least = pe[0], sum = 0;
  for (int k = 0; k < n; k++) {
    if (pe[k] < least) least = pe[k];
    sum += pe[k] + 1;
  }
  EXPECT(l == sum && ll == 3 - least && f == (float)least, "%ld %lld %g", l, ll, (double)f);
  free(x);
}

static void use_group(int me, int *pe, int n, ARMCI_Group *g)
{
  int rank = -2, size = 0;
  void **p = calloc((size_t)n, sizeof *p);
  REQUIRE(p);
  EXPECT(ARMCI_Group_rank(g, &rank) == 0 && pe[rank] == me, "rank %d", rank);
  ARMCI_Group_size(g, &size);
  EXPECT(size == n && ARMCI_Absolute_id(g, n - 1) == pe[n - 1], "size %d", size);
  EXPECT(ARMCI_Malloc_group(p, 64 + rank, g) == 0, "no memory");
  ARMCI_PutValueInt(me, p[(rank + 1) % n], pe[(rank + 1) % n]);
  ARMCI_GroupFence(g);
  armci_msg_group_barrier(g);
  EXPECT(*(int *)p[rank] == pe[(rank + n - 1) % n], "%d", *(int *)p[rank]);
  char text[70000];
  for (int root = 0; root < n; root++) {
    memset(text, me == pe[root] ? root + 1 : 0, sizeof text);
    armci_msg_group_bcast_scope(SCOPE_ALL, text, root % 2 ? (int)sizeof text : 5, pe[root], g);
    EXPECT(text[0] == root + 1 && text[4] == root + 1, "from %d", pe[root]);
  }
  reductions(me, pe, n, g);
  ARMCI_Free_group(p[rank], g);
  free(p);
}

static void groups(int me, int n)
{
  ARMCI_Group odd_ones, world, pair, dup, got;
  int *all = calloc((size_t)n, sizeof *all), *mine = calloc((size_t)n, sizeof *mine), k = 0, size = 0, rank;
  REQUIRE(all);
  REQUIRE(mine);
  for (int i = 0; i < n; i++) all[i] = i;
  ARMCI_Group_get_world(&world);
  use_group(me, all, n, &world);
  for (int i = n - 1; i >= 0; i--)
    if (i % 2 == me % 2) mine[k++] = i; /* from the last to the first */
  ARMCI_Group_create(k, mine, &odd_ones);
  use_group(me, mine, k, &odd_ones);
  ARMCI_Group_set_default(&odd_ones);
  ARMCI_Group_get_default(&got);
  ARMCI_Group_size(&got, &size);
  EXPECT(size == k, "the default group has %d", size);
  int first[2] = {0, k - 1}, m = k > 1 ? 2 : 1; /* of the default group */
  ARMCI_Group_create(m, first, &pair);
  ARMCI_Group_set_default(&world);
  if (ARMCI_Group_rank(&pair, &rank) == 0) {
    int members[2] = {mine[0], mine[k - 1]};
    use_group(me, members, m, &pair);
    ARMCI_Group_free(&pair);
  } else {
    EXPECT(rank == -1 && me != mine[0] && me != mine[k - 1], "rank %d", rank);
  }
  ARMCI_Group_rank(&odd_ones, &rank);
  ARMCIX_Group_dup(&odd_ones, &dup);
  armci_msg_group_barrier(&dup);
  armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &dup);
  ARMCI_Group_free(&dup); /* the set outlives it */
  ARMCIX_Group_split(&odd_ones, rank == 0 ? -1 : rank % 2, 0, &dup);
  EXPECT((ARMCI_Group_rank(&dup, &size) == 0) == (rank != 0), "split: %d, process %d of the group", size, rank);
  ARMCI_Group_free(&dup);
  long **count = calloc((size_t)k, sizeof *count);
  REQUIRE(count);
  ARMCI_Malloc_group((void **)count, sizeof **count, &odd_ones);
  ARMCI_Group_rank(&odd_ones, &rank);
  *count[rank] = 0;
  armci_msg_group_barrier(&odd_ones);
  for (int i = 0; i < 30; i++) {
    if (i % 2)
      while (ARMCIX_Trylock_hdl(set, 0, mine[0])) continue;
    else
      ARMCIX_Lock_hdl(set, 0, mine[0]);
    long v = ARMCI_GetValueLong(count[0], mine[0]);
    ARMCI_PutValueLong(v + 1, count[0], mine[0]);
    ARMCIX_Unlock_hdl(set, 0, mine[0]);
  }
  armci_msg_group_barrier(&odd_ones);
  EXPECT(ARMCI_GetValueLong(count[0], mine[0]) == 30L * k, "%ld", ARMCI_GetValueLong(count[0], mine[0]));
  ARMCI_Free_group(count[rank], &odd_ones);
  ARMCIX_Destroy_mutexes_hdl(set);
  ARMCI_Group_free(&odd_ones);
  free(count);
  free(all);
  free(mine);
}

static void collectives(int me, int n)
{
  struct {
    double value;
    int from[3];
  } best = {.value = me == n - 1 ? -100 : fabs(me - 2.2), .from = {me, me, me}};
  armci_msg_sel_scope(SCOPE_ALL, &best, sizeof best, "min", ARMCI_DOUBLE, me != n - 1 || n == 1);
  int want = n == 1 ? 0 : n == 2 ? 0 : n == 3 ? 1 : 2;
  EXPECT(best.from[0] == want, "of %d processes %d", n, best.from[0]);
  void **p = calloc((size_t)n, sizeof *p);
  REQUIRE(p);
  p[me] = (char *)p + me;
  armci_exchange_address(p, n);
  for (int q = 0; q < n; q++)
    EXPECT((uintptr_t)p[q] % 8 == ((uintptr_t)p[me] - (uintptr_t)me + (uintptr_t)q) % 8, "%p", p[q]);
  int root, up, left, right, parents = 0;
  armci_msg_bintree(SCOPE_ALL, &root, &up, &left, &right);
  EXPECT(root == 0 && (up < 0) == (me == 0), "root %d, up %d", root, up);
  parents = (left >= 0) + (right >= 0);
  armci_msg_igop(&parents, 1, "+");
  EXPECT(parents == n - 1, "%d", parents);
  int on_node = 1, nodes = 0, masters = 0;
  armci_msg_clus_igop(&on_node, 1, "+");
  EXPECT(on_node == armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1), "%d", on_node);
  for (int d = 0; d < armci_domain_count(ARMCI_DOMAIN_SMP); d++) nodes += armci_domain_nprocs(ARMCI_DOMAIN_SMP, d);
  EXPECT(nodes == n, "%d", nodes);
  EXPECT(armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, armci_domain_id(ARMCI_DOMAIN_SMP, me), 0) <= me, "the first one");
  EXPECT(ARMCI_Same_node(me) && armci_domain_same_id(ARMCI_DOMAIN_SMP, me), "this process is on this node");
  masters = 1;
  armci_msg_gop_scope(SCOPE_MASTERS, &masters, 1, "+", ARMCI_INT);
  armci_msg_bcast_scope(SCOPE_NODE, &masters, sizeof masters, 0);
  EXPECT(masters == armci_domain_count(ARMCI_DOMAIN_SMP), "%d", masters);
  free(p);
}

static void messages(int me, int n)
{
  enum { LONG_ONE = 200000 };
  char *text = malloc(LONG_ONE);
  REQUIRE(text);
  int to = (me + 1) % n, from = (me + n - 1) % n, came = 0;
  for (int tag = 0; tag < 4; tag++) {
    memset(text, 10 * tag + me % 10, LONG_ONE);
    armci_msg_snd(tag, text, tag == 3 ? LONG_ONE : tag, to);
  }
  for (int tag = 3; tag >= 0; tag--) { /* not in the order in which they were sent */
    memset(text, -1, LONG_ONE);
    if (tag == 2) {
      EXPECT(armci_msg_rcvany(tag, text, LONG_ONE, &came) == from, "from another one");
    } else {
      armci_msg_rcv(tag, text, LONG_ONE, &came, from);
    }
    int length = tag == 3 ? LONG_ONE : tag;
    EXPECT(came == length, "tag %d: %d bytes", tag, came);
    for (int i = 0; i < length; i++) EXPECT(text[i] == (char)(10 * tag + from % 10), "byte %d of tag %d", i, tag);
  }
  long type = 9, bytes = sizeof type, node = to, sync = 1, got = 0, length = 0, any = -1, who = -1;
  armci_tcgmsg_snd(&type, &node, &bytes, &node, &sync);
  armci_tcgmsg_rcv(&type, &got, &bytes, &length, &any, &who, &sync);
  EXPECT(got == me && length == bytes && who == from, "%ld of %ld bytes from %ld", got, length, who);
  EXPECT(!armci_tcgmsg_probe(&type, &any), "nothing more");
  free(text);
}

static void notifications(int me, int n)
{
  int **flags = calloc((size_t)n, sizeof *flags), to = (me + 1) % n, from = (me + n - 1) % n, times;
  REQUIRE(flags);
  ARMCI_Malloc((void **)flags, 2 * sizeof **flags);
  for (int i = 1; i <= 20; i++) {
    int value = 100 * i + me;
    ARMCI_Put(&value, flags[to], sizeof value, to);
    EXPECT(armci_notify(to) == i, "turn %d", i);
    EXPECT(armci_notify_wait(from, &times) == i && times == i, "turn %d: %d", i, times);
    EXPECT(flags[me][0] == 100 * i + from, "%d", flags[me][0]);
    ARMCI_Barrier();
  }
  int value = 7;
  flags[me][1] = 0;
  ARMCI_Barrier();
  ARMCI_Put_flag(&value, flags[to], sizeof value, &flags[to][1], 1, to);
  ARMCI_Fence(to);
  ARMCI_Barrier();
  EXPECT(flags[me][0] == 7 && flags[me][1] == 1, "%d %d", flags[me][0], flags[me][1]);
  ARMCI_Free(flags[me]);
  free(flags);
}

static void the_shared_counter(int n)
{
  long some = 1, again = -1, sum = 0;
  for (int round = 0; round < 2; round++, sum = 0) {
    for (int i = 0; i < 25; i++) sum += armci_tcgmsg_nxtval(&some);
    armci_msg_lgop(&sum, 1, "+");
    EXPECT(sum == 25L * n * (25L * n - 1) / 2, "%ld", sum);
    armci_tcgmsg_nxtval(&again);
  }
}

static void beside_openshmem(int me, int n)
{
  long *word = shmem_malloc(sizeof *word);
  *word = 0;
  shmem_barrier_all();
  shmem_long_atomic_add(word, me + 1, (me + 1) % n);
  shmem_barrier_all();
  EXPECT(*word == (me + n - 1) % n + 1, "%ld", *word);
  shmem_free(word);
}

int main(int argc, char **argv)
{
  bool shmem_first = argc > 1;
  (void)argv;
  if (shmem_first) shmem_init();
  ARMCI_Init();
  EXPECT(ARMCI_Initialized(), "not initialised");
  if (!shmem_first) shmem_init();
  int me = armci_msg_me(), n = armci_msg_nproc();
  EXPECT(shmem_my_pe() == me && shmem_n_pes() == n, "%d of %d", shmem_my_pe(), shmem_n_pes());
  memory_of_different_lengths(me, n);
  too_much_is_refused_on_all(me, n);
  groups(me, n);
  collectives(me, n);
  messages(me, n);
  notifications(me, n);
  the_shared_counter(n);
  beside_openshmem(me, n);
  int failed = failures;
  if (shmem_first) {
    ARMCI_Finalize();
    EXPECT(!ARMCI_Initialized(), "still initialised");
    beside_openshmem(me, n);
    ARMCI_Init(); /* and once more */
    groups(me, n);
    ARMCI_Finalize();
    shmem_finalize();
  } else {
    shmem_finalize();
    ARMCI_Barrier();
    ARMCI_Finalize();
  }
  return failed + failures != 0;
}
