/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file message.h
 * Messages and collectives of ARMCI, by Wattle. Errors, threads, handlers and versions are as in armci.h. Buffers may
 * be
 * any memory of the process.
 *
 * Operations `op`: "+", "*", "max", "min", "absmax", "absmin"; for integers also the bitwise "and" ("&", "band"), "or"
 * ("|", "bor") and "xor" ("bxor"), and the logical "&&" ("land") and "||" ("lor"), whose results are 0 or 1. All
 * processes
 * get the same result, to the last bit.
 *
 * Scopes: all processes (SCOPE_ALL), those of the domain of armci.h (SCOPE_NODE), or the first process of each domain
 * (SCOPE_MASTERS). All processes may call a collective with a scope. It has no effect on those outside the scope.
 */
#ifndef ARMCI_MESSAGE_H
#define ARMCI_MESSAGE_H

#include <armci.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The scope of a collective. Numbers are those of ARMCI-MPI. */
enum armci_scope_e { SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS };

/** The type of the elements of a reduction. Numbers are those of ARMCI-MPI. */
enum armci_type_e { ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE };

/**
 * Starts MPI if the program has not done so; in a program that is not linked with MPI it starts ARMCI. Called before
 * ARMCI_Init. If Wattle has no module for the program's MPI, it prints a message and does not start MPI.
 *
 * @param[in,out] argc  as for MPI_Init; may be NULL
 * @param[in,out] argv  as for MPI_Init; may be NULL
 */
void armci_msg_init(int *argc, char ***argv);

/**
 * Restricts the next ARMCI_Init to the processes of one communicator, as ARMCI_Init_mpi_comm does. Called after
 * MPI_Init.
 * It has no effect if ARMCI or OpenSHMEM has been started before.
 *
 * @param[in] comm  the communicator, which must not be freed before ARMCI_Init
 */
void armci_msg_init_comm(WTL_MPI_COMM comm);

/**
 * Returns the number of this process. Before ARMCI_Init and after ARMCI_Finalize it is that of MPI.
 *
 * @return number of this process, from 0
 */
int armci_msg_me(void);

/**
 * Returns the number of processes. Before ARMCI_Init and after ARMCI_Finalize it is that of MPI.
 *
 * @return number of processes
 */
int armci_msg_nproc(void);

/**
 * Ends the whole job. Does not return.
 *
 * @param[in] code  exit status of the job, of which the low 8 bits count; 1 if these are 0
 */
void armci_msg_abort(int code);

/** Ends what armci_msg_init has started. */
void armci_msg_finalize(void);

/**
 * Returns the time of a monotonic clock. Any thread and any handler may call it.
 *
 * @return seconds since a fixed moment in the past
 */
double armci_timer(void);

/**
 * Sends a message. `buf` may be reused on return.
 *
 * @param[in] tag    any number
 * @param[in] buf    the bytes
 * @param[in] bytes  number of bytes, 0 or more
 * @param[in] to     receiving process
 */
void armci_msg_snd(int tag, void *buf, int bytes, int to);

/**
 * Waits for a message with a tag from one process. A message that is longer than the buffer ends the job.
 *
 * @param[in]  tag       the tag
 * @param[out] buf       receives the bytes
 * @param[in]  size      size of `buf` in bytes, 0 or more
 * @param[out] received  receives the length of the message in bytes; may be NULL
 * @param[in]  from      sending process
 */
void armci_msg_rcv(int tag, void *buf, int size, int *received, int from);

/**
 * Waits for a message with a tag from any process. A message that is longer than the buffer ends the job.
 *
 * @param[in]  tag       the tag
 * @param[out] buf       receives the bytes
 * @param[in]  size      size of `buf` in bytes, 0 or more
 * @param[out] received  receives the length of the message in bytes; may be NULL
 * @return the sending process
 */
int armci_msg_rcvany(int tag, void *buf, int size, int *received);

/** Waits until all processes have called it. Collective. Does not complete puts (ARMCI_Barrier). */
void armci_msg_barrier(void);

/** Does the same as armci_msg_barrier, for profiling tools. */
void parmci_msg_barrier(void);

/**
 * Broadcasts bytes to all processes. Collective.
 *
 * @param[in,out] buf    the bytes: at the root the source, elsewhere the target
 * @param[in]     bytes  number of bytes, 0 or more, the same on all processes
 * @param[in]     root   sending process
 */
void armci_msg_bcast(void *buf, int bytes, int root);

