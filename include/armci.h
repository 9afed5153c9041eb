/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file armci.h
 * ARMCI by Wattle: one-sided communication between the processes of a job.
 *
 * @code
 *   void *base[NPROC];
 *   ARMCI_Init();
 *   ARMCI_Malloc(base, n * sizeof(double));
 *   ARMCI_Put(mine, base[1], n * sizeof(double), 1);
 *   ARMCI_Barrier();
 *   ARMCI_Free(base[me]);
 *   ARMCI_Finalize();
 * @endcode
 *
 * Processes. They are numbered from 0, as in MPI. `proc` is such a number in every call, 0 to the number of processes
 * minus 1, also for members of a group.
 *
 * Global memory. Memory that other processes access comes from ARMCI_Malloc and its variants. An address in it belongs
 * to its owner and means the same to all processes, which may send it to each other. Processes of the owner's node may
 * load from it and store to it. The program owns it until the call that frees it.
 *
 * Sizes. Lengths are in bytes. A stride is the number of bytes from one block to the next. count[0] is the number of
 * bytes of a block, and count[i] the number of blocks at level i.
 *
 * Order. A blocking call sees the effect of all earlier blocking calls of the same process on the same memory. A put or
 * an accumulate may return before it is complete at the target; ARMCI_Fence waits for that. The source of a blocking
 * call may be reused when the call returns. Non-blocking calls have no order among each other. Accumulates are atomic
 * for
 * each element against other accumulates, and read-modify-writes against each other.
 *
 * Collective calls. All processes of the job, or all members of the group, make a collective call in the same order.
 *
 * Errors. A function that returns int returns 0 on success unless its text says otherwise. A wrong argument ends the
 * job
 * with a message that names the call, the value and the process. WATTLE_CHECK=off skips these checks. A call before
 * ARMCI_Init or after ARMCI_Finalize ends the job, too.
 *
 * Threads. One thread calls at a time, unless ARMCI_Init_thread or MPI was asked for MPI_THREAD_MULTIPLE. Then several
 * threads may call at once, except collective calls. A handle (armci_hdl_t) serves one thread at a time.
 *
 * Handlers. A handler of an active message (shmemx.h) must not call these functions. Exceptions are ARMCI_Copy,
 * ARMCI_Memat, ARMCI_Memdt, ARMCI_Access_begin, ARMCI_Access_end, ARMCI_Uses_shm, ARMCI_Initialized and ARMCI_Error.
 *
 * All functions exist since version 0.1.0. Functions that begin with PARMCI_ do the same, for tools that define the
 * plain names.
 */
#ifndef ARMCI_H
#define ARMCI_H

