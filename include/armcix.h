/* armcix.h - what ARMCI-MPI has beyond ARMCI, by Wattle. */
#ifndef ARMCIX_H
#define ARMCIX_H

#include <armci.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Collective over `parent`: a group of those of its processes that give the same `color`, in the order of `key`. A
 * process with a negative one (MPI_UNDEFINED) is in none. */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *group);
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *group);

/** Sets of mutexes: `count` of this process, collective over the group, which may be freed before; `proc` is the job's
 * number of a member. */
typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group);
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** 0: this process has it now; else another has. */
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** Moves on what is under way; nothing needs it. */
void ARMCIX_Progress(void);

#ifdef __cplusplus
}
#endif

#endif
