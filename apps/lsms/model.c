/* model.c - roles, parameters and results of the two-stage pattern, see lsms.h. */
#include <stdlib.h>

#include "../common/random.h"
#include "lsms.h"

const char *const lsms_patterns[LSMS_PATTERNS + 1] = {"PQPQ", "PPQ", "MPQMPQ", "MPMPQ", "MMPQAMM", NULL};

int lsms_first(const lsms_job *j, int group)
{
  return 1 + (int)((int64_t)group * (j->n_pes - 1) / j->groups);
}

void lsms_roles(lsms_job *j, int me, int n_pes, int groups)
{
  j->me = me;
  j->n_pes = n_pes;
  j->groups = groups < n_pes - 1 ? groups : n_pes - 1;
  j->group = j->master = j->end = -1;
  if (me == 0) return;
  for (j->group = 0; lsms_first(j, j->group + 1) <= me; j->group++) continue;
  j->master = lsms_first(j, j->group);
  j->end = lsms_first(j, j->group + 1);
}

void lsms_configure(const lsms_job *j, uint64_t seed, int group, void *configuration)
{
  uint64_t state = random_at(seed, (uint64_t)group);
  for (size_t i = 0; i < j->n; i++)
    for (size_t w = 0; w < j->bytes / 8; w++) lsms_parameter(j, configuration, i)[w] = next_random(&state);
}

void lsms_derive(const lsms_job *j, void *configuration, int pe, void *parameters)
{
  for (size_t i = 0; i < j->n; i++) {
    const uint64_t *from = lsms_parameter(j, configuration, i);
    uint64_t *to = lsms_parameter(j, parameters, i);
    for (size_t w = 0; w < j->bytes / 8; w++) to[w] = (from[w] ^ (uint64_t)pe) * 0x9e3779b97f4a7c15u;
  }
}

/* Each word changes all bits of the result, and the order of the words matters. */
uint64_t lsms_result(const lsms_job *j, void *parameters)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < j->n; i++)
    for (size_t w = 0; w < j->bytes / 8; w++) sum = random_at(sum, lsms_parameter(j, parameters, i)[w]);
  return sum;
}

uint64_t lsms_next(uint64_t sum)
{
  return random_at(sum, 1);
}

bool lsms_expected(const lsms_job *j, uint64_t seed, long steps, uint64_t *sum)
{
  void *configuration = malloc(j->n * j->stride), *parameters = malloc(j->n * j->stride);
  bool made = configuration && parameters;
  for (long s = 0; made && s < steps; s++) {
    *sum = 0;
    for (int group = 0; group < j->groups; group++) {
      lsms_configure(j, seed, group, configuration);
      *sum += lsms_result(j, configuration); /* the master's own */
      for (int pe = lsms_first(j, group) + 1; pe < lsms_first(j, group + 1); pe++) {
        lsms_derive(j, configuration, pe, parameters);
        *sum += lsms_result(j, parameters);
      }
    }
    seed = lsms_next(*sum);
  }
  free(configuration);
  free(parameters);
  return made;
}