#ifdef __cplusplus
extern "C++" { /* this header may be included within extern "C", and MPI's header may have classes */
#endif
#include <stdlib.h> /* Global Arrays' own header includes it, and programs rely on that */
#ifndef WTL_ARMCI_WITHOUT_MPI
#include <mpi.h>
#endif
#ifdef __cplusplus
}
extern "C" {
#endif

#ifdef WTL_ARMCI_WITHOUT_MPI /* inside the library, which serves any MPI, and in programs without MPI */
typedef void *WTL_MPI_COMM;
#else
typedef MPI_Comm WTL_MPI_COMM; /**< a communicator of the program's MPI */
#endif

/*
 * Types and constants. Numbers and layouts are those of ARMCI-MPI, so a Global Arrays library that was built for it
 * runs
 * with this library.
 */

#define ARMCI_MPI 3 /**< version of ARMCI-MPI's interface */

typedef long armci_size_t;         /**< a number of bytes, 0 or more */
#define ARMCII_MPI_SIZE_T MPI_LONG /**< MPI's type for messages of armci_size_t */

/** The type of the elements of an accumulate. */
enum ARMCI_Acc_e {
  ARMCI_ACC_INT, /**< int */
  ARMCI_ACC_LNG, /**< long */
  ARMCI_ACC_FLT, /**< float */
  ARMCI_ACC_DBL, /**< double */
  ARMCI_ACC_CPL, /**< complex number of two floats */
  ARMCI_ACC_DCP  /**< complex number of two doubles */
};

/** The operation of ARMCI_Rmw. */
enum ARMCI_Rmw_e {
  ARMCI_FETCH_AND_ADD,      /**< fetch and add of an int */
  ARMCI_FETCH_AND_ADD_LONG, /**< fetch and add of a long */
  ARMCI_SWAP,               /**< swap of an int */
  ARMCI_SWAP_LONG           /**< swap of a long */
};

/* An enumerator and no macro: test programs of ARMCI define a macro of this name after the header. */
#ifndef ARMCI_MAX_STRIDE_LEVEL
enum { ARMCI_MAX_STRIDE_LEVEL = 8 /**< largest value of `levels` */ };
#endif

/* Results of routines that failed. Programs test only that a result is not 0. */
#define FAIL (-1)
#define FAIL2 (-2)
#define FAIL3 (-3)
#define FAIL4 (-4)
#define FAIL5 (-5)
#define FAIL6 (-6)
#define FAIL7 (-7)
#define FAIL8 (-8)

/**
 * Handle of one or several non-blocking operations. Initialize it with ARMCI_INIT_HANDLE. Copies are the same handle.
 * The members belong to the library.
 */
typedef struct armci_hdl_s {
  int wtl_request;
  int wtl_aggregate;
} armci_hdl_t;

/** A list of blocks of one length. Block i is copied from src_ptr_array[i] to dst_ptr_array[i]. The program owns it. */
typedef struct {
  void **src_ptr_array; /**< addresses of the sources */
  void **dst_ptr_array; /**< addresses of the targets */
  int bytes;            /**< bytes of each block, 0 or more */
  int ptr_array_len;    /**< number of blocks, 0 or more */
} armci_giov_t;

/** Handle of a group. Copies of a handle are the same group. Members with the prefix wtl_ belong to the library. */
typedef struct {
  __extension__ union { /* anonymous unions are not in C99 */
    WTL_MPI_COMM comm;  /**< communicator of the members in a program with MPI; the group owns it */
    void *wtl_team_entry;
  };
  size_t wtl_entry, wtl_serial;
} ARMCI_Group;

/** Memory that one process allocated for others (ARMCI_Memget). */
typedef struct armci_meminfo_ds {
  char *armci_addr; /**< its address */
  char *addr;       /**< the same address */
  size_t size;      /**< bytes */
  int cpid;         /**< process that owns it */
  long idlist[128]; /**< not used */
} armci_meminfo_t;

/* --- Start and end --- */

/**
 * Starts ARMCI. Collective. May be called before or after MPI_Init, and together with shmem_init. It may be called
 * several times; ARMCI ends with the last ARMCI_Finalize.
 *
 * @return 0
 */
int ARMCI_Init(void);

/**
 * Does the same as ARMCI_Init. The arguments are not used.
 *
 * @param[in] argc  any value
 * @param[in] argv  any value
 * @return 0
 */
int ARMCI_Init_args(int *argc, char ***argv);

/**
 * Starts ARMCI for several threads. Collective. ARMCI_Init does the same if MPI was initialized with
 * MPI_THREAD_MULTIPLE before.
 *
 * @param[in] level  as for MPI_Init_thread; with MPI_THREAD_MULTIPLE several threads may call at once
 * @return 0
 */
int ARMCI_Init_thread(int level);

/**
 * Starts ARMCI among the processes of one communicator. Collective over `comm`, after MPI_Init. These processes are
 * ARMCI's processes, numbered as in `comm`. Other processes may start ARMCI among themselves. `comm` has no effect if
 * ARMCI or OpenSHMEM has been started before.
 *
 * @param[in] level  as for MPI_Init_thread
 * @param[in] comm   the communicator, which must not be freed before ARMCI_Finalize
 * @return 0; -1 outside of MPI_Init and MPI_Finalize
 */
int ARMCI_Init_thread_comm(int level, WTL_MPI_COMM comm);

/**
 * Does the same as ARMCI_Init_thread_comm for one thread, with the result that Global Arrays expects.
 *
 * @param[in] comm  the communicator, which must not be freed before ARMCI_Finalize
 * @return 1 on success; 0 outside of MPI_Init and MPI_Finalize
 */
int ARMCI_Init_mpi_comm(WTL_MPI_COMM comm);

/**
 * Is ARMCI started in this process? May be called at any time.
 *
 * @return 1 between ARMCI_Init and the last ARMCI_Finalize, else 0
 */
int ARMCI_Initialized(void);

/**
 * Ends ARMCI when it has been called as often as ARMCI_Init. Collective. Completes all operations. Does nothing if
 * ARMCI
 * is not started.
 *
 * @return 0
 */
int ARMCI_Finalize(void);

/** Does nothing, because no resource of this library outlives the processes. Not collective. */
void ARMCI_Cleanup(void);

/**
 * Prints a message and ends the whole job. Does not return.
 *
 * @param[in] msg   the message; may be NULL
 * @param[in] code  exit status of the job, of which the low 8 bits count; 1 if these are 0
 */
void ARMCI_Error(const char *msg, int code);

/* --- Memory --- */

/**
 * Allocates global memory on all processes. Collective. If one process has no space, the call fails on all. Blocks are
 * aligned to at least 64 bytes.
 *
 * @param[out] ptrs   array with one element for each process; ptrs[i] receives the address of process i's block, or
 *                    NULL
 * @param[in]  bytes  size of this process's block, 0 or more; may differ between processes
 * @return 0; another value if the memory was not sufficient (WATTLE_GLOBAL_SIZE)
 */
int ARMCI_Malloc(void **ptrs, armci_size_t bytes);

/**
 * Frees memory of ARMCI_Malloc. Collective. Waits until all operations of all processes are complete.
 *
 * @param[in] ptr  this process's own block, or NULL if it has none
 * @return 0
 */
int ARMCI_Free(void *ptr);

/**
 * Allocates memory of this process alone. Not collective.
 *
 * @param[in] bytes  size, 0 or more
 * @return the memory, which the program owns until ARMCI_Free_local; NULL if there is no space
 */
void *ARMCI_Malloc_local(armci_size_t bytes);

/**
 * Frees memory of ARMCI_Malloc_local. Memory of ARMCI_Malloc ends the job.
 *
 * @param[in] ptr  the memory; NULL has no effect
 * @return 0
 */
int ARMCI_Free_local(void *ptr);

/**
 * Allocates global memory on the members of a group. Collective over the group.
 *
 * @param[out] ptrs   array with one element for each member; ptrs[i] receives the address of member i's block, or NULL
 * @param[in]  bytes  size of this process's block, 0 or more
 * @param[in]  group  the group, of which the caller is a member
 * @return 0; another value if the memory was not sufficient
 */
int ARMCI_Malloc_group(void **ptrs, armci_size_t bytes, ARMCI_Group *group);

/**
 * Frees memory of ARMCI_Malloc_group. Collective over the group.
 *
 * @param[in] ptr    this process's own block, or NULL if it has none
 * @param[in] group  the group that allocated it
 * @return 0
 */
int ARMCI_Free_group(void *ptr, ARMCI_Group *group);

/**
 * Does the same as ARMCI_Malloc. There is one kind of memory.
 *
 * @param[out] ptrs    as for ARMCI_Malloc
 * @param[in]  bytes   as for ARMCI_Malloc
 * @param[in]  device  not used
 * @return as ARMCI_Malloc
 */
int ARMCI_Malloc_memdev(void **ptrs, armci_size_t bytes, const char *device);

/**
 * Does the same as ARMCI_Malloc_group. There is one kind of memory.
 *
 * @param[out] ptrs    as for ARMCI_Malloc_group
 * @param[in]  bytes   as for ARMCI_Malloc_group
 * @param[in]  group   as for ARMCI_Malloc_group
 * @param[in]  device  not used
 * @return as ARMCI_Malloc_group
 */
int ARMCI_Malloc_group_memdev(void **ptrs, armci_size_t bytes, ARMCI_Group *group, const char *device);

/**
 * Frees memory of ARMCI_Malloc_memdev, as ARMCI_Free does.
 *
 * @param[in] ptr  as for ARMCI_Free
 * @return 0
 */
int ARMCI_Free_memdev(void *ptr);

/**
 * Allocates memory that other processes may access. Not collective. The program sends *info to the others. The job ends
 * if there is no space.
 *
 * @param[in]  bytes  size; 0 gives addresses that are NULL
 * @param[out] info   receives the description; this process owns the memory until ARMCI_Memctl
 * @param[in]  flag   not used
 */
void ARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flag);

