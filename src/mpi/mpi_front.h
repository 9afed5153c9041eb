/*
 * front.h - what every generated MPI call begins and ends with.
 *
 * Compiled once for each MPI (their handles and constants differ), into libwattle-mpi-openmpi.so and
 * libwattle-mpi-mpich.so. preload.c loads the one that belongs to the MPI of the process and lets the program's calls
 * in by mpi_functions. What is here calls MPI by its PMPI_ names only.
 *
 * Nothing is added to what the program says to others: a blocking call becomes its non-blocking twin and tests for that
 * request alone. (At MPI_Init and MPI_Finalize the processes of a node meet once, for the account of joules.)
 *
 * A call that MPI, or we, make from within a call is not the program's: it goes straight through.
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

/* --- a process of the program --- */

typedef struct wtl_mpi_rank {
  wtl_profile profile;
  wtl_door door;
  wtl_bell bell; /* nobody rings it: the door wants one */
  wtl_pace tests, polls, kept;
  wtl_record record;
  wtl_settings settings;
  _Atomic bool polled_requests; /* the program has, or had, some that nothing but their own function moves on */
  _Atomic bool abandoned;       /* its profile is written: the program ends without MPI_Finalize */
  bool plain_reductions;        /* where the order of a reduction may show in its result, it stays as it is */
  MPI_Comm node;                /* of our own: the processes of this node */
  int n_local, slot;
  long pid;
  size_t ring_bytes;  /* of what the node's processes wake each other by (ring.c); 0: nothing */
  wtl_arena shared;   /* of the node's processes: their votes on clocks; empty where nothing is governed */
  wtl_clocks *clocks; /* NULL where nothing is governed */
} wtl_mpi_rank;

extern wtl_mpi_rank *wtl_mpi_self; /* NULL before MPI_Init, after MPI_Finalize, and in a forked child */

/* --- a thread of it --- */

/* What is known of where its tests find it (test_loop.c). Zeroes: nothing. */
typedef struct wtl_mpi_test_loop {
  uint64_t mark;          /* what it held at an earlier test */
  uint32_t tests;         /* since it last held that */
  uint32_t times;         /* that it held it again, up to 2 */
  uint32_t pause, unseen; /* tests for which nobody looks: of the last such time; still to come */
} wtl_mpi_test_loop;

typedef struct wtl_mpi_thread {
  bool inside;            /* a call of the program's */
  bool keeping;           /* one that stays as it is, and tells us when it idles */
  wtl_test_result result; /* of a test: what the MPI tells of it (ucx_progress.c, yield_hook.c) */
  uint64_t entered;       /* tick at which that began, where a governor was told */
  wtl_site *site;         /* of that call */
  uint8_t looks;          /* how often it has told us, up to what makes a wait */
  uint64_t looked;        /* tick at which it last did, from then on */
  wtl_test_wait turns;    /* its wait */
  wtl_test_wait polling;  /* the wait that the program's own tests make up */
  uint64_t polled;        /* tick at which the last of them ended */
  wtl_mpi_test_loop still;
} wtl_mpi_thread;

WTL_OS_THREAD_LOCAL(wtl_mpi_thread, wtl_mpi_of_thread, 1)
#define wtl_mpi_here (*wtl_mpi_of_thread_here())

/* --- a call --- */

typedef struct wtl_mpi_frame {
  wtl_site *site;
  uint64_t bytes, start, waited;
  bool timed;
  bool meets;    /* all processes of the program, and the governor or a timeline wants to know */
  uint64_t came; /* tick at which this one came to that */
  MPI_Comm comm; /* whose error handler hears of an error; MPI_COMM_NULL: MPI has told it already */
} wtl_mpi_frame;

extern const wtl_call_info wtl_mpi_calls[];

#define WTL_HERE ((uintptr_t)__builtin_return_address(0))

/* Does this call concern nobody? */
static inline bool wtl_mpi_is_out(void)
{
  return !wtl_os_is_thread_of_pe() || WTL_UNLIKELY(!wtl_mpi_self || wtl_mpi_here.inside);
}

/* The tests that the program made until now are no wait any more (poll.c). */
void wtl_mpi_poll_no_more(void);

static inline void wtl_mpi_open(wtl_mpi_frame *f, uint32_t call, uintptr_t from, uint64_t bytes)
{
  wtl_mpi_here.inside = true;
  f->site = wtl_profile_enter(&wtl_mpi_self->profile, from, call, bytes);
  f->bytes = bytes;
  f->comm = MPI_COMM_NULL;
  f->meets = false;
  f->timed = wtl_profile_timed(f->site, bytes);
  if (WTL_UNLIKELY(f->timed)) {
    f->waited = wtl_site_waited(f->site);
    f->start = wtl_ticks();
  }
}

