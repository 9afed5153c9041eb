/*
 * The progress agent of a simulated PE: a thread of it that is blocked until a message arrives, and then serves it, on
 * the same core. What it does not simulate is its looks at what others do: it costs nothing where nothing arrives.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/agent.h"
#include "os/os.h"
#include "sim/libc_calls.h"
#include "sim/simulator.h"

/* While another thread of the PE holds the network, about as long as it takes to hand over a message. */
#define TRY_AGAIN_S 100e-9

/* As in agent.c. */
#define LINGER_S 100e-6

struct wtl_agent {
  wtl_net *net;
  bool (*also)(void *);
  void *also_of;
  void *thread;
  int others, sleepers;
  bool lingers;
  uint64_t moved_at, still; /* as in agent.c */
  bool stop;
  void (*server)(void *, bool);
  void *server_of;
};

static void tell(wtl_agent *a, bool serves)
{
  if (a->server) a->server(a->server_of, serves);
}

static bool move(wtl_agent *a)
{
  bool moved = wtl_net_progress(a->net);
  if (a->also && a->also(a->also_of)) moved = true;
  if (moved && a->sleepers > 0) {
    uint64_t now = wtl_ticks();
    if (now - a->moved_at > a->still) a->still = now - a->moved_at;
    a->moved_at = now;
  }
  return moved;
}

/* Where something arrived for a thread that sleeps, it looks on for a while. False: in vain. */
static bool linger(void)
{
  wtl_sim_look_on(true);
  bool came = wtl_sim_await(LINGER_S);
  wtl_sim_look_on(false);
  return came;
}

static void *serve(void *arg)
{
  wtl_agent *a = arg;
  bool looks = false;
  while (!a->stop) {
    wtl_sim_catch_up();
    if (looks && !linger()) {
      looks = false;
      continue;
    }
    if (!looks) wtl_sim_await(INFINITY);
    if (a->stop) break;
    tell(a, true);
    if (!looks && a->others == 0) wtl_sim_wake_up(); /* else who looks on takes it */
    looks = a->lingers && a->sleepers > 0 && a->others == 0;
    while (move(a) || wtl_sim_has_message())
      if (wtl_sim_has_message()) wtl_sim_catch_up(), wtl_sim_pause(TRY_AGAIN_S);
    tell(a, false);
  }
  return NULL;
}

wtl_agent *wtl_agent_start(wtl_net *net, bool lingers, bool (*also)(void *), void *of, char *error, size_t size)
{
  wtl_agent *a = calloc(1, sizeof *a);
  if (!a) return snprintf(error, size, "no memory for the progress agent"), NULL;
  a->net = net;
  a->also = also;
  a->also_of = of;
  a->lingers = lingers;
  a->thread = wtl_sim_spawn(serve, a, true);
  wtl_os_agent_wakes(true);
  return a;
}

void wtl_agent_serve_by(wtl_agent *a, void (*server)(void *of, bool serves), void *of)
{
  tell(a, false);
  a->server = server;
  a->server_of = of;
}

void wtl_agent_stop(wtl_agent *a)
{
  a->stop = true;
  wtl_sim_nudge();
  wtl_sim_join(a->thread);
  wtl_os_agent_wakes(false);
  free(a);
}

/* --- what waiting threads call ------------------------------------------------------------------------------------ */

static bool progress(void *agent)
{
  return wtl_net_progress(((wtl_agent *)agent)->net);
}

static bool is_silent(void *agent)
{
  return wtl_net_is_silent(((wtl_agent *)agent)->net);
}

static void stand_by(void *agent)
{
  wtl_agent *a = agent;
  wtl_net_caller_waits(a->net);
  a->others++;
}

static void take_over(void *agent)
{
  wtl_agent *a = agent;
  a->moved_at = wtl_ticks();
  a->still = 0;
  a->sleepers++;
  a->others--;
  wtl_sim_nudge();
}

static uint64_t relieved(void *agent, uint64_t until)
{
  wtl_agent *a = agent;
  a->sleepers--;
  return until > a->moved_at && until - a->moved_at > a->still ? until - a->moved_at : a->still;
}

static void resume(void *agent)
{
  ((wtl_agent *)agent)->others--;
}

/* It takes no rest. */
void wtl_agent_attend(wtl_agent *a)
{
  (void)a;
}

wtl_progress_driver wtl_agent_driver(wtl_agent *a)
{
  return (wtl_progress_driver){.agent = a,
                               .progress = progress,
                               .silent = is_silent,
                               .stand_by = stand_by,
                               .take_over = take_over,
                               .relieved = relieved,
                               .resume = resume};
}
