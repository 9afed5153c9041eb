/*
 * meter_redfish.c - the node's power as its management controller (BMC) measures it at the supply, by Redfish.
 *
 * DESIGN. A controller answers in tens of milliseconds and measures about once a second. The program wattle-redfish
 * (wattle_redfish.py) finds the page with the watts and asks once a second. It sends each answer over a socket, and a
 * reading of the meter returns the last one. So JSON, HTTP and TLS are in no process of the job. The program's file for
 * the login, or REDFISH_LOGIN, is read there. The latter is no setting, because settings are printed and stored.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/helper_program.h"
#include "os/os.h"
#include "power/sensor/gauge.h"
#include "power/sensor/watt_limit.h"

/* s, pause of wattle-redfish between two requests. */
static const double ask_every_s = 1;
/*
 * s, largest delay of a reading: the interval of the controller, about 1 s (assumed, because it does not state it), and
 * ours.
 */
static const double step_s = 2;
/* s, deadline of the first reading: that of wattle-redfish for its pages, and the start of Python on a busy machine. */
static const double finding_s = 5 + 5;
/* A supply may deliver somewhat more than its capacity for a short time (assumed). */
static const double supply_margin = 1.5;
/* s; a search that failed after more than this is not repeated. */
static const double slow_search_s = 2;

/* A message of wattle-redfish. */
typedef struct answer {
  double watts, most_w; /* NaN: there are none; most_w: the most that the page states as possible, 0: it states none */
  char text[480];       /* of the first message: host and property of the watts, or why there are none */
} answer;

typedef struct redfish {
  int socket; /* -1: none */
  pid_t owner;
  answer last;
  double came_at; /* s, when `last` came */
} redfish;

static double now_s(void)
{
  return 1e-9 * (double)wtl_clock_ns();
}

/* Takes all messages that have come. Returns whether there was one. */
static bool receive(redfish *r)
{
  bool came = false;
  while (recv(r->socket, &r->last, sizeof r->last, MSG_DONTWAIT) == sizeof r->last) came = true;
  r->last.text[sizeof r->last.text - 1] = '\0';
  if (came) r->came_at = now_s();
  return came;
}

static bool await_first(redfish *r)
{
  struct pollfd bell = {.fd = r->socket, .events = POLLIN};
  double until = now_s() + finding_s, left_s;
  while ((left_s = until - now_s()) > 0) {
    if (poll(&bell, 1, (int)ceil(1e3 * left_s)) <= 0) continue; /* a signal may end it */
    return receive(r);                                          /* false: the program has ended without a word */
  }
  return false;
}

static bool start(redfish *r, const wtl_settings *s, char *why, size_t size)
{
  char path[WTL_HELPER_PATH], end[16];
  char *words[] = {"python3",
                   "-I",
                   "-S",
                   path,
                   end,
                   (char *)(uintptr_t)s->redfish.text,
                   (char *)(uintptr_t)s->redfish_login.text,
                   (char *)(uintptr_t)s->redfish_ca.text,
                   NULL};
  int ends[2];
  wtl_helper_path("wattle-redfish", path);
  if (access(path, R_OK) != 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    snprintf(why, size, "%.200s: %s", path, strerror(errno));
    return false;
  }
  r->socket = ends[0];
  snprintf(end, sizeof end, "%d", ends[1]);
  int error = wtl_helper_start(words, NULL, &ends[1], 1);
  close(ends[1]);
  if (error) snprintf(why, size, "python3, which reads the controller, does not start: %s", strerror(error));
  return !error;
}

static int redfish_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  redfish *r = set->library;
  (void)g;
  receive(r);
  *counts = r->last.watts;
  if (isnan(r->last.watts)) return EIO;
  return now_s() > r->came_at + ask_every_s + step_s ? ETIME : 0; /* the request takes longer than a step */
}

static void redfish_drop(wtl_gauges *set)
{
  redfish *r = set->library;
  if (!r) return;
  if (r->socket >= 0 && r->owner == getpid()) shutdown(r->socket, SHUT_RDWR); /* children may have it open, too */
  if (r->socket >= 0) close(r->socket);
  free(r);
}

/* ---- a controller that does not answer ---- */

/* The last address that took long and gave no watts; this process does not ask it again. Texts of settings stay. */
static _Atomic(const char *) unresponsive;

/* Gets the first answer. A search that fails late is not repeated. */
static bool find_watts(redfish *r, const wtl_settings *s, char *why, size_t size)
{
  const char *url = s->redfish.text, *failed = atomic_load(&unresponsive);
  double begin = now_s();
  if (failed && strcmp(failed, url) == 0) {
    snprintf(why, size, "%.200s gave no watts in time earlier in this process, so it is not read again", url);
    return false;
  }
  if (!start(r, s, why, size)) return false;
  bool came = await_first(r);
  if (came && !isnan(r->last.watts)) return true;
  snprintf(why, size, "%s", came ? r->last.text : "python3, which reads the controller, gave no answer");
  if (now_s() > begin + slow_search_s) atomic_store(&unresponsive, url);
  return false;
}

static void redfish_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                         size_t grant_size)
{
  const wtl_domain node = {.name = "node", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_NODE};
  redfish *r = env->settings && *env->settings->redfish.text ? calloc(1, sizeof *r) : NULL;
  if (!r) {
    snprintf(why, why_size, "WATTLE_REDFISH names no management controller");
    return;
  }
  *r = (redfish){.socket = -1, .owner = getpid()};
  set->library = r;
  if (!find_watts(r, env->settings, why, why_size)) {
    if (strstr(why, "check the login"))
      snprintf(grant, grant_size, "# user:password in a file that only you may read, named by WATTLE_REDFISH_LOGIN");
    return;
  }
  wtl_gauge *g = wtl_gauge_add(set, &node);
  g->is_watts = true;
  g->step_s = step_s;
  g->limit_w = wtl_watt_limit_rated(r->last.most_w, supply_margin, g->limit_w);
  snprintf(g->source, sizeof g->source, "%.79s", r->last.text);
}

static void *redfish_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {
      .name = "redfish", .find = redfish_find, .read = redfish_read, .drop = redfish_drop};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_redfish = WTL_GAUGE_METER("redfish", redfish_open);
