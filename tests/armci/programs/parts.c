/*
 * parts.c - runs ARMCI on a part of MPI's processes.
 *
 * The parts are the odd and the even processes, in falling order. They run first one after the other, then at once,
 * and at the end all processes run. Before and after, processes are numbered as by MPI.
 */
#include <armci.h>
#include <message.h>
#include <mpi.h>
#include <stdio.h>

static void need(int good, const char *what)
{
  if (good) return;
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void work(int me, int n)
{
  int to = (me + 1) % n, from = (me + n - 1) % n, one = 1, rank, size, pair[2] = {me & ~1, me | 1}, sum = 1;
  void *all[64];
  long told;
  ARMCI_Group world, two;
  need(armci_msg_me() == me && armci_msg_nproc() == n, "ARMCI has other processes, or numbers them otherwise");
  need(!ARMCI_Malloc(all, 3 * sizeof(long)), "ARMCI_Malloc");
  long *mine = all[me], value = 100 + me;
  mine[0] = mine[1] = 0;
  ARMCI_Barrier();
  ARMCI_Put(&value, all[to], sizeof value, to);
  for (int p = 0; p < n; p++) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &told, (long *)all[p] + 1, 1, p);
  ARMCI_Barrier();
  need(mine[0] == 100 + from && mine[1] == n, "something is lost, or another's");
  armci_msg_igop(&one, 1, "+");
  need(one == n, "a sum is of others");
  ARMCI_Group_get_world(&world);
  MPI_Comm_rank(world.comm, &rank);
  MPI_Comm_size(world.comm, &size);
  need(rank == me && size == n, "the world's communicator is of others");
  if (pair[1] < n) {
    ARMCI_Group_create(2, pair, &two);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, two.comm);
    MPI_Comm_rank(two.comm, &rank);
    need(sum == 2 && rank == me % 2, "a group's communicator is of others");
    ARMCI_Group_free(&two);
  }
  ARMCI_Free(all[me]);
}

int main(int argc, char **argv)
{
  int me, n, number, members;
  MPI_Comm part;
  armci_msg_init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  need(armci_msg_me() == me && armci_msg_nproc() == n, "before ARMCI_Init processes are numbered otherwise");
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &part);
  MPI_Comm_rank(part, &number);
  MPI_Comm_size(part, &members);
  for (int turn = 0; turn < 3; turn++) {
    if (turn == 2 || turn == me % 2) {
      if (turn == 0)
        armci_msg_init_comm(part), need(armci_msg_me() == number && armci_msg_nproc() == members, "init_comm");
      need(turn == 0   ? !ARMCI_Init()
           : turn == 1 ? ARMCI_Init_mpi_comm(part) == 1
                       : !ARMCI_Init_thread_comm(MPI_THREAD_SINGLE, part),
           "ARMCI_Init");
      work(number, members);
      ARMCI_Finalize();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&part);
  need(armci_msg_me() == me && armci_msg_nproc() == n, "after ARMCI_Finalize processes are numbered otherwise");
  need(ARMCI_Init_mpi_comm(MPI_COMM_WORLD) == 1, "ARMCI_Init_mpi_comm");
  work(me, n);
  ARMCI_Finalize();
  if (me == 0) puts("all parts worked");
  armci_msg_finalize();
  return 0;
}
