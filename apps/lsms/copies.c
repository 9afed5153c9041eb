/*
 * copies.c - the copies between user buffers and pinned ones that the access patterns make, for both versions.
 */
#include <string.h>

#include "lsms.h"

void lsms_pack(const lsms_job *j, char *packed, void *parameters)
{
  for (size_t i = 0; i < j->n; i++) memcpy(packed + i * j->bytes, lsms_parameter(j, parameters, i), j->bytes);
}

void lsms_unpack(const lsms_job *j, void *parameters, const char *packed)
{
  for (size_t i = 0; i < j->n; i++) memcpy(lsms_parameter(j, parameters, i), packed + i * j->bytes, j->bytes);
}

void *lsms_source(const lsms_job *j, void *parameters, void *pinned, size_t i)
{
  void *own = lsms_parameter(j, parameters, i), *copied = lsms_parameter(j, pinned, i);
  if (!lsms_copies(j->pattern)) return own;
  memcpy(copied, own, j->bytes);
  return copied;
}