static inline void wtl_mpi_enter(wtl_mpi_frame *f, uint32_t call, uintptr_t from, uint64_t bytes)
{
  if (WTL_UNLIKELY(wtl_mpi_here.polling.idle)) wtl_mpi_poll_no_more();
  wtl_mpi_open(f, call, from, bytes);
}

/*
 * In a collective call that nobody leaves before all have come: where it is all processes of the program that meet, a
 * region of the governor's ends, and another begins (governed.c). A timeline keeps it, too.
 */
void wtl_mpi_arrive(wtl_mpi_frame *f, MPI_Comm comm);
void wtl_mpi_depart(wtl_mpi_frame *f);
static inline void wtl_mpi_meet(wtl_mpi_frame *f, MPI_Comm comm)
{
  if (WTL_UNLIKELY(wtl_mpi_self->door.governor != NULL || wtl_mpi_self->profile.timeline_bytes != 0))
    wtl_mpi_arrive(f, comm);
}

static inline void wtl_mpi_close(wtl_mpi_frame *f)
{
  if (WTL_UNLIKELY(f->meets)) wtl_mpi_depart(f);
  if (WTL_UNLIKELY(f->timed)) wtl_profile_leave(f->site, f->bytes, f->start, f->waited);
  wtl_mpi_here.inside = false;
}

/* Who waits for what the call has sent, or taken, may be asleep. */
static inline void wtl_mpi_leave(wtl_mpi_frame *f)
{
  wtl_wakeup_others(&wtl_mpi_self->door.ring);
  wtl_mpi_close(f);
}

/* Waits until test(arg) is true. */
static inline void wtl_mpi_wait(wtl_mpi_frame *f, bool (*test)(void *), void *arg)
{
  wtl_door_wait_by_tests(&wtl_mpi_self->door, f->site, &wtl_mpi_self->tests, test, arg, &wtl_mpi_here.result);
}

/* Waits for a request; returns what MPI_Test said. _f: one of Fortran's, `status` never what stands for none. */
int wtl_mpi_finish(wtl_mpi_frame *f, MPI_Request *request, MPI_Status *status);
MPI_Fint wtl_mpi_finish_f(wtl_mpi_frame *f, int language, MPI_Fint *request, void *status);

/*
 * With MPI_THREAD_MULTIPLE, Open MPI 4.1's MPI_Waitall never returns where it finds a request that has failed already:
 * it lets go of its own wait only once that was signalled, which nobody does then. MPI_Testall ends the same requests,
 * with the same statuses and error.
 */
static inline bool wtl_mpi_waitall_hangs(void)
{
#ifdef OPEN_MPI
  return wtl_mpi_self->door.is_shared;
#else
  return false;
#endif
}

/*
 * MPICH 4.0's MPI_Request_get_status moves no request on that has a function to poll it: those of files, and what a
 * library made by MPIX_Grequest_start. Its MPI_Waitall does, and so is called as it is in a process that has ever had
 * one.
 */
static inline bool wtl_mpi_waitall_stays(void)
{
#ifdef MPICH_VERSION
  return atomic_load_explicit(&wtl_mpi_self->polled_requests, memory_order_relaxed);
#else
  return false;
#endif
}

static inline void wtl_mpi_has_polled_requests(void)
{
  atomic_store_explicit(&wtl_mpi_self->polled_requests, true, memory_order_relaxed);
}

/* Around a blocking call that stays as it is (yield_hook.c). */
void wtl_mpi_keep(wtl_mpi_frame *f);
void wtl_mpi_kept(wtl_mpi_frame *f);

/* Called where MPI has nothing to do: where Open MPI would give up the core, and where MPICH's look found nothing.
 * False: the core shall be given up. */
bool wtl_mpi_idle(void);

/* In a call that stays as it is, something came: what is waited for from now on is another wait. */
void wtl_mpi_moved(void);

/* After MPI has started: it tells of its looks from now on, where it can (ucx_progress.c). */
void wtl_mpi_hook_ucx_progress(void);

/* What the calling thread holds that a call leaves as it is: its stack pointer, then registers. The entries of the
 * tests that a program may make note it. */
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

typedef enum wtl_mpi_stand {
  WTL_MPI_GOES_ON,     /* it computes, or nobody looks */
  WTL_MPI_MAY_RETURN,  /* not known yet */
  WTL_MPI_STANDS_STILL /* it is where it was before, and before that */
} wtl_mpi_stand;

/* At a test that found nothing: what does the calling thread do between its tests (test_loop.c)? */
wtl_mpi_stand wtl_mpi_stands(wtl_mpi_test_loop *still);

/* Around a test of the program's own, instead of entering and leaving; `from`: the tick that the first returned
 * (poll.c). */
