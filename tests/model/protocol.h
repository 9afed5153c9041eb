/*
 * protocol.h - the doorbell (src/wait/doorbell.c, door.c), those who ring it (src/pgas, src/fabric), and the progress agent
 * (src/fabric/agent.c), as steps.
 *
 * Each function is named as the C function it stands for and has its lines in its order. Not modelled: rung_at, ticks and counts (nobody
 * waits for them); the spurious failures of compare_exchange_weak (one step does what its loop does); what the numbers of a wait are (a waiter
 * may spin for any number of turns).
 */
#ifndef WTL_TESTS_MODEL_PROTOCOL_H
#define WTL_TESTS_MODEL_PROTOCOL_H

#include "machine.h"

namespace model {

/* What is wrong on purpose. */
enum class mutant : uint8_t {
  none,
  no_writer_fence,       /* words are stored with release order, no fence follows a block */
  no_sleeper_fence,      /* none in wtl_bell_sleep */
  plain_registration,    /* `asleep` is loaded and stored rather than exchanged, and no fence follows */
  no_registration,       /* `asleep` says nothing */
  registration_too_late, /* after the recheck */
  no_recheck,            /* the sleeper does not look again */
  seen_too_late,         /* rung is read after the recheck */
  rung_too_early,        /* the bell before the store */
  bell_not_moved,        /* wakes without rung += 1 */
  first_watch_stays,     /* a second sleeper's watch is not merged */
  last_one_out,          /* who leaves says that nobody sleeps */
  arm_without_look,      /* the agent sleeps on the network although something came */
  no_nudge,              /* take_over tells nobody */
  nudge_looks_first,     /* parked is read before nudges += 1 */
  nudges_seen_too_late,  /* the agent reads nudges after it looked who serves */
  sleeper_counted_late,  /* take_over: sleepers += 1 after the nudge */
  resume_without_nudge,  /* who resumes does not tell that others sleep */
  arrival_acq_rel,       /* an arrival at a barrier's counter has acq_rel order */
  no_look_after_arming,  /* the agent sleeps on the network without another look at who serves */
  kernel_without_barrier /* FUTEX_WAIT compares without a barrier before */
};

enum location { X, Y, ASLEEP, RUNG, OTHERS, SLEEPERS, VISITS, NUDGES, PARKED, NET_LOCK, STOP, WAKE, N_LOCATIONS };

/* The cache lines of a PE's slice that X and Y may lie on, as a watch counts them. */
enum watch { WATCH_ALL, WATCH_CONTROL, LINE_0, LINE_1 };

/* Holds when the word is at least that. */
struct condition {
  location word;
  int at_least;
  watch watches;
};

/* How a writer makes a condition true. */
enum class way { word, block, amo, control, arrival, release };

/* Waits without an agent: every PE of the node stores by itself. */
program sleeper(const std::string &name, const std::vector<condition> &waits, mutant m);
program writer(const std::string &name, way by, location word, watch line, mutant m);

/* On several nodes: a thread that waits, spinning first; the agent; and what arrives, parcel after parcel. */
program waiting_thread(const std::string &name, const std::vector<condition> &waits, mutant m);
/* Parts of a wait, to have two at a time: one thread that has stood by and goes to sleep, one that spins until its condition holds. */
program thread_about_to_sleep(const std::string &name, const condition &c, mutant m);
program spinning_thread(const std::string &name, const condition &c, mutant m);
program agent(mutant m, bool must_end = false);
program network(int parcels);
program stopper();

std::vector<std::string> locations();
/* What they hold when `waiting` threads have stood by. */
std::vector<uint8_t> at_start(int waiting);

} // namespace model

#endif
