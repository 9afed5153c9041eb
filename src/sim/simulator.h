/*
 * simulator.h - declares the machine that a simulated PE runs on: its time, core, threads, and messages to other PEs.
 *
 * DESIGN. The simulator (simulator.cc) is a program that loads a copy of the simulated program for each PE, so that
 * each PE has its own variables. It runs their threads one at a time (schedule.h). A thread's turn ends only when it
 * calls one of these functions, so no other code of the job runs meanwhile. Simulated time does not pass within a turn.
 * The program counts its computation (libc_calls.c) and hands the time over by wtl_sim_compute.
 *
 * A PE's threads call these functions, which may give other threads a turn. "No turn" marks a function that does not.
 * Times are in seconds.
 */
#ifndef WTL_SIM_SIMULATOR_H
#define WTL_SIM_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- PE and time; no turns --- */

int wtl_sim_pe(void);
int wtl_sim_pes(void);
/* The number of consecutive PEs on one node. The last node may have fewer. */
int wtl_sim_pes_a_node(void);
int *wtl_sim_first_pes(void); /* the first PE of each node; one array for all PEs, which do not change it */
double wtl_sim_now(void);
/* Returns the calling thread's local memory, WTL_SIM_LOCAL_BYTES, which is zero at first. */
enum { WTL_SIM_LOCAL_BYTES = 768 };
void *wtl_sim_local(void);

/* --- the core --- */

/* State of the core while no thread of the PE computes. The power depends on it. */
enum wtl_sim_idle_mode { WTL_SIM_SPINS, WTL_SIM_YIELDS, WTL_SIM_SLEEPS };

/* Keeps the core busy with work that takes `seconds` at the base clock. */
void wtl_sim_compute(double seconds);
/* Keeps the core busy with reading and writing `bytes` of memory. The cores of a socket share its bandwidth. Part of
 * the bytes moved in the past `meanwhile` seconds already, in which the core computed. */
void wtl_sim_move(double bytes, double meanwhile);
/* Sets how the core rests from now on. Returns the previous state. */
enum wtl_sim_idle_mode wtl_sim_set_idle_mode(enum wtl_sim_idle_mode how);
enum wtl_sim_idle_mode wtl_sim_get_idle_mode(void); /* the present state; no turn */
/* The calling thread begins or stops polling. While a thread polls, the core spins in any state. No turn. */
void wtl_sim_set_polling(bool does);
/* Returns the time that the PE was on its core, computing or polling, since the simulation began. No turn. */
double wtl_sim_cpu_seconds(void);
/* Returns the cycles in which the PE's core computed since the simulation began. No turn. */
double wtl_sim_cycles(void);

/* Power of a core's share of the node that does not depend on the core's activity, in W, and energy for each byte, in
 * J. The uncore's power is that of a whole socket. _doubt: half the width of the figure's range. */
typedef struct wtl_sim_draws {
  double idle_w, uncore_w, uncore_w_plus_minus, network_w, network_w_plus_minus, network_byte_j,
      network_byte_j_plus_minus, dram_w, dram_w_plus_minus, dram_byte_j, dram_byte_j_plus_minus;
} wtl_sim_draws;

/* Joules of this PE and of its core's share of the node, since the simulation began. `core`: by the platform's watts
 * for each clock and activity, without `idle`. The first seven add up to all joules. */
typedef struct wtl_sim_energy {
  double core, idle, uncore, network, network_idle, dram, dram_idle;
  double uncore_plus_minus, network_plus_minus,
      dram_plus_minus; /* the machine profile states those of core and idle (meter_simgrid.c) */
} wtl_sim_energy;

wtl_sim_energy wtl_sim_joules(void); /* no turn */
/* Counts `bytes` that the PE has read from and written to memory, and not to a cache. No turn. */
void wtl_sim_count_bytes(double bytes);
/* Return the number of clocks, the base clock, and the kHz of a clock. No turns. */
size_t wtl_sim_clocks(void);
size_t wtl_sim_base_clock(void);
uint32_t wtl_sim_clock_khz(size_t clock);
/* Returns how many seconds a second of work at the base clock takes at the present clock. No turn. */
double wtl_sim_pace(void);
/* Requests a clock for the core of the PE in place `slot` of the caller's node, and for the node's cores that share its
 * clock. Cores of one clock domain run at the highest that is requested. Returns true if the clock has changed
 * because of it. The change has then taken the caller its time. */