/**
 * Returns an address in memory of ARMCI_Memget.
 *
 * @param[in] info    description of the memory
 * @param[in] offset  bytes from its begin
 * @return the address; NULL for memory of 0 bytes
 */
void *ARMCI_Memat(armci_meminfo_t *info, long offset);

/**
 * Ends the use of an address of ARMCI_Memat. Does nothing in this library.
 *
 * @param[in] info    description of the memory
 * @param[in] offset  bytes from its begin
 */
void ARMCI_Memdt(armci_meminfo_t *info, long offset);

/**
 * Ends the use of memory of ARMCI_Memget. Frees the memory if this process owns it.
 *
 * @param[in,out] info  description of the memory, whose addresses become NULL
 */
void ARMCI_Memctl(armci_meminfo_t *info);

/**
 * Begins direct loads and stores of this process to its own global memory. A memory fence in this library.
 *
 * @param[in] ptr  not used
 */
void ARMCI_Access_begin(void *ptr);

/**
 * Ends direct loads and stores of this process to its own global memory. A memory fence in this library.
 *
 * @param[in] ptr  not used
 */
void ARMCI_Access_end(void *ptr);

/**
 * Is global memory shared by the processes of a node?
 *
 * @return 1
 */
int ARMCI_Uses_shm(void);

