/*
 * region_hook.c - the function that learns of regions, one for the process. Regions are rare, so a lock is cheap
 * enough.
 */
#include <pthread.h>

#include "power/power.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wtl_region_fn listener;
static void *listener_arg;

void wtl_region_register(wtl_region_fn fn, void *arg)
{
  pthread_mutex_lock(&lock);
  listener = fn;
  listener_arg = arg;
  pthread_mutex_unlock(&lock);
}

void wtl_region_report(const char *name, bool begins)
{
  pthread_mutex_lock(&lock);
  if (listener) listener(listener_arg, name, begins);
  pthread_mutex_unlock(&lock);
}
