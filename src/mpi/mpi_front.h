/*
 * mpi_front.h - the code with which every generated MPI call begins and ends.
 *
 * DESIGN. This room is compiled once for each binary interface of MPI, because handles and constants differ:
 * libwattle-mpi-openmpi.so, -mpich.so and -abi.so (the standard interface of MPI 5, abi/mpi.h). preload.c loads the one
 * for the MPI of the process. It passes the program's calls on by wtl_mpi_functions. This room calls MPI only by its
 * PMPI_ names, which bind to the library that the process has loaded.
 *
 * No message is added to those of the program. Where the MPI shows that it is idle inside a blocking call, the call
 * stays unchanged (yield_hook.c). Elsewhere it becomes its non-blocking counterpart, followed by tests of that request
 * alone. Some counterparts fail or give other bits; such a call stays unchanged, too (calls.toml, column `unchanged`).
 * At MPI_Init and MPI_Finalize the processes of a node synchronize once, to split the node's joules.
 *
 * A call that MPI or this library makes inside a call is not the program's, and goes straight to MPI.
 */
#ifndef WTL_MPI_MPI_FRONT_H
#define WTL_MPI_MPI_FRONT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "govern/clocks.h"
#include "mpi_calls.h"
#include "node/arena.h"
#include "os/os.h"
#include "profile/profile.h"
#include "record/record.h"
#include "wait/door.h"

/* --- the MPI below --- */

/* Constants in a module for one MPI. The standard interface of MPI 5 may belong to either; it is asked once. */
#if defined(OPEN_MPI)
#define WTL_MPI_IS_OPEN_MPI true
#define WTL_MPI_IS_MPICH false
#elif defined(MPICH_VERSION)
#define WTL_MPI_IS_OPEN_MPI false
#define WTL_MPI_IS_MPICH true
#elif defined(WTL_MPI_ABI)
bool wtl_mpi_abi_is_mpich(void);
#define WTL_MPI_IS_OPEN_MPI (!wtl_mpi_abi_is_mpich())
#define WTL_MPI_IS_MPICH wtl_mpi_abi_is_mpich()
#else /* simulated programs */
#define WTL_MPI_IS_OPEN_MPI false
#define WTL_MPI_IS_MPICH false
#endif

/* --- a process of the program --- */

typedef struct wtl_mpi_rank {
  wtl_profile profile;
  wtl_door door;
  wtl_bell bell; /* no process rings it, but the door needs one */
  wtl_pace tests, polls, unchanged;
  wtl_record record;
  wtl_settings settings;
  _Atomic bool plain_waitall; /* MPI_Waitall stays unchanged (wtl_mpi_keep_waitall) */
  _Atomic bool abandoned;     /* the profile is written; the program ends without MPI_Finalize */
  bool shows_idle;            /* the MPI shows where it is idle (yield_hook.c) */
  bool keeps_calls;           /* blocking calls stay unchanged, because all processes' MPI does */
  bool is_partial;            /* processes of the node lack this library (mpi_members.c) */
  bool has_outsiders;         /* communicators may have processes of another MPI_COMM_WORLD */
  MPI_Comm node;              /* the processes of this node with this library, which made it */
  int n_local, slot;
  long pid;
  size_t ring_bytes;  /* of the shared memory for wake-ups (mpi_wakeup.c); 0: none */
  wtl_arena shared;   /* the node's votes on clocks; empty without a governor */
  wtl_clocks *clocks; /* NULL without a governor and without limits of packages */
} wtl_mpi_rank;

extern wtl_mpi_rank *wtl_mpi_self; /* NULL before MPI_Init, after MPI_Finalize, and in a forked child */

/* --- a thread of the process --- */

/* The state of the search for a loop of tests (test_loop.c). Zeroes: nothing is known. */
typedef struct wtl_mpi_test_loop {
  uint64_t mark;          /* hash of registers and stack at an earlier test */
  uint32_t tests;         /* since the hash was last equal to it */
  uint32_t times;         /* that it was equal again, at most 2 */
  uint32_t pause, unseen; /* tests of the last pause of the search; those still to come */
  uint32_t n_found;       /* tests of this loop that succeeded with another state than those before */
} wtl_mpi_test_loop;

