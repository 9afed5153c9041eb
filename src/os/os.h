/*
 * os.h - the port: what the runtime takes from the operating system, for each kind of build.
 *
 * DESIGN. There are three kinds of build. Each has a file of its own here; all other rooms are the same source in each.
 *
 *   os_linux.h, .c        A PE is a process. Users run this.
 *   os_threads.h          PEs are threads of one process, so that ThreadSanitizer sees every race. The rest is Linux's.
 *   os_simulation.h, .c   A PE is a copy of the program inside the simulator (src/sim), and time is simulated.
 *
 * In simulation a thread runs alone until it blocks. Time passes where a thread computes, sleeps or blocks, not where it
 * polls. So a loop that polls must block between two looks there, and what it blocks on must be rung.
 *
 * Some facilities exist in one kind alone. The constants below tell, so that a plain `if` selects at compile time.
 */
#ifndef WTL_OS_OS_H
#define WTL_OS_OS_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the PE's core does while a thread of it waits: simulation charges power for it. */
enum wtl_os_rest { WTL_OS_SPINS, WTL_OS_YIELDS, WTL_OS_SLEEPS };

/* Whose threads may sleep on a futex word: this process's, or others' too. */
enum wtl_futex_reach { WTL_FUTEX_OURS, WTL_FUTEX_SHARED };

#ifdef WTL_SIM
#include "os/os_simulation.h"
#else
#ifdef WTL_THREADS
#include "os/os_threads.h"
#endif
#include "os/os_linux.h"
#endif

/*
 * Each kind defines:
 *
 * WTL_OS_IS_SIMULATED     1 in simulation
 * WTL_OS_PES_ARE_THREADS  1 in the threads build
 * WTL_OS_OF_PE            storage class of a variable of which each PE has its own: _Thread_local where PEs are threads
 */
enum { WTL_OS_PES_ARE_PROCESSES = !WTL_OS_IS_SIMULATED && !WTL_OS_PES_ARE_THREADS };

/*
 * WTL_OS_THREAD_LOCAL(type, name, part) declares a variable of which each thread has its own, and name_here(), which
 * returns its address. WTL_OS_DEFINE_THREAD_LOCAL(type, name) defines it, in one file. In simulation the variable is in
 * one of WTL_OS_PARTS parts of the memory that a simulated thread has; rooms that share a part are in no program
 * together.
 *
 * A front end in a library of its own (WTL_FRONT_OUTSIDE) sees the variable as name_seen, if WTL_OS_SHOW_THREAD_LOCAL
 * follows the definition. Within the runtime's library the address needs no look-up.
 */
enum { WTL_OS_PARTS = 2 };

/* --- clock --- */

/*
 * Ticks of the cheapest monotonic clock: the time-stamp counter where the CPU keeps it constant (CPUID 8000_0007h EDX
 * bit 8), CLOCK_MONOTONIC's nanoseconds otherwise, simulated nanoseconds in simulation.
 */
static inline uint64_t wtl_ticks(void);

/* Nanoseconds per tick, fitted against CLOCK_MONOTONIC since the library was loaded. Waits until that was 2 ms ago. */
double wtl_clock_ns_per_tick(void);

/* Whether ticks are those of a time-stamp counter. Set when the library is loaded. */
extern bool wtl_clock_has_tsc;

/* CLOCK_MONOTONIC, or simulated time, in nanoseconds. */
static inline uint64_t wtl_clock_ns(void);

/* Processor time of the calling PE, in seconds. */
static inline double wtl_os_cpu_seconds(void);

/* --- threads --- */

/* Starts a thread of the library's own, which takes no signals: they are the program's. Returns as pthread_create does;
 * the thread is joined by pthread_join. */
int wtl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);

/*
 * The calling thread serves others, for a moment at a time. It asks for the shortest time slices that the scheduler
 * gives, 0.1 ms, and so for a core before threads that compute, when it is woken. It gets no more of the core than
 * before. Kernels before Linux 6.12 ignore this.
 */
void wtl_thread_be_prompt(void);

/* False for a function of the program's that SimGrid's MPI calls: it runs in no thread of the PE's. */
static inline bool wtl_os_is_thread_of_pe(void);

/* --- futex --- */

/* Sleeps while *word == seen, at most `seconds`. 0: woken; EAGAIN: *word had changed before; ETIMEDOUT; EINTR. */
int wtl_futex_wait(_Atomic uint32_t *word, uint32_t seen, double seconds, enum wtl_futex_reach reach);

/* Wakes up to `n` threads that sleep on the word. */
void wtl_futex_wake(_Atomic uint32_t *word, int n, enum wtl_futex_reach reach);

/* --- what a simulation must know --- */

/* Sets how the core rests from now on; returns how it did before. */
static inline enum wtl_os_rest wtl_os_set_rest(enum wtl_os_rest how);

/* The calling thread waits in the call `call` at `site` of the program, from now on; 0, 0: it does no more. The report of
 * a deadlock names them. */
static inline void wtl_os_note_wait(uint32_t call, uintptr_t site);

/* A test found nothing. In simulation that takes 0.1 us, so that a loop of tests ends. */
static inline void wtl_os_test_missed(void);

/* --- sleeping on a network --- */

/*
 * An event that ends a sleep on the network, from any thread: an eventfd. Returns -1 with errno where there is none.
 * In simulation a PE has one event, and its number is no descriptor.
 */
int wtl_os_event_open(void);
void wtl_os_event_close(int event);
void wtl_os_event_set(int event);

/*
 * Sleeps until `descriptor` is readable (simulation: until a message arrives) or `event` is set, at most `seconds`
 * (INFINITY: for ever). Resets the event. 1: one of them happened; 0: the time passed; -1: interrupted.
 * WTL_OS_SPINS (simulation alone): the core polls meanwhile.
 */
int wtl_os_await_network(int descriptor, int event, double seconds, enum wtl_os_rest how);

/* The PE's threads that block are woken by an agent on the same core from now on, or no more. In simulation only the
 * agent's own wake-ups take time then. */
static inline void wtl_os_agent_wakes(bool does);
/* The agent was woken where no thread of the PE looked on. */
static inline void wtl_os_agent_woken(void);

/* --- the process --- */

/* Random bytes. In simulation they are the same in each run. False: the kernel has none. */
bool wtl_os_random(void *to, size_t n);

/* The program's file into `path`, ended by '\0'. False where it is not known. */
bool wtl_os_program(char *path, size_t size);

struct dl_phdr_info;
/* Is this object, the one of that index in dl_iterate_phdr's order, the calling PE's program? */
bool wtl_os_is_program(const struct dl_phdr_info *info, int index);

/* A text that is the same on all nodes that are one machine (namespaces, containers); "" where it is not known. */
void wtl_os_machine_id(char *id, size_t size);

#endif