/** @copydoc armci_msg_bcast */
void armci_msg_brdcst(void *buf, int bytes, int root);

/**
 * Broadcasts bytes within a scope. Collective.
 *
 * @param[in]     scope  the scope (enum armci_scope_e)
 * @param[in,out] buf    as for armci_msg_bcast
 * @param[in]     bytes  as for armci_msg_bcast
 * @param[in]     root   a process of the scope. With SCOPE_NODE, a root of another domain means the first process of
 *                       this domain.
 */
void armci_msg_bcast_scope(int scope, void *buf, int bytes, int root);

/**
 * Arranges the processes of a scope as a binary tree. Not collective. A number is -1 if there is no such process.
 *
 * @param[in]  scope  the scope (enum armci_scope_e)
 * @param[out] root   receives the root of the tree
 * @param[out] up     receives the parent of this process
 * @param[out] left   receives the first child of this process
 * @param[out] right  receives the second child of this process
 */
void armci_msg_bintree(int scope, int *root, int *up, int *left, int *right);

/**
 * Reduces arrays element by element within a scope. Collective. All processes of the scope get the result.
 *
 * @param[in]     scope  the scope (enum armci_scope_e)
 * @param[in,out] x      n elements, which the result replaces
 * @param[in]     n      number of elements, 0 or more, the same on all processes
 * @param[in]     op     the operation
 * @param[in]     type   type of the elements (enum armci_type_e)
 */
void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type);

/**
 * Reduces arrays element by element over all processes. Collective. All processes get the result.
 *
 * @param[in,out] x   n elements, which the result replaces
 * @param[in]     n   number of elements, 0 or more, the same on all processes
 * @param[in]     op  the operation
 */
void armci_msg_igop(int *x, int n, char *op);

/** @copydoc armci_msg_igop */
void armci_msg_lgop(long *x, int n, char *op);

/** @copydoc armci_msg_igop */
void armci_msg_llgop(long long *x, int n, char *op);

/** @copydoc armci_msg_igop */
void armci_msg_fgop(float *x, int n, char *op);

/** @copydoc armci_msg_igop */
void armci_msg_dgop(double *x, int n, char *op);

/**
 * Reduces arrays element by element over all processes. Collective. A program may rely on the result only in the first
 * process, but this library gives it to all.
 *
 * @param[in,out] x     n elements, which the result replaces
 * @param[in]     n     number of elements, 0 or more, the same on all processes
 * @param[in]     op    the operation
 * @param[in]     type  type of the elements (enum armci_type_e)
 */
void armci_msg_reduce(void *x, int n, char *op, int type);

/**
 * Reduces arrays element by element within a scope, as armci_msg_reduce does. Collective.
 *
 * @param[in]     scope  the scope (enum armci_scope_e)
 * @param[in,out] x      as for armci_msg_reduce
 * @param[in]     n      as for armci_msg_reduce
 * @param[in]     op     as for armci_msg_reduce
 * @param[in]     type   as for armci_msg_reduce
 */
void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type);

/**
 * Selects the bytes of one process for all. Collective. Compares the first value in the bytes of each process and gives
 * all processes the bytes with the least or greatest value. Of several equal values the first process counts.
 *
 * @param[in,out] x           `bytes` bytes that begin with a value of `type`; the selected ones replace them
 * @param[in]     bytes       number of bytes, at least the size of a value, the same on all processes
 * @param[in]     op          "min" or "max"
 * @param[in]     type        type of the value (enum armci_type_e)
 * @param[in]     contribute  0: the bytes of this process are not considered. If no process contributes, x is
 *                            unchanged.
 */
void armci_msg_sel(void *x, int bytes, char *op, int type, int contribute);

/**
 * Selects the bytes of one process of a scope, as armci_msg_sel does. Collective.
 *
 * @param[in]     scope       the scope (enum armci_scope_e)
 * @param[in,out] x           as for armci_msg_sel
 * @param[in]     bytes       as for armci_msg_sel
 * @param[in]     op          as for armci_msg_sel
 * @param[in]     type        as for armci_msg_sel
 * @param[in]     contribute  as for armci_msg_sel
 */
void armci_msg_sel_scope(int scope, void *x, int bytes, char *op, int type, int contribute);

/**
 * Broadcasts bytes from the first process of this domain to the domain. Collective over the domain.
 *
 * @param[in,out] buf    as for armci_msg_bcast
 * @param[in]     bytes  as for armci_msg_bcast
 */