struct wtl_mpi_frame;
typedef struct wtl_mpi_thread {
  const struct wtl_mpi_frame *inside; /* of the program's call in which the thread is; NULL: it is in none */
  bool is_unchanged;                  /* in an unchanged call, in which the MPI reports that it is idle */
  bool yields;                        /* in MPI's start or end, where an idle MPICH spins (ucx_progress.c) */
  wtl_test_result result;             /* of a test, as the MPI reports it (ucx_progress.c, yield_hook.c) */
  uint64_t entered;                   /* tick at which the unchanged call began, if there is a governor */
  wtl_site *site;                     /* of that call */
  uint8_t idle_reports;               /* idle reports of that call; each turn of its wait sets this back */
  uint64_t last_turn;                 /* tick of the last turn of its wait; before the first, of the wait's begin */
  wtl_test_wait call_wait;            /* the wait of that call */
  wtl_test_wait polling;              /* the wait that the program's own tests form */
  uint64_t polled;                    /* tick at which the last of these tests ended */
  wtl_mpi_test_loop loop;
  MPI_Comm translated;               /* the last communicator whose ranks were translated (world_ranks.c) ... */
  const struct wtl_mpi_ranks *ranks; /* ... and its ranks; NULL: none */
  uint32_t freed;                    /* communicators that had been freed by then */
} wtl_mpi_thread;

WTL_OS_THREAD_LOCAL(wtl_mpi_thread, wtl_mpi_of_thread, 1)
#define wtl_mpi_here (*wtl_mpi_of_thread_here())

/* --- a call --- */

typedef struct wtl_mpi_frame {
  wtl_site *site;
  uint64_t bytes, start, waited;
  bool timed;
  bool synchronizes; /* its processes wait for each other, and the governor or a timeline records it */
  bool of_all;       /* ... all of the program */
  bool entered;      /* ... and the governor knows */
  uint64_t arrived;  /* tick at which this process arrived */
  int awaited;       /* the rank in MPI_COMM_WORLD that it waits for; -1: not known */
  MPI_Comm comm;     /* its handler gets an error; MPI_COMM_NULL: MPI has called the handler */
  const void *self;  /* its own address, as long as the call lasts */
} wtl_mpi_frame;

extern const wtl_call_info wtl_mpi_calls[];

/* Ends the call that the thread is in, which will not end by itself (yield_hook.c). */
void wtl_mpi_end_left(void);

/* Returns whether the call that the thread is in lasts. Ends it if an error handler has left it by longjmp or by an
 * exception, so that its frame is no longer on the stack. `at`: the frame address of the caller. */
bool wtl_mpi_is_inside(const void *at);

/* Returns whether the call is not counted: outside MPI_Init to MPI_Finalize, inside another call, or on a companion. */
static inline bool wtl_mpi_is_uncounted(void)
{
  if (!wtl_os_is_thread_of_pe() || WTL_UNLIKELY(!wtl_mpi_self)) return true;
  return WTL_UNLIKELY(wtl_mpi_here.inside != NULL) && wtl_mpi_is_inside(__builtin_frame_address(0));
}

/* Ends the wait that the program's own tests formed until now (program_tests.c). */
void wtl_mpi_end_polling(void);

/* Returns the rank in MPI_COMM_WORLD of rank `rank` of a communicator; -1 if it has none (MPI_PROC_NULL,
 * MPI_ANY_SOURCE, a process of another MPI_COMM_WORLD). The second function is for all other communicators. */
int wtl_mpi_world_rank(MPI_Comm comm, int rank);

/* A number for the processes of a communicator, the same in all of them. 0: there is no memory. */
uint64_t wtl_mpi_group_key(MPI_Comm comm);
static inline int wtl_mpi_partner(MPI_Comm comm, int rank)
{
  return rank < 0 ? -1 : comm == MPI_COMM_WORLD ? rank : wtl_mpi_world_rank(comm, rank);
}