/**
 * Is global memory shared by the processes of a node?
 *
 * @param[in] group  not used
 * @return 1
 */
int ARMCI_Uses_shm_grp(ARMCI_Group *group);

/**
 * Does nothing. WATTLE_GLOBAL_SIZE is the limit of global memory.
 *
 * @param[in] bytes  not used
 */
void ARMCI_Set_shm_limit(unsigned long bytes);

/* --- Contiguous transfers --- */

/**
 * Puts bytes into the memory of a process.
 *
 * @param[in]  src    bytes in memory of this process; may be reused on return
 * @param[out] dst    address in global memory of `proc`, or any memory of this process if it is `proc`
 * @param[in]  bytes  number of bytes, 0 or more
 * @param[in]  proc   target process
 * @return 0
 */
int ARMCI_Put(void *src, void *dst, int bytes, int proc);

/**
 * Gets bytes from the memory of a process. They are in `dst` on return.
 *
 * @param[in]  src    address in global memory of `proc`, or any memory of this process if it is `proc`
 * @param[out] dst    memory of this process
 * @param[in]  bytes  number of bytes, 0 or more
 * @param[in]  proc   process that has the source
 * @return 0
 */
int ARMCI_Get(void *src, void *dst, int bytes, int proc);

/**
 * Accumulates: dst += scale * src for each element. A product is rounded before it is added.
 *
 * @param[in]     datatype  type of the elements (enum ARMCI_Acc_e)
 * @param[in]     scale     the factor, one element of that type
 * @param[in]     src       elements in memory of this process; may be reused on return
 * @param[in,out] dst       address in global memory of `proc`, or any memory of this process if it is `proc`
 * @param[in]     bytes     number of bytes, a multiple of an element's size, 0 or more
 * @param[in]     proc      target process
 * @return 0
 */
int ARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc);

/**
 * Puts bytes and then sets a flag of the same process. A process that sees the flag sees the bytes, too.
 *
 * @param[in]  src    as for ARMCI_Put
 * @param[out] dst    as for ARMCI_Put
 * @param[in]  bytes  as for ARMCI_Put
 * @param[out] flag   the flag, in global memory of `proc`
 * @param[in]  value  new value of the flag
 * @param[in]  proc   target process
 * @return 0
 */
int ARMCI_Put_flag(void *src, void *dst, int bytes, int *flag, int value, int proc);

/**
 * Copies bytes within this process. The ranges may overlap.
 *
 * @param[in]  src    the source
 * @param[out] dst    the target
 * @param[in]  bytes  number of bytes, 0 or more
 */
void ARMCI_Copy(void *src, void *dst, int bytes);

/**
 * Puts one int.
 *
 * @param[in]  src   the value
 * @param[out] dst   address in global memory of `proc`
 * @param[in]  proc  target process
 * @return 0
 */
int ARMCI_PutValueInt(int src, void *dst, int proc);

/** @copydoc ARMCI_PutValueInt */
int ARMCI_PutValueLong(long src, void *dst, int proc);

/** @copydoc ARMCI_PutValueInt */
int ARMCI_PutValueFloat(float src, void *dst, int proc);

/** @copydoc ARMCI_PutValueInt */
int ARMCI_PutValueDouble(double src, void *dst, int proc);

/**
 * Gets one value.
 *
 * @param[in] src   address in global memory of `proc`
 * @param[in] proc  process that has the value
 * @return the value
 */
int ARMCI_GetValueInt(void *src, int proc);

/** @copydoc ARMCI_GetValueInt */
long ARMCI_GetValueLong(void *src, int proc);

/** @copydoc ARMCI_GetValueInt */
float ARMCI_GetValueFloat(void *src, int proc);

/** @copydoc ARMCI_GetValueInt */
double ARMCI_GetValueDouble(void *src, int proc);

/* --- Strided transfers and lists of blocks --- */

/**
 * Puts a strided patch: blocks of count[0] bytes at regular steps.
 *
 * @code
 *   int stride[1] = {columns * sizeof(double)}, count[2] = {4 * sizeof(double), 3};
 *   ARMCI_PutS(src, stride, dst, stride, count, 1, proc);   // 3 rows of 4 doubles
 * @endcode
 *
 * @param[in]  src         first block in memory of this process; all blocks may be reused on return
 * @param[in]  src_stride  `levels` strides of the source in bytes
 * @param[out] dst         first block in global memory of `proc`
 * @param[in]  dst_stride  `levels` strides of the target in bytes
 * @param[in]  count       `levels` + 1 counts, 0 or more: bytes of a block, then blocks at each level
 * @param[in]  levels      number of stride levels, 0 to ARMCI_MAX_STRIDE_LEVEL
 * @param[in]  proc        target process
 * @return 0
 */
