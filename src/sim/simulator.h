/*
 * simulator.h - the machine that a simulated PE runs on: its time, its core, its threads, and messages to other PEs.
 *
 * The simulator (simulator.cc) is a program that loads a copy of the simulated program for each PE, so that each has
 * its own variables, and runs their threads by turns (schedule.h). A thread runs until it calls one of these functions
 * (those that say so); nothing else of the job runs meanwhile. Time stands still between the calls, but for what the
 * program computed, which it counts itself (libc_calls.c) and hands over with wtl_sim_compute.
 *
 * Unless noted all are called by a PE's threads, and give others a turn. Times are in seconds.
 */
#ifndef WTL_SIM_SIMULATOR_H
#define WTL_SIM_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- who and when; no turns --- */

int wtl_sim_pe(void);
int wtl_sim_pes(void);
double wtl_sim_now(void);
/* Zeroed memory of the calling thread, WTL_SIM_LOCAL_BYTES of it. */
enum { WTL_SIM_LOCAL_BYTES = 768 };
void *wtl_sim_local(void);

/* --- the core --- */

/* What the core draws while no thread of the PE computes. */
enum wtl_sim_rest { WTL_SIM_SPINS, WTL_SIM_YIELDS, WTL_SIM_SLEEPS };

/* The core is busy for as long as `seconds` of work take at the base clock, at the present clock. */
void wtl_sim_compute(double seconds);
/* Sets how the core rests from now on; returns how it did. */
enum wtl_sim_rest wtl_sim_set_rest(enum wtl_sim_rest how);
enum wtl_sim_rest wtl_sim_resting(void); /* how it does; no turn */
/* The calling thread looks on from now on, or does no more, however the core rests beside. No turn. */
void wtl_sim_look_on(bool does);
/* Time that the PE was on its core, computing or looking on, since the simulation began. No turn. */
double wtl_sim_cpu_seconds(void);

/* What a core's share of the node draws whatever it does, W, and J a byte; _doubt: half the width of the range of the
 * same. The uncore's is a socket's. */
typedef struct wtl_sim_draws {
  double idle_w, uncore_w, uncore_w_doubt, network_w, network_w_doubt, network_byte_j, network_byte_j_doubt, dram_w,
      dram_w_doubt, dram_byte_j, dram_byte_j_doubt;
} wtl_sim_draws;

/* Joules since the simulation began, of this PE and of its core's share of the node. `core`: the platform's watts, by
 * clock and by what the core does, in time, beyond `idle`. Their sum is all there is. */
typedef struct wtl_sim_energy {
  double core, idle, uncore, network, network_idle, dram, dram_idle;
  double doubt_of_uncore, doubt_of_network,
      doubt_of_dram; /* of core and idle the machine profile tells (meter_simgrid.c) */
} wtl_sim_energy;

wtl_sim_energy wtl_sim_joules(void); /* no turn */
/* It has moved so many bytes, read and written, through memory. No turn. */
void wtl_sim_moved(double bytes);
/* Number of clocks, the present one, the base one; and kHz of one. No turns. */
size_t wtl_sim_clocks(void);
size_t wtl_sim_base_clock(void);
uint32_t wtl_sim_clock_khz(size_t clock);
/* Seconds that a second's work at the base clock takes at the present one. No turn. */
double wtl_sim_pace(void);
/* Asks for a clock. Cores that share one run at the highest that is asked for. True where it has changed by this: that
 * has taken the caller what a change takes. */
bool wtl_sim_set_clock(size_t clock);
/* What things take, of the machine's description; no turns. `wake`: a thread that slept, until it runs. `block`: a
 * basic block of the program, on average, at the base clock. `copy`: a byte that it has the C library copy, at the base
 * clock, of which the share `copy_clock` follows the clock. `message`, `receive`: what sending and receiving one cost
 * the core, `record` each small operation in it, and `byte` each byte, at either end. `leaves`: after so much of
 * `message` it has left, and what is longer than `segment` bytes (0: nothing is) leaves with the first so many, so that
 * both ends copy at once. `acknowledge`: what every second message in a row costs its receiver besides, if nothing went
 * back in between. */
