/*
 * forks.c - forks a child that computes and ends, by _exit or by exit, or becomes another program. Prints each child's
 * exit code.
 *
 * usage: forks _exit | exit | exec PROGRAM [ARGUMENT]...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_child(char **argv)
{
  if (strcmp(argv[1], "exit") == 0) exit(7);
  if (strcmp(argv[1], "exec") == 0) execvp(argv[2], argv + 2);
  _exit(7);
}

int main(int argc, char **argv)
{
  int rank, status = 0, one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) be_child(argv);
  waitpid(child, &status, 0);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* the library still works */
  printf("child %d of %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), sum);
  MPI_Finalize();
  return 0;
}
