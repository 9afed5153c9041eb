/*
 * http.h - fetches a small page by libcurl, which is loaded at the first use.
 *
 * https is checked against the system's certificates, or against those of a file. A login is sent by https or to this
 * machine, never in clear over a network. No message contains it. Redirections are not followed, and no proxy is used.
 */
#ifndef WTL_POWER_HTTP_H
#define WTL_POWER_HTTP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wtl_http wtl_http;

/*
 * Opens a client. login: "user:password" or NULL. ca: a file or NULL. Both are copied. Returns NULL with the reason in
 * `why` on failure.
 */
wtl_http *wtl_http_open(const char *login, const char *ca, char *why, size_t why_size);
void wtl_http_close(wtl_http *h);

/*
 * Sets the time in which all pages fetched until the next call must arrive, including name lookup, connecting and TLS.
 * It is 0 at first, so nothing can be fetched.
 */
void wtl_http_allow(wtl_http *h, double seconds);

/* Ends the present transfer within a second and prevents further ones. May be called from any thread. */
void wtl_http_stop(wtl_http *h);

/*
 * Fetches `url` into body[size], ended by NUL. Returns the HTTP status such as 200, or 0 with the reason in `why` if
 * there was no answer. A page that does not fit is a failure, too. Not from two threads at once.
 */
int wtl_http_get(wtl_http *h, const char *url, char *body, size_t size, char *why, size_t why_size);

#endif
