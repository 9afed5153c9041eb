/*
 * meter_redfish.c - the node's power as its management controller (BMC) measures it at the supply, by Redfish (DMTF
 * DSP0266).
 *
 *   EnvironmentMetrics  PowerWatts.Reading                    of a chassis, since 2020
 *   Power               PowerControl[0].PowerConsumedWatts    the older form, which most controllers still have
 *   Sensor              Reading, if ReadingUnits is W
 *
 * DESIGN. WATTLE_REDFISH names one of these pages, or only the controller; then the first chassis is used. A controller
 * answers in tens of milliseconds and measures about once a second. So a thread of the meter asks once a second, and a
 * reading of the meter returns the last answer. The login comes from a file that only its owner may read, or from
 * REDFISH_LOGIN. The latter is no setting, because settings are printed and stored.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "os/floats.h"
#include "os/os.h"
#include "power/sensor/gauge.h"
#include "power/sensor/http.h"
#include "power/sensor/redfish_page.h"
#include "power/sensor/watt_limit.h"

enum { PAGE = 1 << 18, ADDRESS = WTL_REDFISH_PATH };
static const double ask_every_s = 1;
/*
 * s, largest delay of a reading: the interval of the controller, about 1 s (assumed, because it does not state it), and
 * ours.
 */
static const double step_s = 2;
/* s, deadlines: for one reading, and at start for all pages that lead to it. */
static const double reading_s = 3, finding_s = 5;
/* A supply may deliver somewhat more than its capacity for a short time (assumed). */
static const double supply_margin = 1.5;
/* s; a search that failed after more than this is not repeated. */
static const double slow_search_s = 1;

typedef struct redfish {
  wtl_http *http;
  char url[ADDRESS], page[PAGE];
  pthread_mutex_t lock; /* guards the members below */
  pthread_cond_t stop_bell;
  pthread_t thread;
  bool runs, stop;
  double watts;
  int error;       /* errno of the last request */
  double asked_at; /* s, start of a request without an answer yet; NaN: none */
} redfish;

/* ---- a page ---- */

/* Reads a page. Returns false with the reason on failure. */
static bool read_page(redfish *r, const char *url, wtl_redfish_page *f, char *why, size_t size)
{
  int status = wtl_http_get(r->http, url, r->page, sizeof r->page, why, size);
  if (status == 0) return false;
  if (status != 200) {
    snprintf(why, size, "%.200s answers with status %d%s", url, status,
             status == 401 || status == 403 ? " (check the login)" : "");
    return false;
  }
  const char *wrong = wtl_redfish_page_read(r->page, f);
  if (wrong) {
    snprintf(why, size, "%.200s is no JSON: %s", url, wrong);
    return false;
  }
  return true;
}

/* ---- the page with the watts ---- */

/* Writes scheme and host of a URL. */
static void root_of(const char *url, char *root, size_t size)
{
  const char *host = strstr(url, "://");
  size_t n = host ? (size_t)(host + 3 - url) : 0;
  snprintf(root, size, "%.*s", (int)(n + strcspn(url + n, "/")), url);
}

static bool has_watts(redfish *r, const char *root, const char *path, wtl_redfish_page *f, char *why, size_t size)
{
  char url[2 * ADDRESS];
  if (!*path) return false;
  snprintf(url, sizeof url, "%s%s", root, path);
  if (!read_page(r, url, f, why, size)) return false;
  if (!(f->watts >= 0)) { /* some controllers report -1 for an unknown value */
    snprintf(why, size, "%.200s has no watts", url);
    return false;
  }
  snprintf(r->url, sizeof r->url, "%.511s", url);
  return true;
}

/* Follows the links from the controller's address to the first chassis and to its page with the watts. */
static bool discover(redfish *r, wtl_redfish_page *f, char *why, size_t size)
{
  char root[ADDRESS], url[2 * ADDRESS];
  wtl_redfish_page chassis;
  root_of(r->url, root, sizeof root);
  snprintf(url, sizeof url, "%s/redfish/v1/Chassis", root);
  if (!read_page(r, url, f, why, size)) return false;
  snprintf(url, sizeof url, "%s%s", root, f->member);
  if (!*f->member || !read_page(r, url, &chassis, why, size)) {
    if (!*f->member) snprintf(why, size, "%.200s has no chassis", url);
    return false;
  }
  if (!*chassis.metrics && !*chassis.power) snprintf(why, size, "%.200s has no link to a page about power", url);
  return has_watts(r, root, chassis.metrics, f, why, size) || has_watts(r, root, chassis.power, f, why, size);
}

