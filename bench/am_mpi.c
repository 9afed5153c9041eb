/*
 * am_mpi.c - the cases of am_cases.h by MPI's two-sided calls, for comparison with active messages.
 *
 *   uni, many  MPI_Isend, up to CHUNK at once; the receiver calls MPI_Recv for each message. After `in_flight`
 *              messages of a sender it answers with an empty one, as shmemx_am_quiet tells a requester that its
 *        handlers have ended
 *   bi         the same both ways: MPI_Irecv and MPI_Isend, up to CHUNK at once
 *   ring       MPI_Recv, MPI_Send
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pinning a process to its core */
#endif
#include <mpi.h>

#include "am_cases.h"

static const char *const way_names[] = {"mpi", NULL};

enum { CHUNK = 256, DATA = 1, DONE, TOKEN, STAMP = 0x5a, MASK = 0x3fffffff };

static int me, pes;
static unsigned char stamp[LARGEST_MESSAGE], landing[CHUNK][LARGEST_MESSAGE];
static long *taken_from; /* by sender, since the last answer */
static long taken;
static bool strange;
static long long token, hops;

static void note(const unsigned char *message, int bytes, const scene *s)
{
  taken++;
  if ((size_t)bytes != s->bytes || *message != STAMP) strange = true;
}

static void send_round(const scene *s, int to)
{
  MPI_Request requests[CHUNK];
  for (long left = s->in_flight; left > 0;) {
    int n = left < CHUNK ? (int)left : CHUNK;
    for (int i = 0; i < n; i++) MPI_Isend(stamp, (int)s->bytes, MPI_BYTE, to, DATA, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    left -= n;
  }
  MPI_Recv(NULL, 0, MPI_BYTE, to, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_all(const scene *s, long rounds)
{
  int senders = s->t == MANY ? pes - 1 : 1, bytes;
  for (long left = rounds * s->in_flight * senders; left > 0; left--) {
    MPI_Status from;
    MPI_Recv(landing[0], (int)s->bytes, MPI_BYTE, MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &from);
    MPI_Get_count(&from, MPI_BYTE, &bytes);
    note(landing[0], bytes, s);
    if (++taken_from[from.MPI_SOURCE] == s->in_flight) {
      taken_from[from.MPI_SOURCE] = 0;
      MPI_Send(NULL, 0, MPI_BYTE, from.MPI_SOURCE, DONE, MPI_COMM_WORLD);
    }
  }
}

static void exchange_round(const scene *s, int peer)
{
  MPI_Request requests[2 * CHUNK];
  MPI_Status ends[2 * CHUNK];
  for (long left = s->in_flight; left > 0;) {
    int n = left < CHUNK ? (int)left : CHUNK, bytes;
    for (int i = 0; i < n; i++)
      MPI_Irecv(landing[i], (int)s->bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < n; i++) MPI_Isend(stamp, (int)s->bytes, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &requests[n + i]);
    MPI_Waitall(2 * n, requests, ends);
    for (int i = 0; i < n; i++) {
      MPI_Get_count(&ends[i], MPI_BYTE, &bytes);
      note(landing[i], bytes, s);
    }
    left -= n;
  }
  MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, DONE, NULL, 0, MPI_BYTE, peer, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pass(const scene *s, long long v)
{
  int small = (int)v;
  void *message = s->bytes == sizeof small ? (void *)&small : (void *)&v;
  MPI_Send(message, (int)s->bytes, MPI_BYTE, (me + 1) % pes, TOKEN, MPI_COMM_WORLD);
}

static void get(const scene *s)
{
  int small = 0, from = (me + pes - 1) % pes;
  bool is_small = s->bytes == sizeof small;
  MPI_Recv(is_small ? (void *)&small : (void *)&token, (int)s->bytes, MPI_BYTE, from, TOKEN, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  if (is_small) token = small;
}

static void run_ring(const scene *s, long rounds)
{
  for (long r = 0; r < rounds; r++) {
    if (me) get(s);
    pass(s, me ? (token + 1) & MASK : (hops + (long long)r * pes + 1) & MASK);
    if (!me) get(s);
  }
}

/* ---- functions for am_cases.h ---- */

static bool can(int way, const scene *s)
{
  if (s->t == HANDLERS) return false;
  return s->t != RING || s->bytes == sizeof(int) || s->bytes == sizeof(long long);
}

static void prepare(const scene *s) {}

static void do_rounds(int way, const scene *s, long rounds)
{
  if (s->t == RING)
    run_ring(s, rounds);
  else if (s->t == BI)
    for (long r = 0; r < rounds; r++) exchange_round(s, 1 - me);
  else if (me == (s->t == MANY ? 0 : 1))
    receive_all(s, rounds);
  else
    for (long r = 0; r < rounds; r++) send_round(s, s->t == MANY ? 0 : 1);
}

static bool is_right(int way, const scene *s, long rounds)
{
  if (s->t == RING) {
    long long last = (hops + (long long)(me ? rounds - 1 : rounds) * pes + me) & MASK;
    hops += (long long)rounds * pes;
    return token == last;
  }
  bool receives = s->t == BI || me == (s->t == MANY ? 0 : 1);
  long want = receives ? rounds * s->in_flight * (s->t == MANY ? pes - 1 : 1) : 0;
  bool right = taken == want && !strange;
  taken = 0;
  strange = false;
  return right;
}

static void meet(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

static double from_first(double v)
{
  MPI_Bcast(&v, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return v;
}

static bool all_of(bool mine)
{
  int here = mine, all = 0;
  MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &pes);
  int code = read_options(argc, argv, me, pes);
  memset(stamp, STAMP, sizeof stamp);
  taken_from = calloc((size_t)pes, sizeof *taken_from);
  if (!taken_from) MPI_Abort(MPI_COMM_WORLD, 3);
  code = run(code, me, pes);
  free(taken_from);
  MPI_Finalize();
  return code;
}