void armci_msg_clus_brdcst(void *buf, int bytes);

/**
 * Reduces arrays element by element over the processes of this domain. Collective over the domain.
 *
 * @param[in,out] x   as for armci_msg_igop
 * @param[in]     n   as for armci_msg_igop
 * @param[in]     op  as for armci_msg_igop
 */
void armci_msg_clus_igop(int *x, int n, char *op);

/** @copydoc armci_msg_clus_igop */
void armci_msg_clus_lgop(long *x, int n, char *op);

/** @copydoc armci_msg_clus_igop */
void armci_msg_clus_llgop(long long *x, int n, char *op);

/** @copydoc armci_msg_clus_igop */
void armci_msg_clus_fgop(float *x, int n, char *op);

/** @copydoc armci_msg_clus_igop */
void armci_msg_clus_dgop(double *x, int n, char *op);

/**
 * Waits until all members of a group have called it. Collective over the group.
 *
 * @param[in] group  the group, of which the caller is a member
 */
void armci_msg_group_barrier(ARMCI_Group *group);

/** @copydoc armci_msg_group_barrier */
void parmci_msg_group_barrier(ARMCI_Group *group);

/**
 * Broadcasts bytes within a scope of a group. Collective over the group. The scope consists of the members of this
 * domain, or of the first member of each domain.
 *
 * @param[in]     scope  the scope (enum armci_scope_e)
 * @param[in,out] buf    as for armci_msg_bcast
 * @param[in]     bytes  as for armci_msg_bcast
 * @param[in]     root   a member in the scope, by its number in the job, as for armci_msg_bcast_scope
 * @param[in]     group  the group, of which the caller is a member
 */
void armci_msg_group_bcast_scope(int scope, void *buf, int bytes, int root, ARMCI_Group *group);

/**
 * Reduces arrays element by element within a scope of a group. Collective over the group.
 *
 * @param[in]     scope  the scope, as for armci_msg_group_bcast_scope
 * @param[in,out] x      as for armci_msg_gop_scope
 * @param[in]     n      as for armci_msg_gop_scope
 * @param[in]     op     as for armci_msg_gop_scope
 * @param[in]     type   as for armci_msg_gop_scope
 * @param[in]     group  the group, of which the caller is a member
 */
void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group);

/**
 * Reduces arrays element by element over the members of a group. Collective over the group.
 *
 * @param[in,out] x      as for armci_msg_igop
 * @param[in]     n      as for armci_msg_igop
 * @param[in]     op     as for armci_msg_igop
 * @param[in]     group  the group, of which the caller is a member
 */
void armci_msg_group_igop(int *x, int n, char *op, ARMCI_Group *group);

/** @copydoc armci_msg_group_igop */
void armci_msg_group_lgop(long *x, int n, char *op, ARMCI_Group *group);

/** @copydoc armci_msg_group_igop */
void armci_msg_group_llgop(long long *x, int n, char *op, ARMCI_Group *group);

/** @copydoc armci_msg_group_igop */
void armci_msg_group_fgop(float *x, int n, char *op, ARMCI_Group *group);

/** @copydoc armci_msg_group_igop */
void armci_msg_group_dgop(double *x, int n, char *op, ARMCI_Group *group);

/**
 * Broadcasts bytes among consecutive members of a group. All members may call it; it has no effect on the others.
 *
 * @param[in,out] buf    as for armci_msg_bcast
 * @param[in]     bytes  as for armci_msg_bcast
 * @param[in]     first  number of the first of these members in the group; it is the root
 * @param[in]     n      how many members take part, 1 to the size of the group minus `first`
 * @param[in]     group  the group, of which the caller is a member
 */
void armci_grp_clus_brdcst(void *buf, int bytes, int first, int n, ARMCI_Group *group);

/**
 * Exchanges addresses between all processes. Collective.
 *
 * @param[in,out] ptrs  n addresses. The caller sets its own element; all others receive those of their processes.
 * @param[in]     n     number of all processes
 */
void armci_exchange_address(void *ptrs[], int n);

/**
 * Exchanges addresses between the members of a group. Collective over the group.
 *
 * @param[in,out] ptrs   n addresses, by number in the group. The caller sets its own element.
 * @param[in]     n      number of members
 * @param[in]     group  the group, of which the caller is a member
 */
void armci_exchange_address_grp(void *ptrs[], int n, ARMCI_Group *group);

#ifdef __cplusplus
}
#endif

#endif
