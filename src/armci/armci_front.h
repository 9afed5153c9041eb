/*
 * armci_front.h - the parts that ARMCI's calls share: their beginning and end, the checks, the operations, and the
 * state of a process that uses ARMCI.
 *
 * DESIGN
 *
 * A call is counted in the profile by its number in calls.def. Then its arguments are checked, unless WATTLE_CHECK=off.
 * A wrong argument ends the job. A contiguous put or get within a node is one copy. All other transfers become an
 * armci_op, which global memory (global/global.h) moves. A blocking call waits for its operation in armci_end.
 * A non-blocking call counts it in the request of its handle (handles.c), where ARMCI_Wait finds it.
 *
 * A process that ends without ARMCI_Finalize could leave others waiting for ever; early_exit.c finds this.
 */
#ifndef WTL_ARMCI_ARMCI_FRONT_H
#define WTL_ARMCI_ARMCI_FRONT_H

#define WTL_ARMCI_WITHOUT_MPI
#pragma GCC visibility push(default)
#include "armci.h"
#pragma GCC visibility pop

#include "base/error.h"
#include "govern/transfers.h"
#include "global/accumulate.h"
#include "pgas/frame.h"
#include "global/global.h"
#include "global/group.h"
#include "profile/error_place.h"

enum armci_call {
  WTL_BEFORE_ARMCI_CALLS = WTL_FRONT_ARMCI * WTL_CALLS_A_FRONT - 1,
#define X(name, kind, direction) WTL_CALL_##name,
#include "armci/calls.def"
#undef X
};

/* The pending operations of handles (handles.c). */
typedef struct armci_requests armci_requests;
typedef struct armci_mutexes armci_mutexes;
typedef struct armci_groups armci_groups; /* the groups that handles name (groups.c) */

typedef struct armci_state {
  int starts;             /* ARMCI_Init less ARMCI_Finalize, ... */
  bool begun_by_messages; /* ... one of them for armci_msg_init */
  wtl_group *world, *node, *masters;
  wtl_group *standard; /* the default group */
  armci_groups *groups;
  ARMCI_Group world_handle, standard_handle; /* without, and with, the program's communicator */
  /* NULL: all processes are on this node, and no operation is ever pending. */
  armci_requests *requests;
  armci_mutexes *mutexes;                        /* of ARMCI_Create_mutexes; NULL: there are none */
  long *notified;                                /* global memory: notified[p] counts the notifications of process p */
  long **notify;                                 /* the address in which this process counts at process p */
  long *notifications_sent, *notifications_seen; /* by process: notifications sent and received so far */
  int *domain_of;                                /* by process (groups.c) */
  long *next_value;                              /* symmetric: the counter of NXTVAL is that of process 0 */
  long tcgmsg_sent, tcgmsg_received;
  bool tcgmsg_traces;
  wtl_group *ending; /* all processes, with a barrier of its own for the end (early_exit.c) */
  wtl_overdue overdue;
  /* Symmetric, in each node's first process. By process: 1 if it has ended without ARMCI_Finalize. */
  _Atomic uint64_t *left;
  _Atomic bool *left_seen; /* by process: this one has seen that in an earlier wait */
} armci_state;

static inline armci_state *armci_of(const wtl_pe *self)
{
  return self->front;
}

/* armci_life.c. `call`: the name of the routine that the program called. */
void armci_refuse_unstarted(const char *call) __attribute__((noreturn, cold));
void armci_refuse_uninitialised(const char *call) __attribute__((noreturn, cold));
void armci_refuse_proc(const char *call, int proc) __attribute__((noreturn, cold));
void armci_refuse_place(const wtl_frame *f, const char *name, const void *p, size_t n, int proc)
    __attribute__((noreturn, cold));
void armci_refuse_value(const char *call, const char *name, long value, const char *allowed)
    __attribute__((noreturn, cold));
void armci_refuse_null(const char *call, const char *name) __attribute__((noreturn, cold));

/* Declares the frame `f` of a routine, which is left at the end of the block. */
#define ARMCI_ENTER(call, bytes) ARMCI_ENTER_AS(call, call, bytes)

#define ARMCI_FRAME __attribute__((cleanup(wtl_leave))) wtl_frame

