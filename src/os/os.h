/*
 * os.h - declares the port: the services that the runtime needs from the operating system, for each kind of build.
 *
 * DESIGN. There are three kinds of build. Each has its own files in this room. The other rooms have one source for all.
 *
 *   os_linux.h, .c        A PE is a process. Users run this.
 *   os_threads.h          PEs are threads of one process, so that ThreadSanitizer sees every race. The rest is Linux's.
 *   os_simulation.h, .c   A PE is a copy of the program inside the simulator (src/sim), and time is simulated.
 *
 * In simulation a thread runs alone until it blocks. Time passes while a thread computes, sleeps or blocks, but not
 * while it polls. So a polling loop must block between two polls, on a word that the awaited event wakes.
 *
 * Some facilities exist in one kind only. The constants below say so, and a plain `if` selects at compile time.
 */
#ifndef WTL_OS_OS_H
#define WTL_OS_OS_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The core's activity while the PE waits. The simulation charges power by it. */
enum wtl_os_idle_mode { WTL_OS_SPINS, WTL_OS_YIELDS, WTL_OS_SLEEPS };

/* Work of the runtime that costs the calling thread's core. A call: to enter and leave one of the library. Far: an
 * operation on a PE of another node, beside its message. Request: an active message or reply within a node, at its
 * sender. Handler: an active message at its receiver, beside what the handler does. */
enum wtl_os_work { WTL_OS_CALL, WTL_OS_FAR, WTL_OS_REQUEST, WTL_OS_HANDLER };

/* The threads that may sleep on a futex word: those of this process, or those of other processes as well. */
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
 * WTL_OS_OF_PE            storage class of a variable that each PE has for itself: _Thread_local where PEs are threads
 */
enum { WTL_OS_PES_ARE_PROCESSES = !WTL_OS_IS_SIMULATED && !WTL_OS_PES_ARE_THREADS };

/*
 * WTL_OS_THREAD_LOCAL(type, name, part) declares a thread-local variable and name_here(), which returns its address.
 * WTL_OS_DEFINE_THREAD_LOCAL(type, name) defines it, in one file. In simulation the variable lies in one of
 * WTL_OS_PARTS parts of the simulated thread's memory. Two rooms may share a part only if no program contains both.
 *
 * A front end in a separate library (WTL_FRONT_OUTSIDE) accesses the variable as name_seen. WTL_OS_SHOW_THREAD_LOCAL
 * after the definition exports that name. Within the runtime's library the address needs no look-up.
 */
enum { WTL_OS_PARTS = 2 };

/* --- clock --- */

/*
 * Returns ticks of the cheapest monotonic clock: the time-stamp counter if the CPU keeps its rate constant (CPUID
 * 8000_0007h EDX bit 8), otherwise nanoseconds of CLOCK_MONOTONIC. In simulation: simulated nanoseconds.
 */
static inline uint64_t wtl_ticks(void);

/* Returns nanoseconds per tick, measured against CLOCK_MONOTONIC since the library was loaded. Spins until 2 ms have
 * passed since then. */
double wtl_clock_ns_per_tick(void);

/* Whether ticks come from a time-stamp counter. Set when the library is loaded. */
extern bool wtl_clock_has_tsc;

/* Returns CLOCK_MONOTONIC, or simulated time, in nanoseconds. */
static inline uint64_t wtl_clock_ns(void);

/* Returns the processor time of the calling PE, in seconds. */
static inline double wtl_os_cpu_seconds(void);

/* Returns the CPU time of a thread that has not been joined, in seconds. NaN: not known. */
double wtl_os_thread_cpu_seconds(pthread_t thread);

/* Returns the CPU time of all programs of this machine since its start, in seconds. NaN: not known. */
double wtl_os_machine_cpu_seconds(void);

/* --- threads --- */

/* Starts a thread of the library. It blocks all signals, because they belong to the program. Returns 0 or an error
 * number as pthread_create does. The caller joins the thread with pthread_join. */
int wtl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg);

/* Calls `run` on a larger stack if the thread has little left, such as one of 16 KiB that calls exit. */
void wtl_os_call_with_room(void (*run)(void *), void *arg);

/*
 * Requests the scheduler's shortest time slice, 0.1 ms, for the calling thread. When it wakes, it then gets a core
 * before threads that compute. Its share of the core stays the same. For threads that run briefly on behalf of others.
 * Kernels before Linux 6.12 ignore the request.
 */
void wtl_thread_be_prompt(void);

/* False only in simulation, in a function of the program that SimGrid's MPI calls: it runs in no thread of the PE. */
static inline bool wtl_os_is_thread_of_pe(void);

/* --- futex --- */

/* Sleeps while *word == seen, at most `seconds`. Returns 0 (woken), EAGAIN (*word differed already), ETIMEDOUT or
 * EINTR. */
int wtl_futex_wait(_Atomic uint32_t *word, uint32_t seen, double seconds, enum wtl_futex_reach reach);