/* Counts a call and begins its time. The other members of the frame are not set. */
static inline void wtl_mpi_open(wtl_mpi_frame *f, uint32_t call, wtl_origin from, uint64_t bytes, wtl_target to)
{
  wtl_mpi_here.inside = f->self = f;
  f->site = wtl_profile_enter_to(&wtl_mpi_self->profile, from, call, bytes, to, false);
  f->bytes = bytes;
  f->timed = wtl_profile_timed(f->site, bytes);
  if (WTL_UNLIKELY(f->timed)) {
    f->waited = wtl_site_waited(f->site);
    f->start = wtl_ticks();
  }
}

/* `to`: the rank in MPI_COMM_WORLD that gets the bytes, or a reduction's input (mpi_words.h). */
static inline void wtl_mpi_enter_to(wtl_mpi_frame *f, uint32_t call, wtl_origin from, uint64_t bytes, wtl_target to)
{
  if (WTL_UNLIKELY(wtl_mpi_here.polling.idle)) wtl_mpi_end_polling();
  wtl_mpi_open(f, call, from, bytes, to);
  f->awaited = -1;
  f->comm = MPI_COMM_NULL;
  f->synchronizes = false;
}

static inline void wtl_mpi_enter(wtl_mpi_frame *f, uint32_t call, wtl_origin from, uint64_t bytes)
{
  wtl_mpi_enter_to(f, call, from, bytes, WTL_NO_TARGET);
}

/* Notes that the call waits for an action of this process. */
static inline void wtl_mpi_awaits(wtl_mpi_frame *f, int partner)
{
  f->awaited = partner;
  if (!f->timed) f->waited = wtl_site_waited(f->site);
}

/* Begins the part of a collective call that no process leaves before all of the communicator have arrived. A region of
 * the governor ends, and another begins at its end (mpi_governed.c). A timeline records the calls of all processes. */
void wtl_mpi_arrive(wtl_mpi_frame *f, MPI_Comm comm);
void wtl_mpi_depart(wtl_mpi_frame *f);
static inline void wtl_mpi_synchronize(wtl_mpi_frame *f, MPI_Comm comm)
{
  if (WTL_UNLIKELY(wtl_mpi_self->door.governor != NULL || wtl_mpi_self->profile.timeline_bytes != 0))
    wtl_mpi_arrive(f, comm);
}

/* Ends a call that wtl_mpi_open has opened. */
static inline void wtl_mpi_close(wtl_mpi_frame *f)
{
  if (WTL_UNLIKELY(f->timed)) wtl_profile_leave(f->site, f->bytes, f->start, f->waited);
  wtl_mpi_here.inside = NULL;
}

/* Ends a call. Processes that wait for a message which the call sent or received may be asleep, so it wakes them. */
static inline void wtl_mpi_leave(wtl_mpi_frame *f)
{
  wtl_wakeup_others(&wtl_mpi_self->door.ring);
  if (WTL_UNLIKELY(f->synchronizes)) wtl_mpi_depart(f);
  if (f->awaited >= 0) wtl_profile_awaited(f->awaited, wtl_site_waited(f->site) - f->waited);
  wtl_mpi_close(f);
}

/* Waits until test(arg) is true. */
static inline void wtl_mpi_wait(wtl_mpi_frame *f, bool (*test)(void *), void *arg)
{
  wtl_door_wait_by_tests(&wtl_mpi_self->door, f->site, &wtl_mpi_self->tests, test, arg, &wtl_mpi_here.result);
}

/* Waits for a request and returns the result of MPI_Test. The form _f takes a Fortran request; its `status` must not
 * be Fortran's MPI_STATUS_IGNORE. */
int wtl_mpi_finish(wtl_mpi_frame *f, MPI_Request *request, MPI_Status *status);
MPI_Fint wtl_mpi_finish_f(wtl_mpi_frame *f, int language, MPI_Fint *request, void *status);

