/*
 * armci_front.h - what ARMCI's calls share: their beginning and end, the checks, the operations, and the state of a
 * process that uses ARMCI.
 *
 * A call is counted in the profile by its number in calls.def. The checks are on unless WATTLE_CHECK=off; what they
 * find ends the job.
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
#include "profile/caller.h"

enum armci_call {
  WTL_BEFORE_ARMCI_CALLS = WTL_FRONT_ARMCI * WTL_CALLS_A_FRONT - 1,
#define X(name, kind, direction) WTL_CALL_##name,
#include "armci/calls.def"
#undef X
};

/* What a handle stands for while something is under way (handles.c). */
typedef struct armci_requests armci_requests;
typedef struct armci_mutexes armci_mutexes;
typedef struct armci_groups armci_groups; /* what their handles stand for (groups.c) */

typedef struct armci_state {
  int starts;             /* ARMCI_Init less ARMCI_Finalize, */
  bool begun_by_messages; /* ... one of them for armci_msg_init */
  wtl_group *world, *node, *masters;
  wtl_group *standard; /* the default group */
  armci_groups *groups;
  ARMCI_Group world_handle, standard_handle; /* without, and with, the program's communicator */
  armci_requests *requests;                  /* NULL: all processes are on this node, and nothing is ever under way */
  armci_mutexes *mutexes;                    /* of ARMCI_Create_mutexes; NULL: there are none */
  long *notified;                            /* global: notified[p] counts what process p told this one */
  long **notify;                             /* where process p counts */
  long *told, *heard;                        /* by process: so far */
  int *domain_of;                            /* by process (groups.c) */
  long *next_value;                          /* symmetric: process 0's is NXTVAL's */
  long tcgmsg_sent, tcgmsg_received;
  bool tcgmsg_traces;
  wtl_group *ending; /* all processes, in meetings of their own at the end (early_exit.c) */
  wtl_overdue overdue;
  _Atomic uint64_t
      *left; /* symmetric, of each node's first process: by process, 1: it has ended without ARMCI_Finalize */
  _Atomic bool *knows_left; /* by process: this one has seen so in a wait before */
} armci_state;

static inline armci_state *armci_of(const wtl_pe *self)
{
  return self->front;
}

/* life.c. `call`: the name of the routine that the program called. */
void armci_refuse_unstarted(const char *call) __attribute__((noreturn, cold));
void armci_refuse_uninitialised(const char *call) __attribute__((noreturn, cold));
void armci_refuse_proc(const char *call, int proc) __attribute__((noreturn, cold));
void armci_refuse_place(const wtl_frame *f, const char *name, const void *p, size_t n, int proc)
    __attribute__((noreturn, cold));
void armci_refuse_value(const char *call, const char *name, long value, const char *allowed)
    __attribute__((noreturn, cold));
void armci_refuse_null(const char *call, const char *name) __attribute__((noreturn, cold));

#define ARMCI_ENTER(call, bytes) ARMCI_ENTER_AS(call, call, bytes)

