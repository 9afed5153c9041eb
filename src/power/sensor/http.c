/* http.c - fetches pages by libcurl, which is loaded at run time. */
#include "power/sensor/http.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sigpipe.h"
#include "os/os.h"

/* Constants of curl.h, which need not be installed; numbers of its binary interface 4. */
enum {
  WRITE_DATA = 10001,
  URL = 10002,
  LOGIN = 10005,
  ERROR_TEXT = 10010,
  WRITE_FUNCTION = 20011,
  CA_FILE = 10065,
  NO_PROGRESS = 43,
  NO_SIGNAL = 99,
  AUTHENTICATION = 107,
  TIMEOUT_MS = 155,
  PROTOCOLS = 181,
  NO_PROXY = 10177,
  PROGRESS_FUNCTION = 20219,
  PROGRESS_DATA = 10057,
  QUICK_EXIT = 322 /* since 7.87: closing does not wait for a name that is still being looked up */
};
enum { BASIC = 1, HTTP = 1, HTTPS = 2, EVERYTHING = 3, RESPONSE_CODE = 0x200002, ERROR_SIZE = 256 };
struct wtl_http {
  void *library, *curl;
  void (*cleanup)(void *);
  int (*set)(void *, int, ...);
  int (*perform)(void *);
  int (*info)(void *, int, ...);
  const char *(*error_text)(int);
  char *login;
  double until; /* s of the clock: the deadline of all pages */
  atomic_bool stops;
  char error[ERROR_SIZE];
};

static double now_s(void)
{
  return 1e-9 * (double)wtl_clock_ns();
}

void wtl_http_allow(wtl_http *h, double seconds)
{
  h->until = now_s() + seconds;
}

void wtl_http_stop(wtl_http *h)
{
  atomic_store(&h->stops, true);
}

/* libcurl calls this about once a second, and more often while data arrives. A value other than 0 ends the transfer. */
static int give_up(void *arg, int64_t to_come, int64_t came, int64_t to_go, int64_t gone)
{
  const wtl_http *h = arg;
  (void)to_come, (void)came, (void)to_go, (void)gone;
  return atomic_load(&h->stops) || now_s() > h->until;
}

static void *load_library(void)
{
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return library;
}

static bool find_functions(wtl_http *h)
{
  int (*start)(long) = (int (*)(long))dlsym(h->library, "curl_global_init");
  void *(*make)(void) = (void *(*)(void))dlsym(h->library, "curl_easy_init");
  h->cleanup = (void (*)(void *))dlsym(h->library, "curl_easy_cleanup");
  h->set = (int (*)(void *, int, ...))dlsym(h->library, "curl_easy_setopt");
  h->perform = (int (*)(void *))dlsym(h->library, "curl_easy_perform");
  h->info = (int (*)(void *, int, ...))dlsym(h->library, "curl_easy_getinfo");
  h->error_text = (const char *(*)(int))dlsym(h->library, "curl_easy_strerror");
  if (!start || !make || !h->cleanup || !h->set || !h->perform || !h->info || !h->error_text) return false;
  return start(EVERYTHING) == 0 && (h->curl = make()) != NULL;
}

wtl_http *wtl_http_open(const char *login, const char *ca, char *why, size_t why_size)
{
  wtl_http *h = calloc(1, sizeof *h);
  if (h && !(h->library = load_library())) snprintf(why, why_size, "no libcurl.so.4 (Debian: package libcurl4)");
  if (!h || !h->library || !find_functions(h)) {
    if (h && h->library) snprintf(why, why_size, "libcurl does not start");
    wtl_http_close(h);
    return NULL;
  }
  if (login) h->login = strdup(login);
  h->set(h->curl, NO_SIGNAL, 1L);
  h->set(h->curl, PROTOCOLS, (long)(HTTP | HTTPS));
  h->set(h->curl, NO_PROXY, "*");
  h->set(h->curl, NO_PROGRESS, 0L);
  h->set(h->curl, PROGRESS_FUNCTION, give_up);
  h->set(h->curl, PROGRESS_DATA, h);
  h->set(h->curl, QUICK_EXIT, 1L); /* an older libcurl returns an error, which is harmless */
  h->set(h->curl, AUTHENTICATION, (long)BASIC);
  h->set(h->curl, ERROR_TEXT, h->error);
  if (ca) h->set(h->curl, CA_FILE, ca);
  return h;
}

void wtl_http_close(wtl_http *h)
{
  if (!h) return;
  if (h->curl) h->cleanup(h->curl);
  if (h->login) explicit_bzero(h->login, strlen(h->login));
  free(h->login);
  free(h); /* the library stays loaded, because its thread may still look up a name */
}

typedef struct page {
  char *body;
  size_t size, have;
} page;

static size_t take(char *data, size_t one, size_t n, void *arg)
{
  page *p = arg;
  if (p->have + one * n >= p->size) return 0; /* libcurl takes this as an error */
  memcpy(p->body + p->have, data, one * n);
  p->have += one * n;
  return one * n;
}

static bool is_private(const char *url)
{
  static const char *const here[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
  if (strncmp(url, "https://", 8) == 0) return true;
  for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
    size_t n = strlen(here[i]);
    if (strncmp(url, here[i], n) == 0 && strchr(":/", url[n])) return true; /* the end of the string also matches */
  }
  return false;
}

int wtl_http_get(wtl_http *h, const char *url, char *body, size_t size, char *why, size_t why_size)
{
  page p = {body, size, 0};
  long status = 0;
  if (h->login && !is_private(url)) {
    snprintf(why, why_size, "a login is not sent in clear over a network: use https");
    return 0;
  }
  long left_ms = (long)(1e3 * (h->until - now_s()));
  if (atomic_load(&h->stops) || left_ms < 1) {
    snprintf(why, why_size, "no time is left for %.200s", url);
    return 0;
  }
  h->set(h->curl, TIMEOUT_MS, left_ms);
  h->error[0] = '\0';
  h->set(h->curl, URL, url);
  if (h->login) h->set(h->curl, LOGIN, h->login);
  h->set(h->curl, WRITE_FUNCTION, take);
  h->set(h->curl, WRITE_DATA, &p);
  wtl_sigpipe before = wtl_sigpipe_hold(); /* a TLS library may write to a closed connection */
  int rc = h->perform(h->curl);
  wtl_sigpipe_release(&before);
  if (rc == 0) h->info(h->curl, RESPONSE_CODE, &status);
  body[p.have] = '\0';
  if (rc != 0) snprintf(why, why_size, "%s", *h->error ? h->error : h->error_text(rc));
  return (int)status;
}
