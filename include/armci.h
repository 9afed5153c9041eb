/*
 * armci.h - ARMCI by Wattle: one-sided communication between the processes of a job.
 *
 * Processes are numbered from 0, as MPI's. Memory that others reach comes from ARMCI_Malloc and its kin; an address in
 * it is that of its owner, and means the same to all processes: it may be sent to them, and those of the owner's node
 * may load from it and store to it. Lengths are in bytes. Strides count bytes from one block to the next; count[0] is a
 * block's bytes, count[i] how many there are at level i.
 *
 * Order: of what one process does to the memory of another by blocking calls, later ones find earlier ones done. A put
 * or an accumulate may return before it is done there; ARMCI_Fence waits for that. Calls that do not block promise no
 * order. Accumulates are atomic for each element against other accumulates, read-modify-writes against each other.
 *
 * Routines that return int return 0 if they did it. A wrong argument ends the job with a message that names the call,
 * the value and the process (WATTLE_CHECK=off skips the checks). Those that begin with PARMCI_ are the same, for tools
 * that define the plain ones.
 */
#ifndef ARMCI_H
#define ARMCI_H

#ifdef __cplusplus
extern "C++" { /* this header may be included within extern "C", and MPI's may have classes */
#endif
#include <stdlib.h> /* as Global Arrays' own header has it: programs for that may rely on it */
#ifndef WTL_ARMCI_WITHOUT_MPI
#include <mpi.h>
#endif
#ifdef __cplusplus
}
extern "C" {
#endif

#ifdef WTL_ARMCI_WITHOUT_MPI /* inside of the library, which serves any MPI, and in programs that know nothing of one */
typedef void *WTL_MPI_COMM;
#else
typedef MPI_Comm WTL_MPI_COMM;
#endif

/* --- types and constants: numbers and layouts are those of ARMCI-MPI, so that a Global Arrays library built for it runs on this  */

#define ARMCI_MPI 3 /* its interface's version */

typedef long armci_size_t;
#define ARMCII_MPI_SIZE_T MPI_LONG /* for messages that carry an armci_size_t */

enum ARMCI_Acc_e {
  ARMCI_ACC_INT,
  ARMCI_ACC_LNG,
  ARMCI_ACC_FLT,
  ARMCI_ACC_DBL,
  ARMCI_ACC_CPL, /* two floats */
  ARMCI_ACC_DCP  /* two doubles */
};

enum ARMCI_Rmw_e { ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP, ARMCI_SWAP_LONG };

/* No macro: test programs of ARMCI define one of that name after this header, with a number of their own. */
#ifndef ARMCI_MAX_STRIDE_LEVEL
enum { ARMCI_MAX_STRIDE_LEVEL = 8 };
#endif

/* What routines may return that did not do it; nobody needs more than that it is not 0. */
#define FAIL (-1)
#define FAIL2 (-2)
#define FAIL3 (-3)
#define FAIL4 (-4)
#define FAIL5 (-5)
#define FAIL6 (-6)
#define FAIL7 (-7)
#define FAIL8 (-8)

/* An operation that does not block, or several. Set it up with ARMCI_INIT_HANDLE. */
typedef struct armci_hdl_s {
  int wtl_request;
  int wtl_aggregate;
} armci_hdl_t;

/* Blocks of one length: block i goes from src_ptr_array[i] to dst_ptr_array[i]. */
typedef struct {
  void **src_ptr_array;
  void **dst_ptr_array;
  int bytes;
  int ptr_array_len;
} armci_giov_t;

/* Copies of a group's handle are the same group. */
typedef struct {
  __extension__ union { /* no word of C99 */
    WTL_MPI_COMM comm;  /* its members' communicator, in a program with MPI; the group's, not to be freed */
    void *wtl_room;
  };
  size_t wtl_entry, wtl_serial;
} ARMCI_Group;

/* Memory that one process allocated for others (ARMCI_Memget). */
typedef struct armci_meminfo_ds {
  char *armci_addr, *addr; /* where it is: the same */
  size_t size;
  int cpid; /* its owner */
  long idlist[128];
} armci_meminfo_t;

/* --- start and end: collective --- */

/** Starts; before or after MPI_Init, and beside shmem_init. May be called again: the last ARMCI_Finalize ends it. */
int ARMCI_Init(void);
int ARMCI_Init_args(int *argc, char ***argv);

/**
 * The same; `level` as of MPI_Init_thread. With MPI_THREAD_MULTIPLE several threads may call at once, but for what is
 * collective. The plain calls take that from MPI, where the program has asked it for that level before.
 */
int ARMCI_Init_thread(int level);

/**
 * The same among the processes of `comm` alone, after MPI_Init: ARMCI's processes are those, numbered by it. Others may
 * start among themselves. Where ARMCI or OpenSHMEM has been started, `comm` makes no difference.
 */
int ARMCI_Init_thread_comm(int level, WTL_MPI_COMM comm);

/** The same for one thread; it returns 1 if it did it, and 0 if not: so Global Arrays asks. */
int ARMCI_Init_mpi_comm(WTL_MPI_COMM comm);
int ARMCI_Initialized(void);
int ARMCI_Finalize(void);

/** Gives back what would outlive the processes: there is nothing. Not collective. */
void ARMCI_Cleanup(void);

/** Says `msg` and ends the whole job with status `code`, or 1 where that is 0. */
void ARMCI_Error(const char *msg, int code);

/* --- memory --- */

/**
 * Collective: each process its own number of bytes, also 0. ptrs[i] becomes the address of process i's, NULL for 0.
 * Where one has no room nobody gets anything, and all return non-zero. At least 64-byte aligned.
 */
int ARMCI_Malloc(void **ptrs, armci_size_t bytes);

/** Collective. `ptr`: what this process got, or NULL. Waits until all that was sent to anybody is done. */
int ARMCI_Free(void *ptr);

/** Alone, and for itself alone. NULL: no room. */
void *ARMCI_Malloc_local(armci_size_t bytes);
int ARMCI_Free_local(void *ptr);

/** Over a group; ptrs[i] is of its member i. */
int ARMCI_Malloc_group(void **ptrs, armci_size_t bytes, ARMCI_Group *group);
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);

