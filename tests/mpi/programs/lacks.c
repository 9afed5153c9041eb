/*
 * lacks.c - a sum of ranks, in processes that lack what the first argument names. "memory": rank 0 has used up its memory
 * when it calls MPI_Finalize. "fallocate": a filter refuses that call from the start, and rank 0 is killed at its end.
 * "memfd": a filter refuses memfd_create. "space": the caller has filled /dev/shm.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void refuse(unsigned call)
{
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    exit(77);
}

static void use_up_memory(void)
{
  enum { MOST = 1 << 20, LEAST = 1 << 14 };
  struct rlimit limit = {MOST, MOST};
  setrlimit(RLIMIT_AS, &limit);
  for (size_t bytes = MOST; bytes >= LEAST; bytes /= 2)
    while (malloc(bytes)) continue;
}

int main(int argc, char **argv)
{
  int me, sum = 0;
  if (strcmp(argv[1], "fallocate") == 0) refuse(SYS_fallocate);
  if (strcmp(argv[1], "memfd") == 0) refuse(SYS_memfd_create);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("sum %d\n", sum);
  fflush(stdout);
  if (me == 0 && strcmp(argv[1], "memory") == 0) use_up_memory();
  if (me == 0 && strcmp(argv[1], "fallocate") == 0) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}
