/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file armcix.h
 * Extensions of ARMCI that ARMCI-MPI introduced, by Wattle. Errors, threads, handlers and versions are as in armci.h.
 */
#ifndef ARMCIX_H
#define ARMCIX_H

#include <armci.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Splits a group. Collective over `parent`. Members with the same color form one new group.
 *
 * @param[in]  parent  the group, of which the caller is a member
 * @param[in]  color   color of this process; a negative one (MPI_UNDEFINED) joins no group
 * @param[in]  key     members of a new group are in the order of their keys, then of their numbers in `parent`
 * @param[out] group   receives the handle; the program owns it until ARMCI_Group_free
 * @return 0
 */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *group);

/**
 * Creates a group with the same members. Collective over `parent`.
 *
 * @param[in]  parent  the group, of which the caller is a member
 * @param[out] group   receives the handle; the program owns it until ARMCI_Group_free
 * @return 0
 */
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *group);

/** Handle of a set of mutexes. */
typedef struct armcix_mutex_hdl_s *armcix_mutex_hdl_t;

/**
 * Creates a set of mutexes. Collective over the group.
 *
 * @param[in] count  number of mutexes of this process, 0 or more
 * @param[in] group  the group, which may be freed before the mutexes
 * @return the handle, which the program owns until ARMCIX_Destroy_mutexes_hdl
 */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group);

/**
 * Destroys a set of mutexes. Collective over its group.
 *
 * @param[in] hdl  the handle
 * @return 0
 */
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/**
 * Locks a mutex. Waits until it is free.
 *
 * @param[in] hdl    the handle
 * @param[in] mutex  number of the mutex, 0 to the count of `proc` minus 1
 * @param[in] proc   process that has the mutex, by its number in the job
 */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/**
 * Locks a mutex if it is free. Does not wait.
 *
 * @param[in] hdl    the handle
 * @param[in] mutex  number of the mutex, 0 to the count of `proc` minus 1
 * @param[in] proc   process that has the mutex, by its number in the job
 * @return 0 if this process has it now; 1 if another process has it
 */
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/**
 * Unlocks a mutex that this process holds.
 *
 * @param[in] hdl    the handle
 * @param[in] mutex  number of the mutex
 * @param[in] proc   process that has the mutex, by its number in the job
 */
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/** Makes progress on pending operations. No program needs it. May be called before ARMCI_Init. */
void ARMCIX_Progress(void);

#ifdef __cplusplus
}
#endif

#endif