/** There is one kind of memory: `device` makes no difference. */
int ARMCI_Malloc_memdev(void **ptrs, armci_size_t bytes, const char *device);
int ARMCI_Malloc_group_memdev(void **ptrs, armci_size_t bytes, ARMCI_Group *group, const char *device);
int ARMCI_Free_memdev(void *ptr);

/**
 * Alone: memory for others, which send *info to each other. ARMCI_Memat: the address `offset` bytes into it;
 * ARMCI_Memdt ends the use of that; ARMCI_Memctl, of its owner, frees it. `flag` makes no difference.
 */
void ARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flag);
void *ARMCI_Memat(armci_meminfo_t *info, long offset);
void ARMCI_Memdt(armci_meminfo_t *info, long offset);
void ARMCI_Memctl(armci_meminfo_t *info);

/**
 * Before and after loads and stores of this process to its own memory that others reach, where other libraries need
 * it.
 */
void ARMCI_Access_begin(void *ptr);
void ARMCI_Access_end(void *ptr);

/** Memory is shared by the processes of a node, whatever the limit. */
int ARMCI_Uses_shm(void);
int ARMCI_Uses_shm_grp(ARMCI_Group *group);
void ARMCI_Set_shm_limit(unsigned long bytes);

/* --- contiguous --- */

int ARMCI_Put(void *src, void *dst, int bytes, int proc);
int ARMCI_Get(void *src, void *dst, int bytes, int proc);

/** dst += scale * src, of whole elements. */
int ARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);

/** A put, and then *flag = value there. */
int ARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc);

/** Between two places of this process. */
void ARMCI_Copy(void *src, void *dst, int bytes);

