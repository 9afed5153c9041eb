/* An ARMCI program of about SECONDS, for faults to hit. usage: armci_work PLACE SECONDS FOLDER; places as in shmem_work.c. */
#include <armci.h>

#include "marks.h"

static void *words[64]; /* of all processes: 64 longs each */

static void meet_until_over(const task *t, int me, int n)
{
  long here[64] = {0}, old;
  int over = 0;
  while (!over) {
    ARMCI_Put(here, (long *)words[(me + 1) % n] + 1, sizeof here - sizeof *here, (me + 1) % n);
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, words[0], 1, 0);
    ARMCI_AllFence();
    over = me == 0 && is_over(t);
    armci_msg_igop(&over, 1, "max");
  }
}

static void wait_for_the_last(const task *t, int me, int n)
{
  int last = me == n - 1, word = 0, length;
  if (is_at(t, "lock") && last) ARMCI_Lock(0, 0);
  ARMCI_Barrier();
  if (last) {
    while (!is_over(t)) usleep(10000);
    if (is_at(t, "crash")) crash();
  }
  if (is_at(t, "lock")) {
    if (!last) ARMCI_Lock(0, 0);
    ARMCI_Unlock(0, 0);
  }
  for (int to = 0; is_at(t, "wait") && last && to < n - 1; to++) armci_msg_snd(1, &word, sizeof word, to);
  if (is_at(t, "wait") && !last) armci_msg_rcv(1, &word, sizeof word, &length, n - 1);
  ARMCI_Barrier();
}

int main(int argc, char **argv)
{
  task t = task_of(argc, argv);
  armci_msg_init(&argc, &argv);
  ARMCI_Init_args(&argc, &argv);
  int me = armci_msg_me(), n = armci_msg_nproc();
  ARMCI_Malloc(words, 64 * sizeof(long));
  ARMCI_Create_mutexes(1);
  begin(&t, me);
  if (is_at(&t, "rounds"))
    meet_until_over(&t, me, n);
  else if (is_at(&t, "compute"))
    compute(&t);
  else
    wait_for_the_last(&t, me, n);
  mark(&t, "ending", me);
  ARMCI_Destroy_mutexes();
  ARMCI_Free(words[me]);
  ARMCI_Finalize();
  armci_msg_finalize();
  mark(&t, "end", me);
  return 0;
}