bool wtl_sim_set_clock(int slot, size_t clock);
/* Limits the average watts of a package: that of the PE in place `slot` of the caller's node. No turn. */
void wtl_sim_limit_package(int slot, double watts);
int wtl_sim_cores_of_package(void); /* the number of cores of a node in a package; no turn */
int wtl_sim_cores_of_clock(void);   /* the number of cores of a node that share a clock; no turn */
/* Work of the runtime on the core: enum wtl_os_work (os/os.h), in its order. */
enum wtl_sim_work { WTL_SIM_CALL, WTL_SIM_FAR, WTL_SIM_REQUEST, WTL_SIM_HANDLER, WTL_SIM_WORKS };
/*
 * Times from the machine profile. Those of computation are at the base clock. No turns.
 *
 * `wake`: from the wake-up of a sleeping thread until it runs. `block`: an average basic block of the program. `near`:
 * an access to memory of another PE of the node, beside the copy of more than a cache line. `levels`: the price of a
 * copied byte by the level of memory. `copy_socket`: a byte that the cores of a socket copy together out of memory (0:
 * they do not share it). `message` and `receive`: sending and receiving a message, `record`: each small operation in
 * it, `serve`: the same at the receiver only, `byte`: each byte, at both ends. `leaves`: the part of `message` after
 * which the message leaves. A message of more than `segment` bytes (0: no limit) leaves after its first `segment`
 * bytes, so that both ends copy at the same time. `acknowledge`: added for the receiver of every second message in a
 * row, if it has sent nothing back meanwhile.
 *
 * Of a network card that moves bytes by itself: `post`: starting a put or a get, and taking its completion. `enroll`:
 * registering memory with the card, and `page`: each page of 4 KiB in it. `fetch`: from the card's request for bytes of
 * memory until they come; the core has no part in it. `latency`: from one card to another. `has_cards`: the network has
 * such cards.
 */
enum wtl_sim_level { WTL_SIM_L1, WTL_SIM_L2, WTL_SIM_L3, WTL_SIM_MEMORY, WTL_SIM_LEVELS };
typedef struct wtl_sim_level_price {
  size_t bytes; /* of a cache, for one core */
  double copy;  /* s: a copied byte, which is read and written; a byte that is read or written takes half of it */
  double clock; /* the share of `copy` that depends on the core's clock */
} wtl_sim_level_price;
typedef struct wtl_sim_prices {
  double wake, block, near, message, receive, byte, clock_change, leaves, acknowledge, record, segment, serve;
  double work[WTL_SIM_WORKS]; /* of the runtime, by kind */
  double post, enroll, page, fetch, latency;
  bool has_cards;
  double copy_socket;
  wtl_sim_level_price levels[WTL_SIM_LEVELS];
} wtl_sim_prices;
const wtl_sim_prices *wtl_sim_price(void);

/* Returns the smallest level that holds so many bytes of a core. */
static inline enum wtl_sim_level wtl_sim_level_of(uint64_t bytes)
{
  const wtl_sim_level_price *levels = wtl_sim_price()->levels;
  int level = WTL_SIM_L1;
  while (level < WTL_SIM_MEMORY && bytes > levels[level].bytes) level++;
  return (enum wtl_sim_level)level;
}

/* Returns the seconds of a byte that is copied within a level, if a second of work at the base clock takes `pace`. */
static inline double wtl_sim_copy_s(wtl_sim_level_price level, double pace)
{
  return level.copy * (level.clock * pace + 1 - level.clock);
}

/* --- threads of a PE --- */

/* Blocks the caller for `seconds`. */
void wtl_sim_pause(double seconds);
/* Spends the time of a wake-up in the caller, which has slept. It draws the same power as computing. */
void wtl_sim_wake_up(void);
/* Counts `seconds` of the past sleep as waking up, because the caller was awake then to poll. No turn. */
void wtl_sim_was_awake(double seconds);
/* Blocks until wtl_sim_wake for the same word, at most `seconds` (INFINITY: no limit). True if it was woken. */
bool wtl_sim_block(const void *word, double seconds);
/* Wakes up to `n` threads that block on `word`, in the order in which they blocked. */
void wtl_sim_wake(const void *word, int n);
bool wtl_sim_is_awaited(const void *word); /* true if a thread blocks on it; no turn */
/* True if a thread on another core ended the caller's last block; a look at memory did. No turns. */
bool wtl_sim_was_woken_by_other(void);
bool wtl_sim_was_roused(void);
/* Starts a thread of the calling PE and returns its handle. `serves`: the thread waits on behalf of others, so the
 * report of a deadlock leaves it out. */
void *wtl_sim_spawn(void *(*run)(void *), void *arg, bool serves);
/* Waits for the thread's end and returns its result. */
void *wtl_sim_join(void *thread);
void *wtl_sim_thread(void); /* the caller's handle; no turn */
/* Ends the calling PE with exit code `status`. */
void wtl_sim_exit(int status) __attribute__((noreturn));