static bool is_controller(const char *url)
{
  char root[ADDRESS];
  root_of(url, root, sizeof root);
  return strcmp(url + strlen(root), "") == 0 || strcmp(url + strlen(root), "/") == 0;
}

/* Sets the URL from the setting. %h is the name of this host, up to its first dot. */
static bool set_url(redfish *r, const char *setting, char *why, size_t size)
{
  char host[256] = "";
  size_t n = 0;
  gethostname(host, sizeof host - 1);
  host[strcspn(host, ".")] = '\0';
  for (const char *p = setting; *p && n + 1 < sizeof r->url; p++) {
    const char *part = p[0] == '%' && p[1] == 'h' ? host : NULL;
    int wrote = snprintf(r->url + n, sizeof r->url - n, "%.*s", part ? 255 : 1, part ? part : p);
    n = n + (size_t)wrote < sizeof r->url ? n + (size_t)wrote : sizeof r->url - 1;
    if (part) p++;
  }
  bool good = strncmp(r->url, "http://", 7) == 0 || strncmp(r->url, "https://", 8) == 0;
  if (!good) snprintf(why, size, "WATTLE_REDFISH must begin with https:// (or http://)");
  if (strchr(r->url, '@')) {
    snprintf(why, size, "WATTLE_REDFISH must not contain a login: it is printed and stored; see WATTLE_REDFISH_LOGIN");
    return false;
  }
  return good;
}

/* ---- the login ---- */

/* Reads the first line of the file. */
static bool read_login(const char *path, char *login, size_t size, char *why, size_t why_size)
{
  struct stat st;
  const char *reason;
  int fd = wtl_regular_file_open(path, &reason);
  ssize_t n = -1;
  if (fd < 0)
    snprintf(why, why_size, "WATTLE_REDFISH_LOGIN: cannot open %.200s: %s", path, reason);
  else if (fstat(fd, &st) != 0 || (st.st_mode & 077))
    snprintf(why, why_size, "WATTLE_REDFISH_LOGIN: %.200s can be read by other users: chmod 600", path);
  else if ((n = read(fd, login, size - 1)) < 0)
    snprintf(why, why_size, "WATTLE_REDFISH_LOGIN: cannot read %.200s: %s", path, strerror(errno));
  if (fd >= 0) close(fd);
  if (n < 0) return false;
  login[n] = '\0';
  login[strcspn(login, "\r\n")] = '\0';
  if (strchr(login, ':')) return true;
  snprintf(why, why_size, "WATTLE_REDFISH_LOGIN: the first line of %.200s is not user:password", path);
  return false;
}

static bool open_http(redfish *r, const wtl_settings *s, char *why, size_t size)
{
  char login[512] = "";
  const char *path = s->redfish_login.text, *environment = getenv("REDFISH_LOGIN"), *ca = s->redfish_ca.text;
  if (*path && !read_login(path, login, sizeof login, why, size)) return false;
  if (!*path && environment) snprintf(login, sizeof login, "%s", environment);
  r->http = wtl_http_open(*login ? login : NULL, *ca ? ca : NULL, why, size);
  explicit_bzero(login, sizeof login);
  return r->http != NULL;
}

/* ---- requests ---- */

/* Requests one reading. Called without the lock, because only one thread uses http, url and page. */
static int ask(redfish *r, double *watts)
{
  char why[256];
  wtl_redfish_page f;
  wtl_http_allow(r->http, reading_s);
  if (!read_page(r, r->url, &f, why, sizeof why)) return EIO;
  *watts = f.watts;
  return isnan(f.watts) ? EBADMSG : 0;
}

static void answer(redfish *r, int error, double watts)
{
  r->asked_at = NAN;
  r->error = error;
  if (!error) r->watts = watts;
}

/* Does the present request take longer than a step? Then the last answer is too old. */
static bool is_overdue(const redfish *r)
{
  return 1e-9 * (double)wtl_clock_ns() > r->asked_at + step_s;
}

static void *background(void *arg)
{
  WTL_FLOATS_APART;
  redfish *r = arg;
  pthread_mutex_lock(&r->lock);
  while (!r->stop) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)ask_every_s;
    if (pthread_cond_timedwait(&r->stop_bell, &r->lock, &until) != ETIMEDOUT) continue;
    double watts = NAN;
    r->asked_at = 1e-9 * (double)wtl_clock_ns();
    pthread_mutex_unlock(&r->lock);
    int error = ask(r, &watts);
    pthread_mutex_lock(&r->lock);
    answer(r, error, watts);
  }
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

