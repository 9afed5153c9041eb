/*
 * kept.h - keeps the counts of a process in a file of the node's memory, so that they can be read after any end of the
 * process, and while it runs.
 *
 * DESIGN. The tables of call sites (profile.h) lie in a file that is mapped MAP_SHARED. A count is a plain store, as in
 * private memory, and the kernel keeps the file when the process is killed. The file is in /dev/shm, because stores to
 * a file on a disk or network may block while the kernel writes its pages. It has a name only if the process is to
 * write a profile (WATTLE_PROFILE_DIR). Otherwise it is a memfd, which ends with the process and serves `wattle top`.
 *
 * The file is a sequence of blocks. Each begins with a wtl_kept_block, has whole pages, and is mapped by itself. The
 * first one is the head. Blocks are only appended. A table that grows gets a new block, and the old one is marked.
 * Pages are made before they are mapped. If the file cannot grow, the caller takes private memory, and
 * the head says so. So no store raises SIGBUS.
 *
 * The names of calls, the files of addresses and the nodes of call paths are appended as notes when a site is new,
 * because only the process itself knows them.
 *
 * A reader reads the file, and maps it never, because its size may change. Counts that change meanwhile may be a few
 * calls apart.
 */
#ifndef WTL_PROFILE_KEPT_H
#define WTL_PROFILE_KEPT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#define WTL_KEPT_FOLDER "/dev/shm/"
#define WTL_KEPT_PREFIX "wattle-profile."
enum { WTL_KEPT_LAYOUT = 7, WTL_KEPT_PAGE = 4096, WTL_KEPT_TEXT = 4096 };

enum wtl_kept_kind {
  WTL_KEPT_NONE,
  WTL_KEPT_HEAD,
  WTL_KEPT_TABLE, /* a wtl_site_table, whose pointers mean nothing to a reader */
  WTL_KEPT_SLOTS, /* the wtl_slots of table `number` */
  WTL_KEPT_OLD,   /* slots that a larger block has replaced */
  WTL_KEPT_NOTES
};

/* The beginning of a block. */
typedef struct wtl_kept_block {
  _Atomic uint32_t kind;
  uint32_t number;
  uint64_t bytes; /* the whole block, with this */
  uint64_t spare[6];
} wtl_kept_block;

/* The totals of a process's waits, and the long wait in progress. The wait door writes them. */
typedef struct wtl_kept_waits {
  _Atomic uint64_t ticks[WTL_N_STAGES];
  _Atomic uint64_t last_tick; /* of the last record */
  _Atomic uint64_t sleeps, rescues, rings;
  _Atomic uint64_t addr; /* of the site of the long wait in progress; 0: none */
  _Atomic uint64_t since_ns;
  _Atomic uint32_t call;
  _Atomic uint32_t asleep;
  _Atomic uint32_t yields; /* this process polls by yielding its core */
  /* Time without a core of the thread that initialized the library, as last read in a long wait (wait/no_core.h). */
  _Atomic uint32_t no_core_waits;                   /* that wait is not over */
  _Atomic uint64_t no_core_ns, no_core_in_waits_ns; /* outside waits; in them */
  _Atomic uint64_t no_core_tick;                    /* of the reading; 0: none */
} wtl_kept_waits;

/* The head. The texts end with a NUL. */
typedef struct wtl_kept_head {
  char mark[8];                /* "WTLKEPT", written last */
  uint32_t layout, site_bytes; /* WTL_KEPT_LAYOUT, sizeof(wtl_site) */
  char version[32];            /* of Wattle */
  int64_t pid;
  uint64_t pid_start; /* wtl_process_start_of */
  int32_t pe, n_pes, node, is_reader;
  _Atomic uint32_t is_partial; /* some sites are in private memory */
  uint32_t profile_on;
  uint32_t waited_shift;                            /* of the classes of wtl_waited */
  uint64_t start_tick, start_ns, start_realtime_ns; /* tick, CLOCK_MONOTONIC and CLOCK_REALTIME of one moment */
  double start_cpu_s, start_machine_s;              /* as in wtl_record */
  char api[16], meter[64], boot_id[40], host[256], build_id[72];
  uint32_t no_core_source;                            /* enum wtl_no_core_source */
  cpu_set_t cores;                                    /* those that the process may use */
  char program[WTL_KEPT_TEXT], folder[WTL_KEPT_TEXT]; /* folder: of the profiles, absolute */
  wtl_kept_waits waits;
} wtl_kept_head;

