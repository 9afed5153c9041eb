/*
 * copies.c - the copies between user buffers and pinned ones that the access patterns make, for both versions.
 */
#include <string.h>
#include <wattle_sim.h>

#include "lsms.h"

static void copy(void *to, const void *from, size_t bytes)
{
  memcpy(to, from, bytes);
  wattle_sim_move(2 * bytes); /* read and written */
}

void lsms_pack(const lsms_job *j, char *packed, void *parameters)
{
  for (size_t i = 0; i < j->n; i++) copy(packed + i * j->bytes, lsms_parameter(j, parameters, i), j->bytes);
}

void lsms_unpack(const lsms_job *j, void *parameters, const char *packed)
{
  for (size_t i = 0; i < j->n; i++) copy(lsms_parameter(j, parameters, i), packed + i * j->bytes, j->bytes);
}

void *lsms_source(const lsms_job *j, void *parameters, void *pinned, size_t i)
{
  void *own = lsms_parameter(j, parameters, i), *copied = lsms_parameter(j, pinned, i);
  if (!lsms_copies(j->pattern)) return own;
  copy(copied, own, j->bytes);
  return copied;
}
