/*
 * timeline.h - keeps the actions of a thread as spans of ticks in a buffer of fixed size.
 *
 * DESIGN. Spans are waits by stage, timed calls, regions of the program, and changes of clock. Adjacent spans of one
 * kind and site are merged.
 * A full buffer gives up its shortest spans: those below `least`, which doubles until half of the buffer is free. If
 * those are nearly all, every second one goes. So a timeline never grows and covers the whole time. It counts what it
 * left out.
 *
 * Only the thread writes. A reader reads after the end of the thread, or may miss its last spans.
 *
 * Collective calls of all PEs are kept at any length. If they are too many, every second, fourth ... one is kept, by
 * number. So all PEs with buffers of one size keep the same ones.
 */
#ifndef WTL_PROFILE_TIMELINE_H
#define WTL_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK has no length: `addr` is kHz, `call` the clock domain. REGION: `addr` is its number (user_region.h). COLLECTIVE
 * is a collective call, or a part of one, that no PE leaves before all have arrived. Its waits and calls are spans of
 * their own. */
enum wtl_span {
  WTL_SPAN_SPIN,
  WTL_SPAN_YIELD,
  WTL_SPAN_ASLEEP,
  WTL_SPAN_CALL,
  WTL_SPAN_CLOCK,
  WTL_SPAN_COLLECTIVE,
  WTL_SPAN_REGION,
  WTL_N_SPANS
};

/* The format in the file, in the machine's byte order. */
typedef struct wtl_event {
  uint64_t begin, end; /* ticks */
  uint64_t addr;       /* of the site */
  uint32_t call;
  uint32_t span : 8;
  uint32_t path : 24; /* node of the site (call_path.h) + 1, and in the file as docs/timeline.md says; 0: none */
} wtl_event;

typedef struct wtl_timeline {
  size_t capacity, n, n_clocks, n_collectives;
  uint64_t least;                                 /* ticks: shorter spans are not kept */
  uint64_t every, turn;                           /* one in `every` of the spans below twice `least` is kept */
  uint64_t collectives, collectives_every;        /* collective calls so far; one in so many is kept */
  uint64_t seen;                                  /* spans so far */
  uint64_t left_out[WTL_N_SPANS], left_out_ticks; /* of those, with their length, without collective calls */
  wtl_event open;                                 /* the span that may still grow; begin 0: none */
  wtl_event event[];
} wtl_timeline;

/* Makes a malloc'd timeline of `bytes`, with space for at least 64 spans. NULL without memory. */
wtl_timeline *wtl_timeline_make(size_t bytes);

/* `path`: the node of the site; WTL_NO_PATH: none. */
void wtl_timeline_add(wtl_timeline *t, enum wtl_span span, uint64_t begin, uint64_t end, uint64_t addr, uint32_t call,
                      uint32_t path);

/* Adds the span that is still open. To be called before the timeline is read. */
void wtl_timeline_close(wtl_timeline *t);

#endif