/* Starts the thread. It blocks all signals, which belong to the program. */
static void start_asking(redfish *r)
{
  sigset_t all, old;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_destroy(&r->stop_bell);
  pthread_cond_init(&r->stop_bell, &monotonic);
  pthread_condattr_destroy(&monotonic);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  r->runs = pthread_create(&r->thread, NULL, background, r) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static int redfish_read(wtl_gauges *set, wtl_gauge *g, double *counts)
{
  redfish *r = set->library;
  (void)g;
  if (!r->runs) {
    double watts = NAN;
    int failed = ask(r, &watts);
    answer(r, failed, watts);
  }
  pthread_mutex_lock(&r->lock);
  int error = is_overdue(r) ? ETIME : r->error;
  *counts = r->watts;
  pthread_mutex_unlock(&r->lock);
  return error;
}

static void redfish_drop(wtl_gauges *set)
{
  redfish *r = set->library;
  if (!r) return;
  if (r->runs) {
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_signal(&r->stop_bell);
    pthread_mutex_unlock(&r->lock);
    wtl_http_stop(r->http);
    pthread_join(r->thread, NULL);
  }
  wtl_http_close(r->http);
  pthread_cond_destroy(&r->stop_bell);
  pthread_mutex_destroy(&r->lock);
  free(r);
}

/* ---- a controller that does not answer ---- */

static pthread_mutex_t unresponsive_lock = PTHREAD_MUTEX_INITIALIZER;
static char
    unresponsive[ADDRESS]; /* the last URL that took long and gave no watts; this process does not ask it again */

static bool is_unresponsive(const char *url)
{
  pthread_mutex_lock(&unresponsive_lock);
  bool same = strcmp(unresponsive, url) == 0;
  pthread_mutex_unlock(&unresponsive_lock);
  return same;
}

static void note_unresponsive(const char *url)
{
  pthread_mutex_lock(&unresponsive_lock);
  snprintf(unresponsive, sizeof unresponsive, "%s", url);
  pthread_mutex_unlock(&unresponsive_lock);
}

/* Finds the page with the watts and stores it in r->url and *f. A search that fails late is not repeated. */
static bool find_watts(redfish *r, wtl_redfish_page *f, char *why, size_t size)
{
  char asked[ADDRESS];
  double start = 1e-9 * (double)wtl_clock_ns();
  snprintf(asked, sizeof asked, "%s", r->url);
  if (is_unresponsive(asked)) {
    snprintf(why, size, "%.200s gave no watts in time earlier in this process, so it is not read again", asked);
    return false;
  }
  wtl_http_allow(r->http, finding_s);
  if (is_controller(r->url) ? discover(r, f, why, size) : has_watts(r, "", r->url, f, why, size)) return true;
  if (1e-9 * (double)wtl_clock_ns() > start + slow_search_s) note_unresponsive(asked);
  return false;
}

static void redfish_find(wtl_gauges *set, const wtl_meter_env *env, char *why, size_t why_size, char *grant,
                         size_t grant_size)
{
  const wtl_domain node = {.name = "node", .scope = WATTLE_SCOPE_NODE, .part = WTL_PART_NODE};
  char root[ADDRESS];
  wtl_redfish_page f;
  redfish *r = env->settings && *env->settings->redfish.text ? calloc(1, sizeof *r) : NULL;
  if (!r) {
    snprintf(why, why_size, "WATTLE_REDFISH names no management controller");
    return;
  }
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->stop_bell, NULL);
  set->library = r;
  if (!set_url(r, env->settings->redfish.text, why, why_size) || !open_http(r, env->settings, why, why_size)) return;
  if (!find_watts(r, &f, why, why_size)) {
    if (strstr(why, "check the login"))
      snprintf(grant, grant_size, "# user:password in a file that only you may read, named by WATTLE_REDFISH_LOGIN");
    return;
  }
  *why = '\0'; /* from an earlier attempt */
  answer(r, 0, f.watts);
  wtl_gauge *g = wtl_gauge_add(set, &node);
  g->is_watts = true;
  g->step_s = step_s;
  g->limit_w = wtl_watt_limit_rated(f.most_w, supply_margin, g->limit_w);
  root_of(r->url, root, sizeof root);
  snprintf(g->source, sizeof g->source, "%.50s %s", strstr(root, "://") + 3, f.name);
  if (set->sys->background) start_asking(r);
}

static void *redfish_open(const wtl_meter_env *env, char *why, size_t why_size, char *grant, size_t grant_size)
{
  static const wtl_gauge_kind kind = {
      .name = "redfish", .find = redfish_find, .read = redfish_read, .drop = redfish_drop};
  return wtl_gauges_open(&kind, env, why, why_size, grant, grant_size);
}

const wtl_meter_ops wtl_meter_redfish = WTL_GAUGE_METER("redfish", redfish_open);