/* Wakes up to `n` threads that sleep on the word. */
void wtl_futex_wake(_Atomic uint32_t *word, int n, enum wtl_futex_reach reach);

/* --- a barrier in all processes --- */

/* Lets this process take part in the barriers of others. Returns false if the kernel has none (membarrier(2), Linux
 * 4.16), and in simulation. Call it early: with several threads the kernel waits for some milliseconds. */
bool wtl_os_join_barriers(void);

/* Executes a full memory barrier in each thread that runs and whose process has joined, between two instructions of its
 * program. Costs some microseconds. Returns false if there was none. */
bool wtl_os_barrier_of_all(void);

/* --- reports to the simulation; without effect elsewhere --- */

/* Sets how the core rests from now on. Returns the previous value. */
static inline enum wtl_os_idle_mode wtl_os_set_idle_mode(enum wtl_os_idle_mode how);

/* The calling thread polls memory or the network while it sleeps on a futex, or no longer: in simulation, where each
 * poll would be an event. A store through shmem_ptr or a message ends the sleep, and with both a store by a network
 * card. */
static inline void wtl_os_poll(bool memory, bool network);

/* Returns the time limit of a sleep that checks its condition after `seconds`. In simulation it is INFINITY: a limit
 * would hide a deadlock, and a store without a doorbell ends the sleep instead. */
static inline double wtl_os_check_after(double seconds);

/* Did such a store end the thread's last sleep? In simulation only. */
static inline bool wtl_os_has_seen_store(void);

/* The thread sleeps on for `seconds`, at the end of which it finds the store, and wakes up. In simulation only. */
static inline void wtl_os_sleep_on(double seconds);

/* Notes that the calling thread waits in the routine `call`, called at `site` of the program. 0, 0: it waits no longer.
 * The report of a deadlock names both. */
static inline void wtl_os_note_wait(uint32_t call, uintptr_t site);

/* Notes, before it does so, that the thread accesses `n` bytes of memory that the PEs of the node share, such as a put
 * to one of them. In simulation this takes time if the node has several PEs. */
static inline void wtl_os_near_access(size_t n);

/* Notes work of the runtime. In simulation it takes time. */
static inline void wtl_os_note_work(enum wtl_os_work what);

/* Notes that the program gets the address of memory of PE `pe`, which is on its node. In simulation stores through it
 * end waits of that PE, although they ring no doorbell. */
static inline void wtl_os_near_address(int pe);

/* Whether other PEs have such addresses of the calling PE's memory. In simulation only. */
static inline bool wtl_os_is_stored_directly(void);

/* Notes that a test found nothing. In simulation this takes 0.1 us, so that a loop of tests ends. */
static inline void wtl_os_test_missed(void);

/* --- sleeping on a network --- */

/*
 * An event, an eventfd, ends a sleep on the network. Any thread may set it. Opening returns -1 and sets errno on
 * failure. In simulation a PE has one event, and its number is no descriptor.
 */
int wtl_os_event_open(void);
void wtl_os_event_close(int event);
void wtl_os_event_set(int event);

/*
 * Sleeps until `descriptor` is readable (simulation: until a message arrives) or `event` is set, at most `seconds`
 * (INFINITY: no limit). Resets the event. Returns 1 if one of them happened, 0 if the time passed, -1 if interrupted.
 * With `how` WTL_OS_SPINS a simulated core polls meanwhile; Linux ignores `how`.
 */
int wtl_os_await_network(int descriptor, int event, double seconds, enum wtl_os_idle_mode how);

/* Has a message arrived that another thread, which holds the network, keeps from the caller? Then the time of a
 * handover passes. In simulation only. */
static inline bool wtl_os_network_is_held(void);

/* Sets whether an agent on the same core wakes the PE's blocked threads. If so, only the agent's own wake-ups take
 * simulated time. */
static inline void wtl_os_agent_wakes(bool does);
/* Notes that the agent was woken while no thread of the PE polled. */
static inline void wtl_os_agent_woken(void);

/* --- the process --- */

/* Fills `to` with `n` random bytes. In simulation they are the same in each run. False: the kernel provides none. */
bool wtl_os_random(void *to, size_t n);

/* Writes the path of the program's file into `path`, with a final '\0'. False if it is unknown. */
bool wtl_os_program(char *path, size_t size);

struct dl_phdr_info;
/* Does the same as dl_iterate_phdr, but begins with the calling PE's program in simulation, too. */
int wtl_os_each_object(int (*visit)(struct dl_phdr_info *info, size_t size, void *arg), void *arg);
/* True if this object is the calling PE's program. `index` is its position in the order of wtl_os_each_object. */
bool wtl_os_is_program(const struct dl_phdr_info *info, int index);

/* The number of neighbouring cores that share a clock, and of those in a package, in simulation; elsewhere the files in
 * sysfs say so. */
static inline int wtl_os_cores_of_clock(void);
static inline int wtl_os_cores_of_package(void);

/* Writes a text that is the same on all nodes of one machine (namespaces, containers). "": unknown. */
void wtl_os_machine_id(char *id, size_t size);

#endif