/* Called after the program has loaded a library. Ends the simulation if PEs would share variables of the library. */
void wtl_sim_loaded(void);

/* --- messages --- */

/* Sends a message to PE `to`. It has `bytes` on the wire and leaves `after` seconds from now, because the caller may be
 * ahead of time. Messages between two PEs in one `stream` (0 or 1) arrive in order. The simulator does not access
 * `what`, which the receiver gets. No turn. */
void wtl_sim_send(int to, void *what, size_t bytes, int stream, double after);
/* Delivers `what` to PE `to` at once and at no cost: a report on a message that this PE has sent. No turn. */
void wtl_sim_hand_back(int to, void *what);
/* Returns the next message that has arrived; NULL: there is none. No turn. */
void *wtl_sim_take(void);
bool wtl_sim_has_message(void); /* no turn */
/* Blocks until a message is there or wtl_sim_nudge is called, at most `seconds`. False: neither happened. Only one
 * thread of a PE may call it at a time. */
bool wtl_sim_await(double seconds);
void wtl_sim_nudge(void);

/* --- memory access by network cards ---
 *
 * A step of a card is called between turns, when no PE computes. Of this file it may only call wtl_sim_price,
 * wtl_sim_transfer, wtl_sim_later, wtl_sim_stored and wtl_sim_hand_back. */
typedef void wtl_sim_step(void *what, uint64_t zero);

/* Sends `bytes` on the wire from the card of PE `from` to that of PE `to`, `after` seconds from now. At their arrival
 * calls step(what, 0). Transfers between two PEs arrive in order. No core has part in it. No turn. */
void wtl_sim_transfer(int from, int to, size_t bytes, double after, wtl_sim_step *step, void *what);
/* Calls step(what, 0) `seconds` from now. No turn. */
void wtl_sim_later(double seconds, wtl_sim_step *step, void *what);
/* A card has stored into the memory of PE `pe`. Wakes its threads that block and poll memory and network. No turn. */
void wtl_sim_stored(int pe);
/* The calling thread polls memory or the network, or no longer. While it polls memory, a store through an address
 * (wtl_sim_has_address) ends wtl_sim_block as wtl_sim_wake would, or the next one if the thread does not block. While
 * it polls the network, so does a message if no thread waits in wtl_sim_await, and while it polls both, a store by a
 * card. No turn. */
void wtl_sim_poll(bool memory, bool network);

/* --- memory that the PEs of a node share --- */

/* Returns `bytes`, a multiple of WTL_SIM_ALIGN, of zeroed memory for a node at such an address, and their place in a
 * file. Nodes that take as much have one mapping and one file together. NULL: there is no space. No turn. */
enum { WTL_SIM_ALIGN = 16 << 20 };
void *wtl_sim_node_memory(size_t bytes, int *file, size_t *place);

/* The caller's program has the address of memory of PE `pe`: whenever it passes time, threads of that PE that poll
 * memory look, because stores through the address wake no thread that blocks. No turn. */
void wtl_sim_has_address(int pe);
bool wtl_sim_is_stored_directly(void); /* another PE has such an address of the caller's memory; no turn */

/* --- MPI --- */

/*
 * Has SimGrid's MPI library run call(arguments) on another stack. There wtl_sim_thread returns NULL, and only functions
 * of this file without a turn and without a PE may be called. Afterwards over(what, 0) is called between turns; of this
 * file it may only call wtl_sim_wake. A PE has one call at a time. No turn.
 */
void wtl_sim_carry_out(void (*call)(void *), void *arguments, void (*over)(void *, uint64_t), void *what);

/* Returns SimGrid's function of that name, although the program defines the name, too; NULL: there is none. No turn. */
void *wtl_sim_entry(const char *name);

/* --- the job --- */

/* Values that PEs exchange while the job starts. All PEs can look up a published value after the next wtl_sim_barrier,
 * which is a barrier of all PEs and takes no simulated time. */
void wtl_sim_publish(const char *key, const char *value);
bool wtl_sim_lookup(int pe, const char *key, char *value, size_t size);
void wtl_sim_barrier(void);

/* Notes for the report of a deadlock that the calling thread waits in `call`, called at `site` of the program. The
 * function wtl_sim_call_name of the front end names the call. Site 0: in no call of the program. No turn. */
void wtl_sim_waits(unsigned call, uintptr_t site);

/* Returns the path of the program of which the caller is a copy. No turn. */
const char *wtl_sim_program(void);

#ifdef __cplusplus
}
#endif

#endif