/* With MPI_THREAD_MULTIPLE, Open MPI 4.1's MPI_Waitall never returns if a request has failed already: it waits for a
 * signal that no thread sends then. MPI_Testall ends the same requests with the same statuses and error. */
static inline bool wtl_mpi_waitall_hangs(void)
{
  return WTL_MPI_IS_OPEN_MPI && wtl_mpi_self->door.is_shared;
}

/*
 * In a process that has ever had certain requests, MPI_Waitall stays unchanged. MPI_Request_get_status calls the query
 * function of a generalized request, and MPI_Waitall would call it again. MPICH 4.0's MPI_Request_get_status makes no
 * progress on a request with a polling function, as files and MPIX_Grequest_start make them.
 */
static inline bool wtl_mpi_waitall_is_unchanged(void)
{
  return atomic_load_explicit(&wtl_mpi_self->plain_waitall, memory_order_relaxed);
}

static inline void wtl_mpi_keep_waitall(void)
{
  atomic_store_explicit(&wtl_mpi_self->plain_waitall, true, memory_order_relaxed);
}

/* Of a call that stays unchanged: tells the governor that it begins; ends its wait, and tells the governor. */
void wtl_mpi_govern_call(const wtl_mpi_frame *f);
void wtl_mpi_end_call_wait(const wtl_mpi_frame *f);

/* Called before and after a blocking call that stays unchanged (yield_hook.c). */
static inline void wtl_mpi_begin_unchanged(const wtl_mpi_frame *f)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  t->site = f->site;
  t->idle_reports = 0;
  t->is_unchanged = true;
  if (WTL_UNLIKELY(wtl_mpi_self->door.governor != NULL)) wtl_mpi_govern_call(f);
}

static inline void wtl_mpi_end_unchanged(const wtl_mpi_frame *f)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  t->is_unchanged = false;
  if (WTL_UNLIKELY(t->call_wait.idle != 0 || wtl_mpi_self->door.governor != NULL)) wtl_mpi_end_call_wait(f);
}

/* Returns whether the MPI shows that it is idle in a call of this thread. Called before wtl_mpi_self is set. */
bool wtl_mpi_shows_idle(wtl_mpi_rank *self);

/* Called when MPI is idle: when Open MPI would yield the core, and when MPICH's progress found no event. Returns
 * false if the caller must yield the core. */
bool wtl_mpi_idle(void);

/* Called in an unchanged call after an event. The rest of the call is another wait. */
void wtl_mpi_progressed(void);

/* Observes the MPI's progress in UCX, if it uses UCX (ucx_progress.c). Called before MPI starts, for its waits there,
 * and again once it has started and has loaded its components. */
void wtl_mpi_hook_ucx_progress(void);

/* The stack pointer and the registers that a call preserves. The entries of the program's tests store them for the
 * calling thread. */
enum { WTL_MPI_HELD_WORDS = 20 };
typedef struct wtl_mpi_held {
  uintptr_t word[WTL_MPI_HELD_WORDS];
} wtl_mpi_held;