int ARMCI_PutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc);

/**
 * Gets a strided patch. It is in `dst` on return.
 *
 * @param[in]  src         first block in global memory of `proc`
 * @param[in]  src_stride  `levels` strides of the source in bytes
 * @param[out] dst         first block in memory of this process
 * @param[in]  dst_stride  `levels` strides of the target in bytes
 * @param[in]  count       as for ARMCI_PutS
 * @param[in]  levels      as for ARMCI_PutS
 * @param[in]  proc        process that has the source
 * @return 0
 */
int ARMCI_GetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc);

/**
 * Accumulates a strided patch: dst += scale * src for each element.
 *
 * @param[in]     datatype    as for ARMCI_Acc
 * @param[in]     scale       as for ARMCI_Acc
 * @param[in]     src         as for ARMCI_PutS
 * @param[in]     src_stride  as for ARMCI_PutS
 * @param[in,out] dst         as for ARMCI_PutS
 * @param[in]     dst_stride  as for ARMCI_PutS
 * @param[in]     count       as for ARMCI_PutS; count[0] is a multiple of an element's size
 * @param[in]     levels      as for ARMCI_PutS
 * @param[in]     proc        target process
 * @return 0
 */
int ARMCI_AccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
               int levels, int proc);

/**
 * Puts a strided patch and then sets a flag of the same process.
 *
 * @param[in]  src         as for ARMCI_PutS
 * @param[in]  src_stride  as for ARMCI_PutS
 * @param[out] dst         as for ARMCI_PutS
 * @param[in]  dst_stride  as for ARMCI_PutS
 * @param[in]  count       as for ARMCI_PutS
 * @param[in]  levels      as for ARMCI_PutS
 * @param[out] flag        as for ARMCI_Put_flag
 * @param[in]  value       as for ARMCI_Put_flag
 * @param[in]  proc        target process
 * @return 0
 */
int ARMCI_PutS_flag(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int *flag,
                    int value, int proc);

/** @copydoc ARMCI_PutS_flag */
int ARMCI_PutS_flag_dir(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int *flag,
                        int value, int proc);

/**
 * Puts lists of blocks. The targets are in global memory of `proc`, the sources in memory of this process.
 *
 * @param[in] iov   the lists; all sources may be reused on return
 * @param[in] len   number of lists, 0 or more
 * @param[in] proc  target process
 * @return 0
 */
int ARMCI_PutV(armci_giov_t *iov, int len, int proc);

/**
 * Gets lists of blocks. The sources are in global memory of `proc`, the targets in memory of this process.
 *
 * @param[in] iov   the lists; the targets are filled on return
 * @param[in] len   number of lists, 0 or more
 * @param[in] proc  process that has the sources
 * @return 0
 */
int ARMCI_GetV(armci_giov_t *iov, int len, int proc);

/**
 * Accumulates lists of blocks: target += scale * source for each element.
 *
 * @param[in] datatype  as for ARMCI_Acc
 * @param[in] scale     as for ARMCI_Acc
 * @param[in] iov       the lists, as for ARMCI_PutV; the bytes of a block are a multiple of an element's size
 * @param[in] len       number of lists, 0 or more
 * @param[in] proc      target process
 * @return 0
 */
int ARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc);

/**
 * Packs a strided patch of this process into a buffer.
 *
 * @param[in]  ptr     first block of the patch
 * @param[in]  levels  as for ARMCI_PutS
 * @param[in]  stride  `levels` strides in bytes
 * @param[in]  count   as for ARMCI_PutS
 * @param[out] buf     receives the blocks one after the other
 */
void armci_write_strided(void *ptr, int levels, int stride[], int count[], char *buf);

/**
 * Unpacks a buffer into a strided patch of this process.
 *
 * @param[out] ptr     first block of the patch
 * @param[in]  levels  as for ARMCI_PutS
 * @param[in]  stride  `levels` strides in bytes
 * @param[in]  count   as for ARMCI_PutS
 * @param[in]  buf     has the blocks one after the other
 */
void armci_read_strided(void *ptr, int levels, int stride[], int count[], char *buf);

/*
 * --- Non-blocking transfers ---
 *
 * They return at once. The memory of this process is in use until ARMCI_Wait returns for the handle. If the handle is
 * NULL, it is in use until ARMCI_WaitAll or a fence returns. At most 65,536 handles may be pending.
 */

/**
 * Initializes a handle. May be called before ARMCI_Init.
 *
 * @param[out] hdl  the handle; NULL has no effect
 */
void ARMCI_INIT_HANDLE(armci_hdl_t *hdl);