/* A routine that the profile counts as one with others like it: messages have its own name. */
#define ARMCI_ENTER_AS(routine, call, bytes)                                                                           \
  wtl_frame f = armci_enter(WTL_CALL_##call, #routine, (uintptr_t)__builtin_return_address(0), (uint64_t)(bytes))

static inline __attribute__((always_inline)) wtl_frame armci_enter(uint32_t call, const char *name, uintptr_t from,
                                                                   uint64_t bytes)
{
  if (WTL_UNLIKELY(!wtl_self)) armci_refuse_unstarted(name);
  wtl_frame f = wtl_enter(call, from, bytes);
  f.name = name;
  if (WTL_UNLIKELY(!f.self->front)) armci_refuse_uninitialised(name);
  return f;
}

static inline __attribute__((always_inline)) int armci_leave(wtl_frame *f)
{
  wtl_leave(f);
  return 0;
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

/* `n` bytes of this process, or none. */
static inline __attribute__((always_inline)) void armci_check_given(const wtl_frame *f, const char *name, const void *p,
                                                                    size_t n)
{
  if (WTL_UNLIKELY(!p && n && f->self->check)) armci_refuse_null(f->name, name);
}

/* With SHMEM_DEBUG: do they lie within one block that the process has? Of this process, any other memory will do. */
void armci_check_block(const wtl_frame *f, const char *name, const void *p, size_t n, int proc) __attribute__((cold));

/* `n` bytes at `p` of process `proc`, or none. Its own may be any memory. */
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

/* What was begun and not waited for: bytes, and of what kind most of them are. */
typedef struct armci_load {
  uint64_t bytes;
  enum wtl_transfer_kind kind;
} armci_load;

/*
 * An operation, or several of one call. wtl_global_move calls armci_op_begin if the target is on another node; armci_end
 * waits for a call that blocks. armci_transfers.c has both.
 */
typedef struct armci_op {
  wtl_global_op global; /* first: `begin` finds the rest by it */
  armci_hdl_t *hdl;     /* of what does not block. NULL: ARMCI_WaitAll, or a fence, waits for it */
  uint64_t bytes;       /* of the whole call, and of which kind of transfer they are: for the governor of transfers */
  enum wtl_transfer_kind transfer_kind;
  wtl_request own;
  bool is_transfer; /* `transfer` says how it is waited for, as the settings have it (govern/transfers.h) */
  wtl_transfer transfer;
} armci_op;

/* How a call completes. */
typedef struct armci_mode {
  bool blocking;
  armci_hdl_t *hdl; /* NULL where it blocks, or where the program gave none */
} armci_mode;

#define ARMCI_BLOCKING ((armci_mode){.blocking = true})
#define ARMCI_NONBLOCKING(handle) ((armci_mode){.hdl = (handle)})

/* What an accumulate multiplies by: an element of the type. */
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

/* `bytes`: of the whole call. The transfer is strided, and an accumulate has no scale, unless the caller says so. */
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

/* handles.c. The request of a handle that something is begun with, and where its bytes are noted. `hdl` NULL: that of
 * all calls without a handle. */
wtl_request *armci_request_of(wtl_pe *self, armci_hdl_t *hdl, armci_load **load);
armci_requests *armci_requests_make(void);
void armci_requests_free(armci_requests *r);

/* All that is under way on this side. */
void armci_wait_all(wtl_pe *self, wtl_site *site);
void armci_transfer_awaited(wtl_pe *self, wtl_site *site, armci_load *load, wtl_request *r);

/* All that was done to the memory of `proc`, or with -1 of all, is done. */
void armci_fence(wtl_pe *self, wtl_site *site, int proc);

/* contiguous.c. Checked already. */
void armci_set_flag(const wtl_frame *f, int *flag, int value, int proc);

/* meeting.c: before a collective of the group, with SHMEM_DEBUG: do all make this call, and pass the same? All barriers
 * are one. */
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

/* groups.c. Ends the job where a handle names none. */
wtl_group *armci_group_of(const wtl_frame *f, const ARMCI_Group *group);
wtl_group *armci_member_group_of(const wtl_frame *f, const ARMCI_Group *group);

/* The group's members of this process's domain (SCOPE_NODE), or the first of each (SCOPE_MASTERS), as a group; NULL:
 * this process is none of them. armci_scope_end frees it, unless it is the group itself. */
wtl_group *armci_scope_of(const wtl_frame *f, wtl_group *g, int scope);
void armci_scope_end(wtl_group *g, wtl_group *scoped);
void armci_groups_start(const wtl_frame *f, armci_state *s);
void armci_groups_stop(armci_state *s);

/* communicators.c. The communicator of the MPI that the program uses for these PEs, in *comm; nothing where it uses
 * none. */
bool armci_comm_is_wanted(void);
void armci_comm_world(void *comm, size_t room);
void armci_comm_make(const int *pes, int n, void *comm, size_t room);
void armci_comm_free(void *comm);

/* Before the start: the job is to be the processes of `comm` alone; nothing changes where those are all, in MPI's order.
 * False: the program uses no MPI. */
bool armci_comm_confine(const WTL_MPI_COMM *comm);

/* What MPI says before the start and after the end: how many processes there are, and this one's number. False: the
 * program uses no MPI. */
bool armci_comm_place(int *me, int *n);

/* Has the program asked its MPI to let several threads call? */
bool armci_mpi_is_threaded(void);

/* early_exit.c: a process that ends, in good order, without ARMCI_Finalize. All processes meet at their ends, and nowhere
 * else meanwhile. */
void armci_exit_start(wtl_pe *self, armci_state *s);
void armci_exit_announce(wtl_pe *self, wtl_site *site);
void armci_exit_synchronize(wtl_pe *self, wtl_site *site);

/* mutexes.c */
void armci_mutexes_free(armci_mutexes *m);

/* The twin that profiling tools may replace. */
#define ARMCI_TWIN(result, name, ...)                                                                                  \
  __attribute__((visibility("default"), weak, alias("PARMCI_" #name))) result ARMCI_##name(__VA_ARGS__);

#endif