/* For a routine that the profile counts together with others. Messages have its own name. */
#define ARMCI_ENTER_AS(routine, call, bytes)                                                                           \
  ARMCI_FRAME f = armci_enter(WTL_CALL_##call, #routine, WTL_ORIGIN, (uint64_t)(bytes))

/* For a routine that moves bytes to or from process `proc`: `there` is its memory, `here` this process's. `puts`: it
 * reads that. */
#define ARMCI_ENTER_TO(call, bytes, proc, there, here, puts)                                                           \
  ARMCI_FRAME f =                                                                                                      \
      armci_enter_to(WTL_CALL_##call, #call, WTL_ORIGIN, (uint64_t)(bytes), (wtl_target){proc, there, here, puts, 0})

static inline __attribute__((always_inline)) wtl_frame armci_enter_to(uint32_t call, const char *name, wtl_origin from,
                                                                      uint64_t bytes, wtl_target to)
{
  if (WTL_UNLIKELY(!wtl_self)) armci_refuse_unstarted(name);
  wtl_frame f = wtl_enter_frame(call, from, bytes, to, false);
  f.name = name;
  if (WTL_UNLIKELY(!f.self->front)) armci_refuse_uninitialised(name);
  return f;
}

static inline __attribute__((always_inline)) wtl_frame armci_enter(uint32_t call, const char *name, wtl_origin from,
                                                                   uint64_t bytes)
{
  return armci_enter_to(call, name, from, bytes, WTL_NO_TARGET);
}

static inline __attribute__((always_inline)) void armci_check_proc(const wtl_frame *f, int proc)
{
  if (WTL_UNLIKELY(f->self->check && (unsigned)proc >= (unsigned)f->self->n)) armci_refuse_proc(f->name, proc);
}

static inline __attribute__((always_inline)) void armci_check_that(const wtl_frame *f, bool good, const char *name,
                                                                   long value, const char *allowed)
{
  if (WTL_UNLIKELY(f->self->check && !good)) armci_refuse_value(f->name, name, value, allowed);
}

/* Checks `n` bytes of this process. n may be 0. */
static inline __attribute__((always_inline)) void armci_check_given(const wtl_frame *f, const char *name, const void *p,
                                                                    size_t n)
{
  if (WTL_UNLIKELY(!p && n && f->self->check)) armci_refuse_null(f->name, name);
}

/* With SHMEM_DEBUG: checks that the bytes lie within one block of the process. For this process any other memory is
 * allowed, too. */
void armci_check_block(const wtl_frame *f, const char *name, const void *p, size_t n, int proc) __attribute__((cold));

/* Checks `n` bytes at `p` of process `proc`. n may be 0. For this process any memory is allowed. */
static inline __attribute__((always_inline)) void armci_check_place(const wtl_frame *f, const char *name, const void *p,
                                                                    size_t n, int proc)
{
  if (proc == f->self->me)
    armci_check_given(f, name, p, n);
  else if (WTL_UNLIKELY(f->self->check && n && !wtl_global_has(f->self, p, n, proc)))
    armci_refuse_place(f, name, p, n, proc);
  if (WTL_UNLIKELY(f->self->compares && n)) armci_check_block(f, name, p, n, proc);
}

static inline void armci_check_type(const wtl_frame *f, int datatype)
{
  armci_check_that(f, (unsigned)datatype < WTL_ACC_TYPES, "datatype", datatype, "ARMCI_ACC_INT to ARMCI_ACC_DCP");
}

/* Operations begun and not waited for: their bytes, and the kind of most of them. */
typedef struct armci_load {
  uint64_t bytes;
  enum wtl_transfer_kind kind;
} armci_load;

/*
 * One or several operations of one call. wtl_global_move calls armci_op_begin if the target is on another node. For a
 * blocking call armci_end waits. armci_transfers.c has both.
 */
typedef struct armci_op {
  wtl_global_op global; /* first: `begin` finds the other members by its address */
  armci_hdl_t *hdl;     /* of a non-blocking call; NULL: ARMCI_WaitAll or a fence waits for it */
  uint64_t bytes;       /* bytes of the whole call and their kind, for the governor of transfers */
  enum wtl_transfer_kind transfer_kind;
  wtl_request own;
  bool is_transfer; /* `transfer` holds how the call waits, by the settings (govern/transfers.h) */
  wtl_transfer transfer;
} armci_op;

/* How a call completes. */
typedef struct armci_mode {
  bool blocking;
  armci_hdl_t *hdl; /* NULL for a blocking call, or if the program passed none */
} armci_mode;

#define ARMCI_BLOCKING ((armci_mode){.blocking = true})
#define ARMCI_NONBLOCKING(handle) ((armci_mode){.hdl = (handle)})

/* The factor of an accumulate: an element of the type. */
typedef struct armci_scale {
  int datatype; /* checked */
  const void *scale;
} armci_scale;

static inline void armci_scale_by(armci_op *op, const armci_scale *by)
{
  op->global.type = (enum wtl_acc_type)by->datatype;
  op->global.scale = by->scale;
}

void armci_op_begin(wtl_global_op *op);
void armci_op_wait(armci_op *op);

/* Prepares an operation. `bytes`: of the whole call. The transfer is strided, and an accumulate has no scale, unless
 * the caller changes this. */
static inline void armci_op_make(armci_op *op, const wtl_frame *f, enum wtl_global_kind kind, int proc, armci_mode mode,
                                 uint64_t bytes)
{
  op->global = (wtl_global_op){
      .self = f->self, .site = f->site, .kind = kind, .pe = proc, .blocking = mode.blocking, .begin = armci_op_begin};
  op->hdl = mode.hdl;
  op->bytes = bytes;
  op->transfer_kind = WTL_STRIDED;
  op->is_transfer = false;
}

static inline void armci_end(armci_op *op)
{
  if (op->global.blocking && op->global.request) armci_op_wait(op);
}

/* handles.c. The request that counts the operations of a handle, and the place for their bytes. `hdl` NULL: those of
 * all calls without a handle. */
wtl_request *armci_request_of(wtl_pe *self, armci_hdl_t *hdl, armci_load **load);
armci_requests *armci_requests_make(void);
void armci_requests_free(armci_requests *r);

/* Waits until all operations are complete on this side. */
void armci_wait_all(wtl_pe *self, wtl_site *site);
void armci_transfer_awaited(wtl_pe *self, wtl_site *site, armci_load *load, wtl_request *r);

/* Completes all operations on the memory of `proc`, or of all processes (-1). */
void armci_fence(wtl_pe *self, wtl_site *site, int proc);

/* contiguous.c. The arguments have been checked. */
void armci_set_flag(const wtl_frame *f, int *flag, int value, int proc);

/* armci_collective_check.c: with SHMEM_DEBUG, checks before a collective that all members of the group make this
 * call with the same arguments. All barriers count as one call. */
void armci_compare_collective(const wtl_frame *f, wtl_group *g, bool is_barrier, size_t bytes, int root)
    __attribute__((cold));

static inline void armci_synchronize(const wtl_frame *f, wtl_group *g, size_t bytes, int root)
{
  if (WTL_UNLIKELY(f->self->compares) && g) armci_compare_collective(f, g, false, bytes, root);
}

static inline void armci_synchronize_at_barrier(const wtl_frame *f, wtl_group *g)
{
  if (WTL_UNLIKELY(f->self->compares)) armci_compare_collective(f, g, true, 0, 0);
}

/* groups.c. Both end the job if the handle names no group. */
wtl_group *armci_group_of(const wtl_frame *f, const ARMCI_Group *group);
wtl_group *armci_member_group_of(const wtl_frame *f, const ARMCI_Group *group);

/* Returns as a group the members in this process's domain (SCOPE_NODE), or the first member of each domain
 * (SCOPE_MASTERS). NULL: this process does not belong to it. armci_scope_end frees the result, unless it is the
 * group itself. */
wtl_group *armci_scope_of(const wtl_frame *f, wtl_group *g, int scope);
void armci_scope_end(wtl_group *g, wtl_group *scoped);
void armci_groups_start(const wtl_frame *f, armci_state *s);
void armci_groups_stop(armci_state *s);

/* communicators.c. Writes the communicator of the program's MPI for these PEs to *comm. Does nothing if the program
 * uses no MPI. */
bool armci_comm_is_wanted(void);
void armci_comm_world(void *comm, size_t bytes);
void armci_comm_make(const int *pes, int n, void *comm, size_t bytes);
void armci_comm_free(void *comm);

/* Before the start: limits the job to the processes of `comm`. If those are all in MPI's order, nothing changes.
 * False: the program uses no MPI. */
bool armci_comm_confine(const WTL_MPI_COMM *comm);

/* The number of processes and the number of this one according to MPI, before the start and after the end. False:
 * the program uses no MPI. */
bool armci_comm_place(int *me, int *n);

/* Whether the program's MPI runs with MPI_THREAD_MULTIPLE. */
bool armci_mpi_is_threaded(void);

/* early_exit.c: handles a process that ends normally, but without ARMCI_Finalize. All processes synchronize when
 * they end. */
void armci_exit_start(wtl_pe *self, armci_state *s);
void armci_exit_announce(wtl_pe *self, wtl_site *site);
void armci_exit_synchronize(wtl_pe *self, wtl_site *site);

/* mutexes.c */
void armci_mutexes_free(armci_mutexes *m);

/*
 * Defines the two forms of a transfer: ARMCI_Name, and ARMCI_NbName with a handle, which complete as `mode` says.
 * ENTER(call) enters the routine, and `action` moves the bytes.
 */
#define ARMCI_FORMS(name, ENTER, action, ...)                                                                          \
  ARMCI_FORM(name, ENTER, ARMCI_BLOCKING, action, __VA_ARGS__)                                                         \
  ARMCI_FORM(Nb##name, ENTER, ARMCI_NONBLOCKING(hdl), action, __VA_ARGS__, armci_hdl_t *hdl)
#define ARMCI_FORM(name, ENTER, how, action, ...)                                                                      \
  int PARMCI_##name(__VA_ARGS__)                                                                                       \
  {                                                                                                                    \
    const armci_mode mode = how;                                                                                       \
    ENTER(ARMCI_##name);                                                                                               \
    action;                                                                                                            \
    return 0;                                                                                                          \
  }                                                                                                                    \
  ARMCI_TWIN(int, name, __VA_ARGS__)

/* Defines the name ARMCI_*, which profiling tools may replace. */
#define ARMCI_TWIN(result, name, ...)                                                                                  \
  __attribute__((visibility("default"), weak, alias("PARMCI_" #name))) result ARMCI_##name(__VA_ARGS__);

#endif
