/*
 * protocols.c - two-sided messages from rank 0 to rank 1 of two: a payload in fragments of the same size, one message
 * each (listing B.4 of the dissertation). Cases: PAYLOAD:FRAGMENTS, bytes and messages.
 *
 * The MPI and its network select the protocol, eager or rendezvous; --probe finds out which. Time, CPU seconds and
 * joules are each rank's own, from the barrier before the first message to the return of the last call. Data are
 * checked after each sample.
 */
#include <signal.h>
#include <unistd.h>

#include "../slack/sample.h"
#include "messages.h"

enum { END_S = 3 }; /* seconds for MPI_Finalize */
enum { MOST_PAYLOAD = 1 << 28, MOST_FRAGMENTS = 1 << 24 };
enum { REPEAT, LEAST, PROBE, N_OPTIONS };

static option options[N_OPTIONS] = {
    [REPEAT] = OPTION_NUMBER("repeat", 1, 1, 10000, "number of measurements of each case"),
    [LEAST] = OPTION_NUMBER("least", 0.01, 0, 60, "shortest time of the transfers in a sample, in seconds"),
    [PROBE] = OPTION_FLAG("probe", "report whether a message of each size is eager: it leaves before its receive"),
};

static unsigned char *buffer;
static int serial; /* of the transfer; determines its bytes */

static unsigned char byte_of(size_t at)
{
  return (unsigned char)(at * 7 + (at >> 8) + (size_t)serial);
}

static void fill(size_t payload)
{
  for (size_t i = 0; i < payload; i++) buffer[i] = byte_of(i);
}

static bool has_come(size_t payload)
{
  for (size_t i = 0; i < payload; i++)
    if (buffer[i] != byte_of(i)) return false;
  return true;
}

static void transfer(size_t payload, long fragments)
{
  job_barrier();
  measure_resume();
  messages_transfer(buffer, payload / (size_t)fragments, fragments);
  measure_pause();
}

/* The number of transfers of a sample, from the time of one at rank 0. A transfer before it ensures that no rank
 * sleeps after filling and checking. */
static long rounds_for(size_t payload, long fragments)
{
  measured one;
  transfer(payload, fragments);
  if (options[LEAST].value <= 0) return 1;
  measure_prepare();
  transfer(payload, fragments);
  measure_own(&one);
  return sample_rounds(one.seconds, options[LEAST].value);
}

/* Whether messages of a case are eager. The answer of each case is kept, because a rendezvous takes a while to find
 * out. */
static bool is_eager(int index, size_t size)
{
  static bool known[SAMPLE_MOST_CASES], eager[SAMPLE_MOST_CASES];
  if (!known[index]) eager[index] = messages_leave_early(buffer, size);
  known[index] = true;
  return eager[index];
}

static void measure(sample_case c, int index, int repeat)
{
  size_t payload = (size_t)c.x;
  long fragments = (long)c.y;
  measured mine, each[2] = {{0}};
  bool eager = options[PROBE].value && is_eager(index, payload / (size_t)fragments);
  serial++;
  if (job_me() == 0)
    fill(payload);
  else
    memset(buffer, 0, payload);
  long rounds = rounds_for(payload, fragments);
  measure_prepare();
  for (long r = 0; r < rounds; r++) transfer(payload, fragments);
  measure_own(&mine);
  measure_divide(&mine, (double)rounds);
  bool right = sample_all(job_me() != 1 || has_come(payload));
  job_gather(&mine, sizeof mine, each);
  if (job_me() != 0) return;
  for (int rank = 0; rank < 2; rank++) {
    sample_print("send", rank ? "receiver" : "sender", c, repeat, &each[rank], right);
    if (options[PROBE].value) print_flag("eager", eager);
    end_line();
  }
}

static const char *wrong(const sample_case *cases, int n)
{
  static char text[128];
  snprintf(text, sizeof text, "needs 2 ranks, not %d", job_n_pes());
  if (job_n_pes() != 2) return text;
  for (int i = 0; i < n; i++) {
    double x = cases[i].x, y = cases[i].y;
    if (x == floor(x) && y == floor(y) && y >= 1 && fmod(x, y) == 0) continue;
    snprintf(text, sizeof text, "%.0f bytes cannot be divided into %g messages of the same size", x, y);
    return text;
  }
  return NULL;
}

static void make_buffer(const sample_case *cases, int n)
{
  size_t most = 0;
  for (int i = 0; i < n; i++)
    if ((size_t)cases[i].x > most) most = (size_t)cases[i].x;
  buffer = job_calloc(1, most);
}

static void run(const sample_case *cases, int n)
{
  for (int repeat = 0; repeat < (int)options[REPEAT].value; repeat++)
    for (int i = 0; i < n; i++) measure(cases[i], i, repeat);
  free(buffer);
}

/* MPICH 4.0 over TCP by UCX may wait for ever in MPI_Finalize, where one rank needs the progress of another that makes
 * none. All results are printed by then. */
static volatile sig_atomic_t result;

static void leave(int signal)
{
  _exit(result);
}

static void end_soon(int code)
{
  result = code;
  signal(SIGALRM, leave);
  alarm(END_S);
}

int main(int argc, char **argv)
{
  return sample_main(argc, argv,
                     &(sample_program){.name = "protocols",
                                       .words = "PAYLOAD:FRAGMENTS...",
                                       .purpose = "a payload in messages from rank 0 to rank 1; cases: bytes, messages",
                                       .options = options,
                                       .n_options = N_OPTIONS,
                                       .most_x = MOST_PAYLOAD,
                                       .most_y = MOST_FRAGMENTS,
                                       .wrong = wrong,
                                       .begin = make_buffer,
                                       .run = run,
                                       .end = end_soon});
}
