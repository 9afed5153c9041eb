/*
 * partners.h - counts the calls and bytes of a thread by partner, and the calls of each routine by size.
 *
 * DESIGN. Programs repeat calls: consecutive calls of a site often have the same size and partner. Such a run needs no
 * count of its own, because the site counts its calls. The end of a run adds it to the row of the partner and to the
 * class of the size. The rows take 24 bytes for each PE of the job, and memory is used for those that occur. A job of
 * more than WTL_PARTNERS_MOST PEs has no rows. Calls that move nothing and have no single partner are not counted here.
 */
#ifndef WTL_PROFILE_PARTNERS_H
#define WTL_PROFILE_PARTNERS_H

#include <stdint.h>

/* Class 0: no bytes. Class k: from 2^(k-1) to 2^k - 1 bytes; the last class has all larger ones. */
enum { WTL_PARTNERS_MOST = 4096, WTL_PARTNERS_SIZES = 48 };

typedef struct wtl_partner {
  uint64_t calls, bytes, wait_ticks; /* waits that ended by an action of this partner, as far as that is known */
} wtl_partner;

/* The calls of one routine by size. */
typedef struct wtl_sizes {
  uint32_t call;
  uint64_t count[WTL_PARTNERS_SIZES];
} wtl_sizes;

/* Consecutive calls of a site with the same size and partner. All zeroes: none yet. */
typedef struct wtl_run {
  uint64_t size;
  uint64_t begun_at; /* calls of the site before the run */
  int partner;       /* -1: no single one */
} wtl_run;

/* The counts of a thread; all zeroes: nothing is counted yet, and no partner has a row. */
typedef struct wtl_partners {
  int n; /* PEs with a row; 0: none */
  int n_sizes;
  wtl_partner *row; /* by PE; NULL: none yet */
  wtl_sizes *sizes; /* n_sizes of them */
} wtl_partners;

/* Adds a run of a site of `call`, which has counted `calls` so far. */
void wtl_partners_add_run(wtl_partners *p, uint32_t call, uint64_t calls, const wtl_run *run);

/* Adds a wait for `partner`; does nothing if that is -1. */
void wtl_partners_waited(wtl_partners *p, int partner, uint64_t ticks);

/* Adds all counts of `from`, whose thread may be counting, to `to`. */
void wtl_partners_add(wtl_partners *to, const wtl_partners *from);

void wtl_partners_free(wtl_partners *p);

#endif