#if defined(WTL_SIM)
#define WTL_MPI_NOTED(function)
#elif defined(__x86_64__)
#define WTL_MPI_NOTED(function)                                                                                        \
  void function##_noted(void);                                                                                         \
  __asm__(".text\n.type " #function "_noted, @function\n" #function "_noted:\n"                                        \
          "  mov wtl_mpi_at_test@gottpoff(%rip), %rax\n"                                                               \
          "  mov %rsp, %fs:(%rax)\n  mov %rbx, %fs:8(%rax)\n  mov %rbp, %fs:16(%rax)\n  mov %r12, %fs:24(%rax)\n"      \
          "  mov %r13, %fs:32(%rax)\n  mov %r14, %fs:40(%rax)\n  mov %r15, %fs:48(%rax)\n"                             \
          "  jmp " #function "\n.size " #function "_noted, .-" #function "_noted\n");
#elif defined(__aarch64__)
#define WTL_MPI_NOTED(function)                                                                                        \
  void function##_noted(void);                                                                                         \
  __asm__(".text\n.type " #function "_noted, %function\n" #function "_noted:\n"                                        \
          "  adrp x16, :gottprel:wtl_mpi_at_test\n  ldr x16, [x16, :gottprel_lo12:wtl_mpi_at_test]\n"                  \
          "  mrs x17, tpidr_el0\n  add x16, x16, x17\n  mov x17, sp\n"                                                 \
          "  stp x17, x30, [x16]\n  stp x19, x20, [x16, #16]\n  stp x21, x22, [x16, #32]\n"                            \
          "  stp x23, x24, [x16, #48]\n  stp x25, x26, [x16, #64]\n  stp x27, x28, [x16, #80]\n"                       \
          "  stp x29, xzr, [x16, #96]\n  stp d8, d9, [x16, #112]\n  stp d10, d11, [x16, #128]\n"                       \
          "  stp d12, d13, [x16, #144]\n"                                                                              \
          "  b " #function "\n.size " #function "_noted, .-" #function "_noted\n");
#endif

typedef enum wtl_mpi_loop_state {
  WTL_MPI_LOOP_COMPUTES,  /* it computes, or the search pauses */
  WTL_MPI_LOOP_UNKNOWN,   /* not known yet */
  WTL_MPI_LOOP_ONLY_TESTS /* its state has returned twice */
} wtl_mpi_loop_state;

/* Called after a test that found nothing. Returns whether the calling thread only tests, or also computes
 * (test_loop.c). */
wtl_mpi_loop_state wtl_mpi_test_loop_check(wtl_mpi_test_loop *loop);

/* Called after a test of a wait that succeeded. Returns whether it did so before with the same state of the thread. */
bool wtl_mpi_test_loop_found_again(wtl_mpi_test_loop *loop);

/* The rarer parts of the two functions below (program_tests.c): before a test that may belong to a wait, and after it
 * or one whose state is looked at. */
uint64_t wtl_mpi_continue_polling(void);
void wtl_mpi_note_test(wtl_mpi_frame *f, uint64_t from, bool found);

/* Called before and after a test of the program, in place of enter and leave. `from`: the tick that wtl_mpi_poll
 * returned. A program that computes between its tests may make millions of them, so they need no clock. */
static inline uint64_t wtl_mpi_poll(wtl_mpi_frame *f, uint32_t call, wtl_origin at)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  uint64_t now = WTL_UNLIKELY(t->polling.idle || t->loop.times) ? wtl_mpi_continue_polling() : 0;
  t->result = WTL_TEST_UNKNOWN;
  wtl_mpi_open(f, call, at, 0, WTL_NO_TARGET);
  return now;
}

static inline void wtl_mpi_polled(wtl_mpi_frame *f, uint64_t from, bool found)
{
  wtl_mpi_thread *t = &wtl_mpi_here;
  if (WTL_UNLIKELY(t->polling.idle || (!found && !t->loop.unseen))) {
    wtl_mpi_note_test(f, from, found);
  } else {
    if (WTL_UNLIKELY(found || t->result == WTL_TEST_PROGRESS)) wtl_wakeup_others(&wtl_mpi_self->door.ring);
    if (!found) t->loop.unseen--;
    wtl_mpi_close(f);
  }
}

/* --- Fortran --- */

/* The two sets of Fortran entries of an MPI: those of mpif.h and the module mpi, and those of the module mpi_f08. */
enum { WTL_MPI_IN_F, WTL_MPI_IN_F8, WTL_MPI_LANGUAGES };

/* The size of a Fortran status, enough for either MPI. */
enum { WTL_MPI_STATUS_FINTS = 16 };

/* The MPI's own entries, by the number of the call; NULL if it has none. */
extern void *wtl_mpi_real[WTL_MPI_LANGUAGES][WTL_MPI_N_CALLS];

typedef struct wtl_mpi_fortran_name {
  const char *name; /* "send" */
  int call;
} wtl_mpi_fortran_name;

extern const wtl_mpi_fortran_name wtl_mpi_fortran_names[];
extern const size_t wtl_mpi_n_fortran_names;

/* Fills wtl_mpi_real, if the program has loaded the Fortran part of its MPI. */
void wtl_mpi_find_fortran(void);

/* --- bytes (message_bytes.c) --- */

/* Null handles and negative counts add no bytes, because MPI itself reports the error. One negative entry makes the
 * sum of its array 0, because MPI refuses the call. */

/* Numbers for each process: int, or MPI_Count in calls with large counts. */
typedef struct wtl_mpi_array {
  const void *at;
  bool large;
} wtl_mpi_array;

/* A datatype for each process: MPI_Datatype, or Fortran's numbers. */
typedef struct wtl_mpi_types {
  const void *at;
  bool fortran;
} wtl_mpi_types;

static inline wtl_mpi_array wtl_mpi_counts(const void *at, bool large)
{
  return (wtl_mpi_array){at, large};
}

static inline uint64_t wtl_mpi_count(MPI_Count count)
{
  return count > 0 ? (uint64_t)count : 0;
}

/* Prepares wtl_mpi_type_size. Until then it only takes longer. */
void wtl_mpi_note_types(void);
uint64_t wtl_mpi_type_size(MPI_Datatype type);
bool wtl_mpi_is_inter(MPI_Comm comm);
bool wtl_mpi_counterpart_may_fail(MPI_Comm comm); /* counterparts of vector and neighbourhood collectives may fail */
uint64_t wtl_mpi_size(MPI_Comm comm);             /* receiving processes; of an intercommunicator, the other group */
bool wtl_mpi_is_root(int root, MPI_Comm comm);
bool wtl_mpi_is_leaf(int root, MPI_Comm comm); /* not the root; not in the root's group of an intercommunicator */
uint64_t wtl_mpi_sum(wtl_mpi_array counts, MPI_Comm comm);
uint64_t wtl_mpi_own_count(wtl_mpi_array counts, MPI_Comm comm);
uint64_t wtl_mpi_sum_types(wtl_mpi_array counts, wtl_mpi_types types, MPI_Comm comm);
/* These sum over the neighbours that this process sends to. */
uint64_t wtl_mpi_degree(MPI_Comm comm);
uint64_t wtl_mpi_sum_degree(wtl_mpi_array counts, MPI_Comm comm);
uint64_t wtl_mpi_sum_types_degree(wtl_mpi_array counts, wtl_mpi_types types, MPI_Comm comm);

/* --- reductions (reduction_order.c) --- */

/* Returns whether this reduction must stay unchanged. All processes get the same answer, because it depends only on
 * values on which MPI requires them to agree. */
bool wtl_mpi_order_matters(MPI_Op op, MPI_Datatype type, MPI_Comm comm, uint64_t bytes);

/* Writes the calls that this module does not know and that passed unchanged, as a JSON list (module.c). */
void wtl_mpi_passed_write(FILE *f, const void *arg);

/* Returns whether blocking calls stay as the program makes them. All processes of the job answer alike. */
static inline bool wtl_mpi_keeps_calls(void)
{
  return wtl_mpi_self->keeps_calls;
}

/* --- processes with this library (mpi_members.c) --- */

/* Counts this process among those of its node that have the library. Precedes MPI's start. */
void wtl_mpi_members_count(void);

/* Makes the communicator of these processes (wtl_mpi_rank.node), once MPI has started. Reports ranks of this node that
 * lack the library. Waits for other nodes at most two minutes. Needs the rank in `record`. */
void wtl_mpi_members_join(wtl_mpi_rank *self);

/* Returns whether processes of the communicator may lack the library. All of them must then call the same collective
 * call, so it stays unchanged. */
bool wtl_mpi_members_lack(MPI_Comm comm);
static inline bool wtl_mpi_keeps_collectives(MPI_Comm comm)
{
  if (WTL_LIKELY(wtl_mpi_keeps_calls())) return true;
#ifdef WTL_SIM
  (void)comm;
  return false;
#else
  return WTL_UNLIKELY(wtl_mpi_self->is_partial || wtl_mpi_self->has_outsiders) && wtl_mpi_members_lack(comm);
#endif
}

/* --- wake-ups (mpi_wakeup.c): all processes of a node call these --- */

/* The memory for wake-ups, which the first process of the node tells the others with its place. */
typedef struct wtl_mpi_memory {
  int64_t pid, fd; /* of the first process; fd -1: there is none */
  int64_t tick;    /* at which it was made; a process in another container may have the same number */
} wtl_mpi_memory;

/* The first process makes the memory. All open it, once they have its place. Then the first one closes it, and no other
 * process can open it. */
wtl_mpi_memory wtl_mpi_wakeup_make(const wtl_mpi_rank *self);
void wtl_mpi_wakeup_open(wtl_mpi_rank *self, const wtl_mpi_memory *made);
void wtl_mpi_wakeup_close(const wtl_mpi_rank *self, const wtl_mpi_memory *made);
void wtl_mpi_wakeup_stop(wtl_mpi_rank *self);

/* Tells the others that this process will make no more calls with them, because MPI lacks something; and asks. */
void wtl_mpi_leave_others(wtl_mpi_rank *self);
bool wtl_mpi_is_left(const wtl_mpi_rank *self);

/* --- clocks (mpi_governed.c): collective over the processes of a node --- */

/* The place of one process. An array `all` has one for each process of the node. */
typedef struct wtl_mpi_place {
  cpu_set_t cpus;
  double quota;
  long pid;
  uint64_t pid_namespace; /* node/process.h */
  bool governs;
  wtl_mpi_memory memory;
} wtl_mpi_place;

void wtl_mpi_govern(wtl_mpi_rank *self, const wtl_mpi_place *all);
void wtl_mpi_stop_governing(wtl_mpi_rank *self);
void wtl_mpi_clocks_back(wtl_mpi_rank *self);

/* --- start and end (rank.c) --- */

/* wtl_mpi_start follows MPI's start, and wtl_mpi_stop precedes its end. Both are collective over the processes of a
 * node. So the memory of the process is made before it is counted; NULL, with a message, if there is none. */
wtl_mpi_rank *wtl_mpi_rank_make(void);
void wtl_mpi_start(wtl_mpi_rank *self, int thread_level);
void wtl_mpi_stop(wtl_origin from);
/* Writes the profile without joules, when the program is being ended. */
void wtl_mpi_abandon(void);
/* Prints the reasons why the program must not run, and ends the job with `status`. */
void wtl_mpi_refuse(const char *reasons, int status);

int wtl_c_Init(int *argc, char ***argv);
int wtl_c_Init_thread(int *argc, char ***argv, int required, int *provided);
int wtl_c_Finalize(void);
int wtl_c_Abort(MPI_Comm comm, int code);
#ifdef MPICH_VERSION
int wtl_x_Grequest_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *,
                         MPIX_Grequest_poll_function *, MPIX_Grequest_wait_function *, void *, MPI_Request *);
int wtl_x_Grequest_class_allocate(MPIX_Grequest_class, void *, MPI_Request *);
#endif
void wtl_f_Init(MPI_Fint *ierror);
void wtl_f8_Init(MPI_Fint *ierror);
void wtl_f_Init_thread(void *required, void *provided, MPI_Fint *ierror);
void wtl_f8_Init_thread(void *required, void *provided, MPI_Fint *ierror);
void wtl_f_Finalize(MPI_Fint *ierror);
void wtl_f8_Finalize(MPI_Fint *ierror);
void wtl_f_Abort(void *comm, void *code, MPI_Fint *ierror);
void wtl_f8_Abort(void *comm, void *code, MPI_Fint *ierror);

#endif
