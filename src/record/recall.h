/*
 * recall.h - keeps the facts about a process in its profile's file (profile/kept.h), and reads such a file again: after
 * the process was killed, or while it runs.
 *
 * DESIGN. A recalled process is a wtl_record like that of a running one, so that one writer serves both
 * (profile_file.h). Its call sites are those of the file. Its states are those of the wait door, and the wait in
 * progress lasts until the end. Figures that are only known at a normal end (network, clocks of the governor,
 * counters) are left out.
 */
#ifndef WTL_RECORD_RECALL_H
#define WTL_RECORD_RECALL_H

#include "profile/kept.h"
#include "record/record.h"

/* Writes the facts about a process into its profile's file, and lets the wait door keep its totals there. */
void wtl_record_keep(wtl_record *r);

typedef struct wtl_recalled {
  wtl_record record;
  wtl_past past;
  wtl_profile profile;
  wtl_door door;
  wtl_settings settings;
  wtl_kept_head *head;
  double ns_per_tick;
  wtl_call_info *calls; /* of all fronts, by number */
  char *bytes;          /* the file */
  size_t length;
} wtl_recalled;

/* Reads an open file. Returns NULL with the reason in *why, as static text. The caller frees it by wtl_recall_free. */
wtl_recalled *wtl_recall(int fd, const char **why);
void wtl_recall_free(wtl_recalled *r);

/*
 * Computes the states until the end of the process. `end_ns`: that moment on CLOCK_MONOTONIC; 0: not known, then it is
 * the last record. `time`: as in wtl_end. `cpu_s`: CPU seconds since the start of the process; NaN: not known, then the
 * states are taken as time on a core.
 */
void wtl_recall_until(wtl_recalled *r, uint64_t end_ns, const char *time, double cpu_s);

#endif