int ARMCI_PutValueInt(int src, void *dst, int proc);
int ARMCI_PutValueLong(long src, void *dst, int proc);
int ARMCI_PutValueFloat(float src, void *dst, int proc);
int ARMCI_PutValueDouble(double src, void *dst, int proc);
int ARMCI_GetValueInt(void *src, int proc);
long ARMCI_GetValueLong(void *src, int proc);
float ARMCI_GetValueFloat(void *src, int proc);
double ARMCI_GetValueDouble(void *src, int proc);

/* --- strided, and lists of blocks --- */

int ARMCI_PutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc);
int ARMCI_GetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc);
int ARMCI_AccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
               int levels, int proc);
int ARMCI_PutS_flag(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int *flag,
                    int value, int proc);
int ARMCI_PutS_flag_dir(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int *flag,
                        int value, int proc);

int ARMCI_PutV(armci_giov_t *iov, int len, int proc);
int ARMCI_GetV(armci_giov_t *iov, int len, int proc);
int ARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc);

/** Packs a strided patch into `buf`, and the other way. */
void armci_write_strided(void *ptr, int levels, int stride[], int count[], char *buf);
void armci_read_strided(void *ptr, int levels, int stride[], int count[], char *buf);

/* --- without blocking: the memory on this side is in use until ARMCI_Wait. hdl NULL: until ARMCI_WaitAll or a fence  */

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);

/** From here on the handle takes several operations; ARMCI_Wait is for all of them. */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl);
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl);

int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc,
                 armci_hdl_t *hdl);
int ARMCI_NbGetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc,
                 armci_hdl_t *hdl);
int ARMCI_NbAccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                 int levels, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int ARMCI_NbGetV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int ARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);
int ARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);

int ARMCI_Wait(armci_hdl_t *hdl);

/** 0: it is done; 1: not yet. */
int ARMCI_Test(armci_hdl_t *hdl);
int ARMCI_WaitProc(int proc);
int ARMCI_WaitAll(void);

/* --- completion and synchronisation --- */

/** All that this process did so far to the memory of `proc`, of all, of a group's members, is done there. */
void ARMCI_Fence(int proc);
void ARMCI_AllFence(void);
void ARMCI_GroupFence(ARMCI_Group *group);

/** Collective: all that all did is done. */
void ARMCI_Barrier(void);

/**
 * ploc = *prem, and *prem += value (fetch-and-add); or *ploc and *prem change places (swap). int, or long for
 * _LONG.
 */
int ARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);

/**
 * Collective: `count` mutexes of each process. A process that holds one must not lock it again, from another thread
 * neither.
 */
int ARMCI_Create_mutexes(int count);
int ARMCI_Destroy_mutexes(void);
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

/** Tells `proc` that what this process did to its memory so far is done; returns how many times it has told it. */
int armci_notify(int proc);

/** Waits until `proc` has told this process once more than last time; returns how many times, in *times too. */
int armci_notify_wait(int proc, int *times);

/* --- groups --- */

/**
 * Over the members, which `pids` names by their numbers in the parent (ARMCI_Group_create: in the default group).
 * Others may call it too, and get a handle that says so (ARMCI_Group_rank).
 */
void ARMCI_Group_create(int n, int *pids, ARMCI_Group *group);
void ARMCI_Group_create_child(int n, int *pids, ARMCI_Group *group, ARMCI_Group *parent);
void ARMCI_Group_free(ARMCI_Group *group);

/** This process's number in it. Non-zero, and -1, where it is no member. */
int ARMCI_Group_rank(ARMCI_Group *group, int *rank);
void ARMCI_Group_size(ARMCI_Group *group, int *size);
void ARMCI_Group_set_default(ARMCI_Group *group);
void ARMCI_Group_get_default(ARMCI_Group *group);
void ARMCI_Group_get_world(ARMCI_Group *group);

/** The job's number of the group's process `rank`. */
int ARMCI_Absolute_id(ARMCI_Group *group, int rank);

/* --- nodes: a domain is a run of processes with consecutive numbers on one node --- */

enum armci_domain_e { ARMCI_DOMAIN_SMP };
typedef int armci_domain_t;

