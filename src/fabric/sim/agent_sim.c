/*
 * agent_sim.c - the progress agent of a simulated PE: a thread of the PE that sleeps until a message arrives, and then
 * handles it on the same core. Its checks of what other threads do are not simulated, so it costs nothing until a
 * message arrives.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/agent.h"
#include "os/os.h"
#include "sim/libc_calls.h"
#include "sim/simulator.h"

/* The pause while another thread of the PE holds the network: about the time to hand over a message. */
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

static void notify_server(wtl_agent *a, bool serves)
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

/* Polls for a while after an arrival, if a thread sleeps. False: nothing arrived. */
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
  bool is_polling = false;
  while (!a->stop) {
    wtl_sim_catch_up();
    if (is_polling && !linger()) {
      is_polling = false;
      continue;
    }
    if (!is_polling) wtl_sim_await(INFINITY);
    if (a->stop) break;
    notify_server(a, true);
    if (!is_polling && a->others == 0) wtl_sim_wake_up(); /* otherwise a thread that polls takes the message */
    is_polling = a->lingers && a->sleepers > 0 && a->others == 0;
    while (move(a) || wtl_sim_has_message())
      if (wtl_sim_has_message()) wtl_sim_catch_up(), wtl_sim_pause(TRY_AGAIN_S);
    notify_server(a, false);
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
  notify_server(a, false);
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

/* --- called by waiting threads ------------------------------------------------------------------------------------ */

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

/* It never pauses, so there is nothing to do. */
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