/**
 * Lets a handle collect several operations, for all of which ARMCI_Wait waits.
 *
 * @param[in,out] hdl  the handle
 */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *hdl);

/**
 * Ends the collection of operations. Operations that have begun stay with the handle.
 *
 * @param[in,out] hdl  the handle; NULL has no effect
 */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *hdl);

/**
 * Begins a put.
 *
 * @param[in]     src    as for ARMCI_Put, but in use until the operation is complete
 * @param[out]    dst    as for ARMCI_Put
 * @param[in]     bytes  as for ARMCI_Put
 * @param[in]     proc   target process
 * @param[in,out] hdl    handle to wait for, or NULL; the program owns it
 * @return 0
 */
int ARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/**
 * Begins a get.
 *
 * @param[in]     src    as for ARMCI_Get
 * @param[out]    dst    as for ARMCI_Get, filled when the operation is complete
 * @param[in]     bytes  as for ARMCI_Get
 * @param[in]     proc   process that has the source
 * @param[in,out] hdl    handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/**
 * Begins an accumulate.
 *
 * @param[in]     datatype  as for ARMCI_Acc
 * @param[in]     scale     as for ARMCI_Acc
 * @param[in]     src       as for ARMCI_Acc, but in use until the operation is complete
 * @param[in,out] dst       as for ARMCI_Acc
 * @param[in]     bytes     as for ARMCI_Acc
 * @param[in]     proc      target process
 * @param[in,out] hdl       handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl);

/**
 * Begins a strided put.
 *
 * @param[in]     src         as for ARMCI_PutS, but in use until the operation is complete
 * @param[in]     src_stride  as for ARMCI_PutS
 * @param[out]    dst         as for ARMCI_PutS
 * @param[in]     dst_stride  as for ARMCI_PutS
 * @param[in]     count       as for ARMCI_PutS
 * @param[in]     levels      as for ARMCI_PutS
 * @param[in]     proc        target process
 * @param[in,out] hdl         handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbPutS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc,
                 armci_hdl_t *hdl);

/**
 * Begins a strided get.
 *
 * @param[in]     src         as for ARMCI_GetS
 * @param[in]     src_stride  as for ARMCI_GetS
 * @param[out]    dst         as for ARMCI_GetS, filled when the operation is complete
 * @param[in]     dst_stride  as for ARMCI_GetS
 * @param[in]     count       as for ARMCI_PutS
 * @param[in]     levels      as for ARMCI_PutS
 * @param[in]     proc        process that has the source
 * @param[in,out] hdl         handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbGetS(void *src, int src_stride[], void *dst, int dst_stride[], int count[], int levels, int proc,
                 armci_hdl_t *hdl);

/**
 * Begins a strided accumulate.
 *
 * @param[in]     datatype    as for ARMCI_Acc
 * @param[in]     scale       as for ARMCI_Acc
 * @param[in]     src         as for ARMCI_AccS, but in use until the operation is complete
 * @param[in]     src_stride  as for ARMCI_PutS
 * @param[in,out] dst         as for ARMCI_AccS
 * @param[in]     dst_stride  as for ARMCI_PutS
 * @param[in]     count       as for ARMCI_AccS
 * @param[in]     levels      as for ARMCI_PutS
 * @param[in]     proc        target process
 * @param[in,out] hdl         handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbAccS(int datatype, void *scale, void *src, int src_stride[], void *dst, int dst_stride[], int count[],
                 int levels, int proc, armci_hdl_t *hdl);

/**
 * Begins a put of lists of blocks.
 *
 * @param[in]     iov   as for ARMCI_PutV; the blocks are in use until the operation is complete, the lists until return
 * @param[in]     len   number of lists, 0 or more
 * @param[in]     proc  target process
 * @param[in,out] hdl   handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbPutV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);

/**
 * Begins a get of lists of blocks.
 *
 * @param[in]     iov   as for ARMCI_GetV; the targets are filled when the operation is complete
 * @param[in]     len   number of lists, 0 or more
 * @param[in]     proc  process that has the sources
 * @param[in,out] hdl   handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbGetV(armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);

/**
 * Begins an accumulate of lists of blocks.
 *
 * @param[in]     datatype  as for ARMCI_Acc
 * @param[in]     scale     as for ARMCI_Acc
 * @param[in]     iov       as for ARMCI_AccV; the blocks are in use until the operation is complete
 * @param[in]     len       number of lists, 0 or more
 * @param[in]     proc      target process
 * @param[in,out] hdl       handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int len, int proc, armci_hdl_t *hdl);

/**
 * Begins a put of one value.
 *
 * @param[in]     src   the value
 * @param[out]    dst   address in global memory of `proc`
 * @param[in]     proc  target process
 * @param[in,out] hdl   handle to wait for, or NULL
 * @return 0
 */