/* A note; `bytes` with this header and padding to 8 bytes. kind 0 ends the notes of a block. */
enum wtl_kept_note_kind {
  WTL_KEPT_NO_NOTE,
  WTL_KEPT_CALL,
  WTL_KEPT_MODULE,
  WTL_KEPT_PATH,
  WTL_KEPT_PYTHON,
  WTL_KEPT_REGION
};
typedef struct wtl_kept_note {
  _Atomic uint32_t kind;
  uint32_t bytes;
} wtl_kept_note;

typedef struct wtl_kept_call {
  wtl_kept_note note;
  uint32_t call;
  uint16_t kind, direction;
  char name[];
} wtl_kept_call;

typedef struct wtl_kept_module {
  wtl_kept_note note;
  uint64_t base, low, high;
  char build_id[72];
  char path[];
} wtl_kept_module;

/* A node of a call path (call_path.h), after its parent. `module`: its file by the order of the notes, from 0. */
typedef struct wtl_kept_path {
  wtl_kept_note note;
  wtl_path_node node;
  uint32_t number;
} wtl_kept_path;

/* A place of a Python frame (python_code.h). */
typedef struct wtl_kept_python {
  wtl_kept_note note;
  uint32_t number;
  int32_t line;
  char texts[]; /* file and function, each with a NUL */
} wtl_kept_python;

/* A region that the program marks (user_region.h), after the one around it. */
typedef struct wtl_kept_region {
  wtl_kept_note note;
  uint32_t number, outer;
  char name[];
} wtl_kept_region;

/*
 * Makes the file of a process with one PE. `folder`: of the profiles; "" or NULL: a file without a name. Returns
 * NULL if it cannot be made, and in builds where a process has several PEs; the counts are then in private memory.
 */
wtl_kept *wtl_kept_start(const char *folder);

/* The head, for the owner of the process's record. Its mark is set by wtl_kept_begin. NULL without a file. */
wtl_kept_head *wtl_kept_head_of(wtl_kept *k);

/* Makes the head valid. `calls`: the tables of calls, which stay valid until the end. */
void wtl_kept_begin(wtl_kept *k, const wtl_call_info *const *calls);

/* Returns `bytes` of zeroed memory in a new block, or NULL if the file cannot grow or `k` is NULL. */
void *wtl_kept_allocate(wtl_kept *k, enum wtl_kept_kind kind, uint32_t number, size_t bytes);

/* Marks the block of `at` as replaced. */
void wtl_kept_replaced(wtl_kept *k, const void *at);

/* Whether `at` lies in the file. */
bool wtl_kept_has(wtl_kept *k, const void *at);

/* Notes the name of a site's call, the file of its address and the nodes of its path, if they are new. Threads may call
 * it at the same time. */
void wtl_kept_note_site(wtl_kept *k, const wtl_site *site);

/* Removes the file's name: its profile is written. The memory stays mapped. */
void wtl_kept_remove(wtl_kept *k);

/* Removes files of this user's ended processes whose folder is gone, that are a week old, or that were not yet valid.
 * To be called by one process of a job. Does nothing in a container, where the numbers of processes outside mean
 * nothing. */
void wtl_kept_remove_stale(void);

/* Unmaps the file. It keeps its name if it was not removed. Does nothing for NULL. */
void wtl_kept_stop(wtl_kept *k);

#endif