uint64_t wtl_mpi_poll(wtl_mpi_frame *f, uint32_t call, uintptr_t at);
void wtl_mpi_polled(wtl_mpi_frame *f, uint64_t from, bool found);

/* --- Fortran --- */

/* The two sets of entries that an MPI has for Fortran: of mpif.h and the module mpi, of the module mpi_f08. */
enum { WTL_MPI_IN_F, WTL_MPI_IN_F8, WTL_MPI_LANGUAGES };

/* Room for a status of Fortran's, in either MPI. */
enum { WTL_MPI_STATUS_FINTS = 16 };

/* The MPI's own entries, by call; NULL where it has none. */
extern void *wtl_mpi_real[WTL_MPI_LANGUAGES][WTL_MPI_N_CALLS];

typedef struct wtl_mpi_fortran_name {
  const char *name; /* "send" */
  int call;
} wtl_mpi_fortran_name;

extern const wtl_mpi_fortran_name wtl_mpi_fortran_names[];
extern const size_t wtl_mpi_n_fortran_names;

/* Looks for them, where the program has Fortran's part of its MPI. */
void wtl_mpi_find_fortran(void);

/* --- bytes (message_bytes.c). Handles that stand for nothing and negative counts count nothing: MPI itself says what is wrong
 * with them. One negative entry makes the whole array count nothing, for MPI refuses the call. --- */

/* Numbers for each process: int, or MPI_Count in the calls with large counts. */
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

uint64_t wtl_mpi_type_size(MPI_Datatype type);
bool wtl_mpi_is_inter(MPI_Comm comm);
bool wtl_mpi_is_doubted(MPI_Comm comm); /* where twins of collectives with edges or counts of their own go wrong */
uint64_t wtl_mpi_size(MPI_Comm comm);   /* who is sent to: of an intercommunicator, the other side */
bool wtl_mpi_is_root(int root, MPI_Comm comm);
bool wtl_mpi_is_leaf(int root, MPI_Comm comm); /* neither the root nor, of an intercommunicator, beside it */
uint64_t wtl_mpi_sum(wtl_mpi_array counts, MPI_Comm comm);
uint64_t wtl_mpi_mine(wtl_mpi_array counts, MPI_Comm comm);
uint64_t wtl_mpi_sum_types(wtl_mpi_array counts, wtl_mpi_types types, MPI_Comm comm);
/* The same over the neighbours that this process sends to. */
uint64_t wtl_mpi_degree(MPI_Comm comm);
uint64_t wtl_mpi_sum_degree(wtl_mpi_array counts, MPI_Comm comm);
uint64_t wtl_mpi_sum_types_degree(wtl_mpi_array counts, wtl_mpi_types types, MPI_Comm comm);

/* --- reductions (reduction_order.c) --- */

/*
 * Must this reduction stay as it is? All processes give the same answer, as they must: it follows from what MPI asks
 * them to agree on.
 */
bool wtl_mpi_order_matters(MPI_Op op, MPI_Datatype type, MPI_Comm comm, uint64_t bytes);

/* --- who sleeps and who wakes them (ring.c): collective over the processes of a node --- */

void wtl_mpi_wakeup_start(wtl_mpi_rank *self);
void wtl_mpi_wakeup_stop(wtl_mpi_rank *self);

/* --- clocks (governed.c): all collective over the processes of a node --- */

/* `all`: what each of them is. */
typedef struct wtl_mpi_place {
  cpu_set_t cpus;
  double quota;
  long pid;
  bool governs;
} wtl_mpi_place;

void wtl_mpi_govern(wtl_mpi_rank *self, const wtl_mpi_place *all);
void wtl_mpi_govern_no_more(wtl_mpi_rank *self);
void wtl_mpi_clocks_back(wtl_mpi_rank *self);

/* --- the beginning and the end (rank.c) --- */

/* After MPI has started; before it finalises. Both collective over the processes of a node. */
void wtl_mpi_start(int thread_level);
void wtl_mpi_stop(uintptr_t from);
/* The program is being ended: its profile is written without joules. */
void wtl_mpi_abandon(void);
/* Says why the program must not run, and ends the job. */
void wtl_mpi_refuse(const char *reasons, int status);

int wtl_c_Init(int *argc, char ***argv);
int wtl_c_Init_thread(int *argc, char ***argv, int required, int *provided);
int wtl_c_Finalize(void);
int wtl_c_Abort(MPI_Comm comm, int code);
#ifdef MPICH_VERSION
int wtl_c_Grequest_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *, MPI_Grequest_cancel_function *,
                         MPIX_Grequest_poll_function *, MPIX_Grequest_wait_function *, void *, MPI_Request *);
int wtl_c_Grequest_class_allocate(MPIX_Grequest_class, void *, MPI_Request *);
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