int ARMCI_NbPutValueInt(int src, void *dst, int proc, armci_hdl_t *hdl);

/** @copydoc ARMCI_NbPutValueInt */
int ARMCI_NbPutValueLong(long src, void *dst, int proc, armci_hdl_t *hdl);

/** @copydoc ARMCI_NbPutValueInt */
int ARMCI_NbPutValueFloat(float src, void *dst, int proc, armci_hdl_t *hdl);

/** @copydoc ARMCI_NbPutValueInt */
int ARMCI_NbPutValueDouble(double src, void *dst, int proc, armci_hdl_t *hdl);

/**
 * Waits until the operations of a handle are complete on this side: the memory of this process may be reused, and gets
 * have their data.
 *
 * @param[in,out] hdl  the handle, which may be used again; NULL: all non-blocking operations of this process
 * @return 0
 */
int ARMCI_Wait(armci_hdl_t *hdl);

/**
 * Checks without waiting whether the operations of a handle are complete on this side. Makes progress.
 *
 * @param[in,out] hdl  the handle
 * @return 0 if they are complete, else 1
 */
int ARMCI_Test(armci_hdl_t *hdl);

/**
 * Waits until all non-blocking operations to a process are complete on this side.
 *
 * @param[in] proc  the process
 * @return 0
 */
int ARMCI_WaitProc(int proc);

/**
 * Waits until all non-blocking operations of this process are complete on this side.
 *
 * @return 0
 */
int ARMCI_WaitAll(void);

/* --- Completion and synchronization --- */

/**
 * Waits until all operations of this process on the memory of a process are complete there.
 *
 * @param[in] proc  the process
 */
void ARMCI_Fence(int proc);

/** Waits until all operations of this process are complete at their targets. */
void ARMCI_AllFence(void);

/**
 * Waits until all operations of this process on the memory of a group's members are complete there.
 *
 * @param[in] group  the group
 */
void ARMCI_GroupFence(ARMCI_Group *group);

/** Waits until all processes have called it and all their operations are complete. Collective. */
void ARMCI_Barrier(void);

/**
 * Reads and modifies a value atomically. Fetch and add: *ploc = *prem and *prem += value. Swap: exchanges *ploc and
 * *prem. The result is in *ploc on return.
 *
 * @param[in]     op     the operation (enum ARMCI_Rmw_e), for int or with _LONG for long
 * @param[in,out] ploc   the old value in memory of this process; for a swap first the new value
 * @param[in,out] prem   the value in global memory of `proc`, aligned to its size
 * @param[in]     value  the addend; not used for a swap
 * @param[in]     proc   target process
 * @return 0
 */
int ARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc);

/**
 * Creates mutexes on each process. Collective. A job has one set at a time.
 *
 * @param[in] count  number of mutexes of this process, 0 or more
 * @return 0
 */
int ARMCI_Create_mutexes(int count);

/**
 * Destroys the mutexes of ARMCI_Create_mutexes. Collective.
 *
 * @return 0
 */
int ARMCI_Destroy_mutexes(void);

/**
 * Locks a mutex. Waits until it is free, and sleeps after a while. A process that holds the mutex must not lock it
 * again,
 * not even from another thread.
 *
 * @param[in] mutex  number of the mutex, 0 to the count of `proc` minus 1
 * @param[in] proc   process that has the mutex
 */
void ARMCI_Lock(int mutex, int proc);

/**
 * Unlocks a mutex that this process holds.
 *
 * @param[in] mutex  number of the mutex
 * @param[in] proc   process that has the mutex
 */
void ARMCI_Unlock(int mutex, int proc);

/**
 * Notifies a process when all operations of this process on its memory are complete.
 *
 * @param[in] proc  process to notify
 * @return number of notifications that this process has sent to `proc`, this one included
 */
int armci_notify(int proc);

/**
 * Waits for the next notification from a process.
 *
 * @param[in]  proc   process that notifies
 * @param[out] times  receives the result, too; may be NULL
 * @return number of notifications received from `proc`, this one included
 */
int armci_notify_wait(int proc, int *times);

/* --- Groups --- */

/**
 * Creates a group. Its members call it; other processes may call it and get a handle without a group, for which
 * ARMCI_Group_rank gives -1. Collective over the members.
 *
 * @param[in]  n      number of members, 0 to the number of processes of the default group
 * @param[in]  pids   the members in their order, by their numbers in the default group, each once
 * @param[out] group  receives the handle; the program owns it until ARMCI_Group_free
 */
void ARMCI_Group_create(int n, int *pids, ARMCI_Group *group);

