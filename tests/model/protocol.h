/*
 * protocol.h - models a sleep by the doorbell (src/wait/door.c), the code that rings it (src/pgas, src/fabric), and
 * the progress agent (src/fabric/agent.c), as steps.
 *
 * Each function has the name of the C function that it models, and its lines in the same order. Some parts are not
 * modelled: rung_at, ticks and counts, because no thread waits for them, and the spurious failures of
 * compare_exchange_weak (one step does the work of its loop). The numbers of a wait are not modelled either: a waiter
 * may spin for any number of turns.
 */
#ifndef WTL_TESTS_MODEL_PROTOCOL_H
#define WTL_TESTS_MODEL_PROTOCOL_H

#include "doorbell.h"

namespace model {

/* Holds when the word is at least that. */
struct condition {
  location word;
  int at_least;
  watch watches;
};

/* How a writer makes a condition true. say: a small collective's number in its line (src/collective/flat_tree.c), the bytes left
 * out. */
enum class way { word, block, amo, control, arrival, release, say };

/* Waits without an agent: every PE of the node stores by itself. */
program sleeper(const std::string &name, const std::vector<condition> &waits, mutant m);
program writer(const std::string &name, way by, location word, watch line, mutant m);

/* On several nodes: a thread that waits, spinning first; the agent; and the network, which delivers parcels. */
program waiting_thread(const std::string &name, const std::vector<condition> &waits, mutant m);
/* Parts of a wait, to have two at a time: one thread that has stood by and goes to sleep, one that spins until its
 * condition holds. */
program thread_about_to_sleep(const std::string &name, const condition &c, mutant m);
program spinning_thread(const std::string &name, const condition &c, mutant m);
/* A PE that has its node for itself: it sleeps on the network. */
program thread_in_bed(const std::string &name, const std::vector<condition> &waits, mutant m);
program thread_about_to_lie_down(const std::string &name, const condition &c, mutant m);
/* A thread that holds an operation. The result of sending it sets X to 1. */
program holder(mutant m);
program agent(mutant m, bool must_end = false);
program network(int parcels);
program stopper();

} // namespace model

#endif
