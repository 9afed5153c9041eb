/* A program that calls nothing of MPI: its processes have numbers and meet from armci_msg_init to armci_msg_finalize. */
#include <armci.h>
#include <message.h>
#include <stdio.h>

static void need(int good, const char *what)
{
  if (!good) ARMCI_Error(what, 3);
}

int main(int argc, char **argv)
{
  long *all[64], value;
  armci_msg_init(&argc, &argv);
  int me = armci_msg_me(), n = armci_msg_nproc();
  armci_msg_barrier();
  for (int round = 0; round < 2; round++) {
    ARMCI_Init();
    need(!ARMCI_Malloc((void **)all, sizeof(long)), "ARMCI_Malloc");
    value = 100 + me;
    ARMCI_Put(&value, all[(me + 1) % n], sizeof value, (me + 1) % n);
    ARMCI_Barrier();
    need(*all[me] == 100 + (me + n - 1) % n, "a put is lost");
    ARMCI_Free(all[me]);
    ARMCI_Finalize();
  }
  need(armci_msg_me() == me && armci_msg_nproc() == n, "after ARMCI_Finalize processes are numbered otherwise");
  int sum = 1;
  armci_msg_igop(&sum, 1, "+");
  if (me == 0) printf("%d\n", sum);
  fflush(stdout);
  armci_msg_finalize();
  return 0;
}