/**
 * Creates a group of members of another group, as ARMCI_Group_create does.
 *
 * @param[in]  n       number of members, 0 to the number of processes of the parent
 * @param[in]  pids    the members in their order, by their numbers in the parent, each once
 * @param[out] group   receives the handle; the program owns it until ARMCI_Group_free
 * @param[in]  parent  the other group
 */
void ARMCI_Group_create_child(int n, int *pids, ARMCI_Group *group, ARMCI_Group *parent);

/**
 * Frees a group. All copies of the handle become invalid. Each member calls it; the group of all processes stays.
 *
 * @param[in,out] group  the handle
 */
void ARMCI_Group_free(ARMCI_Group *group);

/**
 * Gets the number of this process in a group.
 *
 * @param[in]  group  the group
 * @param[out] rank   receives the number, or -1 if this process is no member
 * @return 0; 1 if this process is no member
 */
int ARMCI_Group_rank(ARMCI_Group *group, int *rank);

/**
 * Gets the number of members.
 *
 * @param[in]  group  the group
 * @param[out] size   receives the number; 0 if this process is no member
 */
void ARMCI_Group_size(ARMCI_Group *group, int *size);

/**
 * Sets the default group of this process, the parent of ARMCI_Group_create.
 *
 * @param[in] group  the group
 */
void ARMCI_Group_set_default(ARMCI_Group *group);

/**
 * Gets the default group. It is the group of all processes at first.
 *
 * @param[out] group  receives a handle, which is not to be freed
 */
void ARMCI_Group_get_default(ARMCI_Group *group);

/**
 * Gets the group of all processes.
 *
 * @param[out] group  receives a handle, which is not to be freed
 */
void ARMCI_Group_get_world(ARMCI_Group *group);

/**
 * Translates a number in a group to the number in the job.
 *
 * @param[in] group  the group
 * @param[in] rank   number in the group, 0 to its size minus 1
 * @return number in the job
 */
int ARMCI_Absolute_id(ARMCI_Group *group, int rank);

/* --- Domains: a domain is a sequence of processes with consecutive numbers on one node --- */

/** The kinds of domains. */
enum armci_domain_e {
  ARMCI_DOMAIN_SMP /**< processes that share memory */
};
typedef int armci_domain_t; /**< a value of enum armci_domain_e */

/**
 * Returns the number of processes of a domain.
 *
 * @param[in] domain  ARMCI_DOMAIN_SMP
 * @param[in] id      number of the domain, or -1 for that of this process
 * @return number of processes
 */
int armci_domain_nprocs(armci_domain_t domain, int id);

/**
 * Returns the domain of a process.
 *
 * @param[in] domain  ARMCI_DOMAIN_SMP
 * @param[in] proc    the process
 * @return number of the domain, from 0
 */
int armci_domain_id(armci_domain_t domain, int proc);

/**
 * Returns a process of a domain.
 *
 * @param[in] domain  ARMCI_DOMAIN_SMP
 * @param[in] id      number of the domain
 * @param[in] i       number of the process within the domain, from 0
 * @return number of the process in the job
 */
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int i);

/**
 * Returns the domain of this process.
 *
 * @param[in] domain  ARMCI_DOMAIN_SMP
 * @return number of the domain, from 0
 */
int armci_domain_my_id(armci_domain_t domain);

/**
 * Returns the number of domains.
 *
 * @param[in] domain  ARMCI_DOMAIN_SMP
 * @return number of domains
 */
int armci_domain_count(armci_domain_t domain);

/**
 * Is a process in the domain of this process?
 *
 * @param[in] domain  ARMCI_DOMAIN_SMP
 * @param[in] proc    the process
 * @return 1 if it is, else 0
 */
int armci_domain_same_id(armci_domain_t domain, int proc);

/**
 * Does a process run on the node of this process?
 *
 * @param[in] proc  the process
 * @return 1 if it does, else 0
 */
int ARMCI_Same_node(int proc);

/** @copydoc ARMCI_Same_node */
int armci_sameclusnode(int proc);

/* --- Old names --- */

typedef armci_hdl_t armci_req_t; /**< old name of armci_hdl_t */
/** Old name of a copy within this process. */
#define ARMCI_Put1(src, dst, bytes, proc) (ARMCI_Copy(src, dst, bytes), 0)
/** Old name of ARMCI_Error. */
#define armci_die(msg, code) ARMCI_Error(msg, code)
/** Old name of ARMCI_Error; the third argument is not used. */
#define armci_die2(msg, code, more) ((void)(more), ARMCI_Error(msg, code))

/*
 * Names for profiling tools. A tool defines the ARMCI_ name and calls the PARMCI_ name, which does the same with the
 * same
 * arguments and results.
 */

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
