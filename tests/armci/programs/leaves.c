/*
 * Programs that end without ARMCI_Finalize.
 *
 * usage: leaves mpi|exit: all, after MPI_Finalize, or without anything
 *        leaves alive: process 0, while others wait for a message and for a mutex of the last, which comes late
 *        leaves WAY: process 0 alone, by exit(0), while the others wait for it in a call
 */
#include <armci.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No process waits for process 0, which has ended. */
static void wait_for_living(int me, int n)
{
  double x = 0;
  if (me == n - 1) ARMCI_Lock(0, 0);
  armci_msg_barrier();
  if (me == 0) exit(0);
  if (me == 1) armci_msg_rcv(7, &x, sizeof x, NULL, n - 1);
  if (me == 2) ARMCI_Lock(0, 0), ARMCI_Unlock(0, 0);
  if (me != n - 1) exit(0);
  usleep(500000);
  armci_msg_snd(7, &x, sizeof x, 1);
  ARMCI_Unlock(0, 0);
  exit(0);
}

static void wait_by(const char *way, int me, int n, void **p)
{
  double x = 0;
  int mine[64], first = 0, times;
  ARMCI_Group all;
  if (!strcmp(way, "mutex")) {
    if (me == 0) ARMCI_Lock(1, n - 1);
    armci_msg_barrier();
    if (me == 0) exit(0);
    ARMCI_Lock(1, n - 1);
  }
  for (int i = 0; i < n; i++) mine[i] = n - 1 - i;
  ARMCI_Group_create(n, mine, &all);
  if (!strcmp(way, "late_finalize") && me == 0) exit(0);
  if (!strcmp(way, "late_finalize")) return; /* they come to the end, too */
  if (me == 0) exit(0);
  if (!strcmp(way, "message")) armci_msg_rcv(7, &x, sizeof x, NULL, 0);
  if (!strcmp(way, "any message")) armci_msg_rcvany(7, &x, sizeof x, NULL);
  if (!strcmp(way, "notification")) armci_notify_wait(0, &times);
  if (!strcmp(way, "barrier")) ARMCI_Barrier();
  if (!strcmp(way, "message barrier")) armci_msg_barrier();
  if (!strcmp(way, "sum")) armci_msg_dgop(&x, 1, "+");
  if (!strcmp(way, "group's sum")) armci_msg_group_dgop(&x, 1, "+", &all);
  if (!strcmp(way, "broadcast")) armci_msg_brdcst(&x, sizeof x, first);
  if (!strcmp(way, "memory")) ARMCI_Malloc(p, 100);
  if (!strcmp(way, "group's barrier")) armci_msg_group_barrier(&all);
}

int main(int argc, char **argv)
{
  void *p[64];
  if (argc < 2 || strcmp(argv[1], "late_finalize")) armci_msg_init(&argc, &argv);
  ARMCI_Init_args(&argc, &argv);
  ARMCI_Malloc(p, 100);
  ARMCI_PutValueInt(1, p[armci_msg_nproc() - 1], armci_msg_nproc() - 1);
  ARMCI_Create_mutexes(2);
  ARMCI_Barrier();
  if (argc > 1 && strcmp(argv[1], "mpi") == 0) armci_msg_finalize();
  if (argc > 1 && strcmp(argv[1], "mpi") != 0 && strcmp(argv[1], "exit") != 0) {
    if (!strcmp(argv[1], "alive"))
      wait_for_living(armci_msg_me(), armci_msg_nproc());
    else
      wait_by(argv[1], armci_msg_me(), armci_msg_nproc(), p);
    ARMCI_Finalize();
  }
  exit(0);
}
