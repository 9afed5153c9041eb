/*
 * handlers.c - who hears of an error, where error handlers are set late: prints it. By one process.
 *
 * `inherits`: a communicator that was made before anybody set a handler, and then MPI_COMM_WORLD gets one.
 * `own`: a communicator with a handler of its own, while MPI_COMM_WORLD's returns errors.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void hear(MPI_Comm *comm, int *code, ...)
{
  int class;
  (void)comm;
  MPI_Error_class(*code, &class);
  printf("the communicator's handler hears of %s\n", class == MPI_ERR_TRUNCATE ? "a truncation" : "a count");
}

static void say(int rc)
{
  int class;
  MPI_Error_class(rc, &class);
  printf("the call returned %s\n", class == MPI_ERR_TRUNCATE ? "a truncation"
                                   : class == MPI_ERR_COUNT  ? "a count"
                                                             : "?");
}

/* A message of two numbers, received as one; and one of less than none, which does not even begin. */
static void fail(MPI_Comm comm)
{
  int out[2] = {1, 2}, in;
  MPI_Request request;
  MPI_Isend(out, 2, MPI_INT, 0, 0, comm, &request);
  say(MPI_Recv(&in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say(MPI_Send(out, -1, MPI_INT, 0, 0, comm));
}

int main(int argc, char **argv)
{
  int of_own = argc > 1 && strcmp(argv[1], "own") == 0;
  MPI_Comm copy, comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
  if (of_own) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  fail(comm);
  fail(comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