typedef struct wtl_sim_prices {
  double wake, block, copy, copy_clock, message, receive, byte, clock_change, leaves, acknowledge, record, segment;
} wtl_sim_prices;
const wtl_sim_prices *wtl_sim_price(void);

/* --- threads of a PE --- */

/* Lets time pass. */
void wtl_sim_pause(double seconds);
/* The caller, which slept, is woken: that takes what it takes, and draws what computing does. */
void wtl_sim_wake_up(void);
/* Of what it has slept it was awake for so long, to look: that much of its sleep was waking up. No turn. */
void wtl_sim_was_awake(double seconds);
/* Blocks until wtl_sim_wake for the same word, at most `seconds` (INFINITY: for ever). True if it was woken. */
bool wtl_sim_block(const void *word, double seconds);
/* Wakes up to `n` threads that block on `word`, those that came first first. */
void wtl_sim_wake(const void *word, int n);
bool wtl_sim_is_awaited(const void *word); /* is there one? No turn. */
/* Starts a thread of the calling PE; its handle. `serves`: it waits for others' sake, so its wait is none of a
 * deadlock's. */
void *wtl_sim_spawn(void *(*run)(void *), void *arg, bool serves);
/* Waits for its end; what it returned. */
void *wtl_sim_join(void *thread);
void *wtl_sim_thread(void); /* the caller's handle; no turn */
/* Ends the calling PE: its first thread returns `status`. */
void wtl_sim_exit(int status) __attribute__((noreturn));

/* The program has loaded a library: ends the simulation where PEs would share its variables. */
void wtl_sim_loaded(void);

/* --- messages --- */

/* Hands a message of `bytes` on the wire to the network, where it leaves `after` seconds from now: the caller may be
 * ahead of time. It is delivered to PE `to`: messages of the same `stream` (0 or 1) of two PEs in order. The simulator
 * never looks into `what`. No turn. */
void wtl_sim_send(int to, void *what, size_t bytes, int stream, double after);
/* Delivers to PE `to` at once, and at no cost, what it is to know of a message of its own. No turn. */
void wtl_sim_hand_back(int to, void *what);
/* The next message that has arrived; NULL: there is none. No turn. */
void *wtl_sim_take(void);
bool wtl_sim_has_message(void); /* no turn */
/* Blocks until a message arrives, or has arrived, or the PE is nudged, `seconds` at most; false: none of them. One
 * thread a PE. */
bool wtl_sim_await(double seconds);
void wtl_sim_nudge(void);

/* --- MPI --- */

/* Has SimGrid's own MPI run call(arguments), on another stack: there wtl_sim_thread is NULL, and of this file it may
 * call only what gives no turn and is of no PE. When it is done, over(what, 0) is called between turns, where it may do
 * no more than wtl_sim_wake. One call a PE at a time. No turn. */
void wtl_sim_carry_out(void (*call)(void *), void *arguments, void (*over)(void *, uint64_t), void *what);

/* SimGrid's own function of a name that the program has one of, too; NULL: it has none. No turn. */
void *wtl_sim_entry(const char *name);

/* --- the job --- */

/* A notice board: `publish` is seen by all after the next meeting. All meet at no cost in time. */
void wtl_sim_publish(const char *key, const char *value);
bool wtl_sim_lookup(int pe, const char *key, char *value, size_t size);
void wtl_sim_meet(void);

/* For the report of a deadlock: in which call (wtl_sim_call_name of the program's front end names it), and where in the
 * program, the calling thread waits from now on; site 0: in none of the program's. No turn. */
void wtl_sim_waits(unsigned call, uintptr_t site);

/* Where the program lies that this is a copy of. No turn. */
const char *wtl_sim_program(void);

#ifdef __cplusplus
}
#endif

#endif
