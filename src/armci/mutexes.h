/* mutexes.h - sets of mutexes, for mutexes.c and extensions.c. The functions end the job on failure. */
#ifndef WTL_ARMCI_MUTEXES_H
#define WTL_ARMCI_MUTEXES_H

#include "armci/armci_front.h"
#include "global/global_lock.h"

/* Collective over the group: `count` mutexes of this process. */
armci_mutexes *armci_mutexes_make(const wtl_frame *f, wtl_group *g, int count);
void armci_mutexes_destroy(const wtl_frame *f, armci_mutexes *m);

/* Returns mutex number `mutex` of process `proc`, after checks. `m` may be NULL. */
wtl_lock_at armci_mutex_at(const wtl_frame *f, const armci_mutexes *m, int mutex, int proc);

#endif
