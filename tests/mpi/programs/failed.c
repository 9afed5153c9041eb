/*
 * Requests that fail while a process waits for them, with as much of MPI for threads as the first word says: errors and
 * statuses of Waitall, Waitany, Waitsome and Wait. The handler of MPI_COMM_WORLD returns.
 *
 * The receiver says that it is about to wait. The sender sends when it sees the receiver wait, so the failure comes in
 * the wait.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../wait/waiting_thread.h"

enum { WAITS = 5 };
static int sent[4], got[4];

static const char *name(int code)
{
  int class;
  MPI_Error_class(code, &class);
  switch (class) {
  case MPI_SUCCESS: return "success";
  case MPI_ERR_TRUNCATE: return "truncated";
  case MPI_ERR_IN_STATUS: return "in status";
  case MPI_ERR_PENDING: return "pending";
  default: return "another";
  }
}

/* The second of each pair of messages, if it fits, is there first: MPI may leave a wait at the first failure. */
static void send_late(void)
{
  long receiver[2];
  MPI_Recv(receiver, 2, MPI_LONG, 1, 2 * WAITS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int wait = 0; wait < WAITS; wait++) {
    MPI_Send(sent, 1, MPI_INT, 1, 2 * wait + 1, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    await_waiting_thread(receiver, "either");
    MPI_Send(sent, 4, MPI_INT, 1, 2 * wait, MPI_COMM_WORLD);
  }
}

static void post(int wait, MPI_Request request[2])
{
  MPI_Irecv(&got[0], 1, MPI_INT, 0, 2 * wait, MPI_COMM_WORLD, &request[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, 0, 2 * wait + 1, MPI_COMM_WORLD, &request[1]);
}

/* The one that fits is done, and the request gone where `alone`. */
static void ready(MPI_Request request[2], int alone)
{
  int done = 0;
  while (!done && alone) MPI_Test(&request[1], &done, MPI_STATUS_IGNORE);
  while (!done) MPI_Request_get_status(request[1], &done, MPI_STATUS_IGNORE);
  MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void wait_all(int wait, int wanted)
{
  MPI_Request r[2];
  MPI_Status s[2] = {{.MPI_ERROR = MPI_SUCCESS}, {.MPI_ERROR = MPI_SUCCESS}};
  post(wait, r);
  ready(r, 0);
  int rc = MPI_Waitall(2, r, wanted ? s : MPI_STATUSES_IGNORE);
  printf("Waitall: %s; %s, %s;", name(rc), name(s[0].MPI_ERROR), name(s[1].MPI_ERROR));
  printf(" gone: %d %d\n", r[0] == MPI_REQUEST_NULL, r[1] == MPI_REQUEST_NULL);
}

static void receive(void)
{
  MPI_Request r[2];
  MPI_Status s[2] = {{.MPI_ERROR = MPI_SUCCESS}, {.MPI_ERROR = MPI_SUCCESS}};
  int rc, n, which[2] = {-1, -1};
  MPI_Send((long[]){getpid(), gettid()}, 2, MPI_LONG, 0, 2 * WAITS, MPI_COMM_WORLD);
  wait_all(0, 1);
  wait_all(1, 0);
  post(2, r);
  ready(r, 1);
  rc = MPI_Waitany(2, r, which, s);
  printf("Waitany: %s; %d; gone: %d\n", name(rc), which[0], r[0] == MPI_REQUEST_NULL);
  post(3, r);
  ready(r, 1);
  rc = MPI_Waitsome(2, r, &n, which, s);
  printf("Waitsome: %s; %d: %d; %s; gone: %d\n", name(rc), n, which[0], name(s[0].MPI_ERROR), r[0] == MPI_REQUEST_NULL);
  post(4, r);
  ready(r, 1);
  rc = MPI_Wait(r, s);
  printf("Wait: %s; gone: %d\n", name(rc), r[0] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
  int provided, me;
  if (argc != 2) return 2;
  MPI_Init_thread(&argc, &argv, atoi(argv[1]) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) send_late();
  if (me == 1) receive();
  MPI_Finalize();
  return 0;
}
