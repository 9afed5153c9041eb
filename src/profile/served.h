/*
 * served.h - counts the work of a PE for others: requests, bytes and time, by the PE that asked and the mark of its
 * call site.
 *
 * DESIGN. A request carries the mark of the call site that made it (wtl_site_mark). The PE that serves it counts into a
 * table of limited size, with one writer at a time. Requests that find no row are counted in a common one, so that the
 * sums are complete. Memory is used for the rows that occur, and a row stays where it is.
 */
#ifndef WTL_PROFILE_SERVED_H
#define WTL_PROFILE_SERVED_H

#include <stdbool.h>
#include <stdint.h>

enum { WTL_SERVED_ROWS = 768, WTL_SERVED_CHUNK = 32 };

/* Instead of a site's mark: the message answers a request of its receiver, whose own work it is. */
#define WTL_SERVED_ANSWER UINT16_MAX

/* Where requests are served: by a thread of the program that waits in a call, by the library's own thread, or by a
 * thread of the program that runs a handler. */
enum wtl_server { WTL_SERVED_IN_WAITS, WTL_SERVED_BY_AGENT, WTL_SERVED_BY_HANDLER, WTL_N_SERVERS };

/* Work of one kind of thread: pieces of it, of them timed ones, and the ticks of these. */
typedef struct wtl_served_work {
  uint64_t pieces, timed, ticks;
} wtl_served_work;

/* Requests of one PE from call sites of one mark. */
typedef struct wtl_served_row {
  bool used;
  uint16_t mark; /* 0: from no call site */
  int pe;        /* -1: the common row */
  uint64_t requests, bytes;
  wtl_served_work by[WTL_N_SERVERS];
} wtl_served_row;

/* All zeroes: nothing was served yet. */
typedef struct wtl_served {
  uint16_t *index; /* by hash: the number of a row, from 1; NULL: there is no row yet */
  wtl_served_row *chunk[WTL_SERVED_ROWS / WTL_SERVED_CHUNK];
  wtl_served_row *last; /* the row that was used last */
  uint32_t used;        /* rows so far */
  wtl_served_row common;
} wtl_served;

/* Row number `i`, from 0, in the order of their first requests. */
static inline wtl_served_row *wtl_served_row_at(const wtl_served *s, uint32_t i)
{
  return &s->chunk[i / WTL_SERVED_CHUNK][i % WTL_SERVED_CHUNK];
}

/* Returns the row, a new one if need be; the common one if there is no room or no memory. */
wtl_served_row *wtl_served_find(wtl_served *s, int pe, uint16_t mark);

static inline wtl_served_row *wtl_served_row_of(wtl_served *s, int pe, uint16_t mark)
{
  wtl_served_row *last = s->last;
  return last && last->pe == pe && last->mark == mark ? last : wtl_served_find(s, pe, mark);
}

/* The ticks of all pieces, estimated from those of the timed ones. */
static inline double wtl_served_ticks(const wtl_served_work *w)
{
  return w->timed ? (double)w->ticks / (double)w->timed * (double)w->pieces : 0;
}

/* The same of all rows. */
double wtl_served_sum(const wtl_served *s, enum wtl_server server);

/* Adds all rows of `from` to `to`. */
void wtl_served_add(wtl_served *to, const wtl_served *from);

void wtl_served_free(wtl_served *s);

#endif
