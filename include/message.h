/*
 * message.h - ARMCI's messages and collectives, by Wattle. Buffers may be any memory.
 *
 * Operations: "+", "*", "max", "min", "absmax", "absmin", and of integers "and" ("&", "band"), "or" ("|", "bor") and
 * "xor" ("bxor"), bit by bit, and "&&" ("land") and "||" ("lor"), 0 or 1. The result is the same, to the last bit, on
 * all processes. Scopes: all processes, those of the domain (armci.h), or the first of each domain.
 */
#ifndef ARMCI_MESSAGE_H
#define ARMCI_MESSAGE_H

#include <armci.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers as in ARMCI-MPI. */
enum armci_scope_e { SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS };
enum armci_type_e { ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE };

/** Before ARMCI_Init: starts MPI where the program has not; in a program that is linked with none, ARMCI. Says so where it
 * has no module for the program's MPI, which is then not started. */
void armci_msg_init(int *argc, char ***argv);

/** After MPI_Init: ARMCI_Init will start ARMCI among the processes of `comm` alone (ARMCI_Init_mpi_comm), which must not be
 * freed before. Where ARMCI or OpenSHMEM has been started, `comm` makes no difference. */
void armci_msg_init_comm(WTL_MPI_COMM comm);

/** This process's number, and how many there are; before ARMCI_Init and after ARMCI_Finalize as MPI says. */
int armci_msg_me(void);
int armci_msg_nproc(void);

/** Ends the whole job with status `code`, or 1 where that is 0. */
void armci_msg_abort(int code);

/** Ends what armci_msg_init began. */
void armci_msg_finalize(void);

/** Seconds since some time in the past. */
double armci_timer(void);

/** A message of `bytes` to process `to`; buf may be reused on return. */
void armci_msg_snd(int tag, void *buf, int bytes, int to);

/** Waits for one of that tag. *came (if not NULL): its length; one longer than `room` ends the job. */
void armci_msg_rcv(int tag, void *buf, int room, int *came, int from);

/** From anybody: returns from whom. */
int armci_msg_rcvany(int tag, void *buf, int room, int *came);

void armci_msg_barrier(void);
void parmci_msg_barrier(void);
void armci_msg_bcast(void *buf, int bytes, int root);
void armci_msg_brdcst(void *buf, int bytes, int root);

/** `root` is a process of the scope; in SCOPE_NODE, where it is on another node, the first one of this node sends. */
void armci_msg_bcast_scope(int scope, void *buf, int bytes, int root);

/** The scope's processes as a tree: -1 where there is none. */
void armci_msg_bintree(int scope, int *root, int *up, int *left, int *right);

/** x = op over processes of x, n elements of type ARMCI_INT ... ARMCI_DOUBLE. */
void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type);
void armci_msg_igop(int *x, int n, char *op);
void armci_msg_lgop(long *x, int n, char *op);
void armci_msg_llgop(long long *x, int n, char *op);
void armci_msg_fgop(float *x, int n, char *op);
void armci_msg_dgop(double *x, int n, char *op);

/** The same; only the scope's first process needs the result, all get it. */
void armci_msg_reduce(void *x, int n, char *op, int type);
void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type);

/**
 * x: `bytes` that begin with a value of `type`. All get those of the process with the least ("min") or greatest
 * ("max") value, the first of several; processes with `contribute` 0 have none.
 */
void armci_msg_sel(void *x, int bytes, char *op, int type, int contribute);
void armci_msg_sel_scope(int scope, void *x, int bytes, char *op, int type, int contribute);

/** Among the processes of the node. */
void armci_msg_clus_brdcst(void *buf, int bytes);
void armci_msg_clus_igop(int *x, int n, char *op);
void armci_msg_clus_lgop(long *x, int n, char *op);
void armci_msg_clus_llgop(long long *x, int n, char *op);
void armci_msg_clus_fgop(float *x, int n, char *op);
void armci_msg_clus_dgop(double *x, int n, char *op);

/**
 * Over a group. The root of a broadcast is the job's number of a member; scopes are of the group: its members of a
 * node, or its first one of each node.
 */
void armci_msg_group_barrier(ARMCI_Group *group);
void parmci_msg_group_barrier(ARMCI_Group *group);
void armci_msg_group_bcast_scope(int scope, void *buf, int bytes, int root, ARMCI_Group *group);
void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group);
void armci_msg_group_igop(int *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_lgop(long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_llgop(long long *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_fgop(float *x, int n, char *op, ARMCI_Group *group);
void armci_msg_group_dgop(double *x, int n, char *op, ARMCI_Group *group);

/** Among the group's `n` members from its number `first` on, which sends; all members may call it. */
void armci_grp_clus_brdcst(void *buf, int bytes, int first, int n, ARMCI_Group *group);

/** ptrs[i] becomes what process i has there; n: of all processes, or of the group. */
void armci_exchange_address(void *ptrs[], int n);
void armci_exchange_address_grp(void *ptrs[], int n, ARMCI_Group *group);

#ifdef __cplusplus
}
#endif

#endif
