/*
 * timeline.h - what a thread did when: its waits by stage, the calls that are timed, and changes of clock, as spans of
 * ticks in a buffer of fixed size.
 *
 * Spans that follow each other without a gap at one site are one. Where the buffer is full, the shortest are given up:
 * those below `least`, which doubles until half of the room is free; where that would be nearly all, every other one of
 * the shortest. So a timeline never grows, and always covers all of the time; what it left out it counts. One thread
 * writes; whoever reads does so when it has ended, or may miss its last spans.
 *
 * Meetings of all PEs are kept whatever their length; where they are too many, every second, fourth ... of them, by
 * number: so all PEs with buffers of one size keep the same ones.
 */
#ifndef WTL_PROFILE_TIMELINE_H
#define WTL_PROFILE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK has no length: `addr` is kHz, `call` the clock domain. MEETING: a call, or a part of one, that no PE leaves
 * before all PEs have come to it; its waits and calls are kept besides. */
enum wtl_span {
  WTL_SPAN_SPIN,
  WTL_SPAN_YIELD,
  WTL_SPAN_ASLEEP,
  WTL_SPAN_CALL,
  WTL_SPAN_CLOCK,
  WTL_SPAN_MEETING,
  WTL_N_SPANS
};

/* As they stand in the file, in the machine's order of bytes. */
typedef struct wtl_event {
  uint64_t begin, end; /* ticks */
  uint64_t addr;       /* of the site */
  uint32_t call, span;
} wtl_event;

typedef struct wtl_timeline {
  size_t room, n, n_clocks, n_meetings;
  uint64_t least;                                 /* ticks: shorter spans are not kept */
  uint64_t every, turn;                           /* of those shorter than twice that one in `every` is kept */
  uint64_t met, met_every;                        /* meetings in all; one in so many is kept */
  uint64_t seen;                                  /* spans in all */
  uint64_t left_out[WTL_N_SPANS], left_out_ticks; /* of those, and how long they were, but for meetings */
  wtl_event open;                                 /* may still be continued; begin 0: there is none */
  wtl_event event[];
} wtl_timeline;

/* Room for as many spans as fit into `bytes`, at least 64; malloc'd. NULL without memory. */
wtl_timeline *wtl_timeline_make(size_t bytes);

void wtl_timeline_add(wtl_timeline *t, enum wtl_span span, uint64_t begin, uint64_t end, uint64_t addr, uint32_t call);

/* Enters the span that is still open. Before the timeline is read. */
void wtl_timeline_close(wtl_timeline *t);

#endif
