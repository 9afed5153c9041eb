/*
 * http.h - fetches a small page, by libcurl, which is loaded only when somebody asks for this.
 *
 * https is checked against the system's certificates, or those of a file. A login is sent to https, and to this machine
 * itself, but never in clear over a network; it is part of no message. No redirection is followed, no proxy used.
 */
#ifndef WTL_POWER_HTTP_H
#define WTL_POWER_HTTP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_http wtl_http;

/* `login`: "user:password", or NULL; `ca`: a file, or NULL. Both are copied. NULL, and why. */
wtl_http *wtl_http_open(const char *login, const char *ca, char *why, size_t why_size);
void wtl_http_close(wtl_http *h);

/*
 * All pages that are fetched from here on until the next call must have come within `seconds`, looking up the name,
 * connecting and TLS included. 0 seconds at first: nothing can be fetched.
 */
void wtl_http_allow(wtl_http *h, double seconds);

/* Ends what is being fetched, within a second, and lets nothing more be fetched. From any thread. */
void wtl_http_stop(wtl_http *h);

/*
 * Fetches `url` into body[size], ended with NUL. The answer's status (200, ...), or 0 where there was none, with the
 * reason in `why`. A page that does not fit is such a reason. Not from two threads at once.
 */
int wtl_http_get(wtl_http *h, const char *url, char *body, size_t size, char *why, size_t why_size);

#endif