int armci_domain_nprocs(armci_domain_t domain, int id); /* id -1: this process's */
int armci_domain_id(armci_domain_t domain, int proc);
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int i);
int armci_domain_my_id(armci_domain_t domain);
int armci_domain_count(armci_domain_t domain);
int armci_domain_same_id(armci_domain_t domain, int proc);
int ARMCI_Same_node(int proc);
int armci_sameclusnode(int proc);

/* --- old names --- */

typedef armci_hdl_t armci_req_t;
#define ARMCI_Put1(src, dst, bytes, proc) (ARMCI_Copy(src, dst, bytes), 0)
#define armci_die(msg, code) ARMCI_Error(msg, code)
#define armci_die2(msg, code, more) ((void)(more), ARMCI_Error(msg, code))

/* --- for profiling tools --- */

int PARMCI_Init(void);
int PARMCI_Init_args(int *argc, char ***argv);
int PARMCI_Init_thread(int level);
int PARMCI_Init_thread_comm(int level, WTL_MPI_COMM comm);
int PARMCI_Init_mpi_comm(WTL_MPI_COMM comm);
int PARMCI_Initialized(void);
int PARMCI_Finalize(void);
int PARMCI_Malloc(void **ptrs, armci_size_t bytes);
int PARMCI_Free(void *ptr);
void *PARMCI_Malloc_local(armci_size_t bytes);
int PARMCI_Free_local(void *ptr);
int PARMCI_Malloc_memdev(void **ptrs, armci_size_t bytes, const char *device);
int PARMCI_Malloc_group_memdev(void **ptrs, armci_size_t bytes, ARMCI_Group *group, const char *device);
int PARMCI_Free_memdev(void *ptr);
void PARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flag);
void *PARMCI_Memat(armci_meminfo_t *info, long offset);
void PARMCI_Memdt(armci_meminfo_t *info, long offset);
void PARMCI_Memctl(armci_meminfo_t *info);
void PARMCI_Access_begin(void *ptr);
void PARMCI_Access_end(void *ptr);
int PARMCI_Put(void *src, void *dst, int bytes, int proc);
int PARMCI_Get(void *src, void *dst, int bytes, int proc);
int PARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);
int PARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc);
int PARMCI_PutValueInt(int src, void *dst, int proc);
int PARMCI_PutValueLong(long src, void *dst, int proc);
int PARMCI_PutValueFloat(float src, void *dst, int proc);
int PARMCI_PutValueDouble(double src, void *dst, int proc);
int PARMCI_GetValueInt(void *src, int proc);
long PARMCI_GetValueLong(void *src, int proc);
float PARMCI_GetValueFloat(void *src, int proc);
double PARMCI_GetValueDouble(void *src, int proc);
int PARMCI_PutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc);
int PARMCI_GetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc);
int PARMCI_AccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                int levels, int proc);
int PARMCI_PutS_flag(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int *flag,
                     int value, int proc);
int PARMCI_PutS_flag_dir(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int *flag,
                         int value, int proc);
int PARMCI_PutV(armci_giov_t *iov, int len, int proc);
int PARMCI_GetV(armci_giov_t *iov, int len, int proc);
int PARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc);
int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc,
                  armci_hdl_t *hdl);
int PARMCI_NbGetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc,
                  armci_hdl_t *hdl);
int PARMCI_NbAccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                  int levels, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int PARMCI_NbGetV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int PARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);
int PARMCI_Wait(armci_hdl_t *hdl);
int PARMCI_Test(armci_hdl_t *hdl);
int PARMCI_WaitProc(int proc);
int PARMCI_WaitAll(void);
void PARMCI_Fence(int proc);
void PARMCI_AllFence(void);
void PARMCI_GroupFence(ARMCI_Group *group);
void PARMCI_Barrier(void);
int PARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);
int PARMCI_Create_mutexes(int count);
int PARMCI_Destroy_mutexes(void);
void PARMCI_Lock(int mutex, int proc);
void PARMCI_Unlock(int mutex, int proc);
int parmci_notify(int proc);
int parmci_notify_wait(int proc, int *times);

#ifdef __cplusplus
}
#endif

#include <message.h>

#endif
