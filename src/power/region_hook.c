/* region_hook.c - one function for the process, as activity.c has one: regions are rare, so a lock costs nothing. */
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

void wtl_region_tell(const char *name, bool begins)
{
  pthread_mutex_lock(&lock);
  if (listener) listener(listener_arg, name, begins);
  pthread_mutex_unlock(&lock);
}
