/*
 * lsms.h - the two-stage pattern of LSMS (section 5.4 of the dissertation): a root, masters of groups, and workers.
 *
 * PE 0 is the root. The others form groups of consecutive PEs. The first PE of a group is its master, the others are
 * its workers. In each step
 *   1. the root sends a configuration, many small parameters, to each master; each master computes parameters from it
 *      for each of its workers and sends them (transfer stage);
 *   2. all members of a group compute, unequally, and all PEs synchronize (synchronization stage);
 *   3. workers send their results to their master, masters send the sum of their group to the root.
 * The sum over all groups determines the next configuration. So one wrong parameter changes all later results.
 *
 * Results are integers that depend on the parameters, the number of PEs and the groups, and on nothing else.
 * lsms_expected computes them sequentially.
 */
#ifndef APPS_LSMS_H
#define APPS_LSMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The access patterns of chapter 8. P: put, Q: quiet, M: copy between a user buffer and a pinned one, A: atomic flag.
 * A repeated part is one parameter. */
typedef enum lsms_pattern { PQPQ, PPQ, MPQMPQ, MPMPQ, MMPQAMM, LSMS_PATTERNS } lsms_pattern;

/* Names by enum lsms_pattern, ended by NULL. */
extern const char *const lsms_patterns[LSMS_PATTERNS + 1];

static inline bool lsms_blocks(lsms_pattern p)
{
  return p == PQPQ || p == MPQMPQ;
}

static inline bool lsms_copies(lsms_pattern p)
{
  return p == MPQMPQ || p == MPMPQ;
}

/* The roles of all PEs, and this PE's own. */
typedef struct lsms_job {
  int me, n_pes, groups;
  int group;     /* of this PE; -1: it is the root */
  int master;    /* of this PE's group; the root: -1 */
  int end;       /* the PE after the last one of the group */
  size_t n;      /* parameters in a message */
  size_t bytes;  /* of a parameter, a multiple of 8 */
  size_t stride; /* bytes between the starts of two parameters in memory: no two share a cache line */
  lsms_pattern pattern;
} lsms_job;

/* The first PE of a group; of the group after the last one, the number of PEs. */
int lsms_first(const lsms_job *j, int group);

/* Fills the roles. groups is limited to the number of PEs without the root. */
void lsms_roles(lsms_job *j, int me, int n_pes, int groups);

static inline uint64_t *lsms_parameter(const lsms_job *j, void *parameters, size_t i)
{
  return (uint64_t *)((char *)parameters + i * j->stride);
}

/* Copies all parameters to a buffer without gaps, and back. */
void lsms_pack(const lsms_job *j, char *packed, void *parameters);
void lsms_unpack(const lsms_job *j, void *parameters, const char *packed);

/* The memory from which parameter i is sent: its place in `pinned`, to which it is copied, where the pattern copies;
 * else its own. */
void *lsms_source(const lsms_job *j, void *parameters, void *pinned, size_t i);

/* The configuration of a group in a step whose seed is `seed`. */
void lsms_configure(const lsms_job *j, uint64_t seed, int group, void *configuration);

/* The parameters of PE `pe`, from its group's configuration. */
void lsms_derive(const lsms_job *j, void *configuration, int pe, void *parameters);

/* The result of a PE: a checksum over its parameters. */
uint64_t lsms_result(const lsms_job *j, void *parameters);

/* The seed of the step after one with the sum `sum`. */
uint64_t lsms_next(uint64_t sum);

/* The sum of the last of `steps` steps, computed sequentially. Returns false where memory ran out. */
bool lsms_expected(const lsms_job *j, uint64_t seed, long steps, uint64_t *sum);

/* ---- functions of a version ---- */

extern const char lsms_version[]; /* "mpi" or "shmem" */

/* Memory for the parameters that a message sends, or for those that arrive. Memory from which the pattern sends
 * directly is symmetric in OpenSHMEM. Called for all PEs with the same arguments. Ends the program where memory runs
 * out. */
void *version_start(const lsms_job *j);
void *version_inbox(void);
void version_end(void);

/* Sends the parameters to PE `to`, by the pattern of the job. They may be changed when it returns. */
void version_send(const lsms_job *j, int to, void *parameters);

/* Waits for the parameters of this step from PE `from`, and leaves them in the inbox. */
void version_receive(const lsms_job *j, int from);

/* A worker sends its result to its master. Called before the barrier of the step. */
void version_report(const lsms_job *j, uint64_t result);

/* A master returns the sum of its workers' results. Called after the barrier. */
uint64_t version_collect(const lsms_job *j);

/* A master sends the sum of its group to the root; the root returns the sum over all groups. */
void version_conclude(const lsms_job *j, uint64_t sum);
uint64_t version_total(const lsms_job *j);

#endif
