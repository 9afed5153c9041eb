/*
 * messages.h - models active messages on a node (src/am/am_send.c, am_space.c, am_run.c, am_agent.c, am_mutex.c), and
 * the waits that take them (src/wait/door.c), as steps.
 *
 * Each function has the name of the C function that it models, and its lines in the same order. One PE receives. The
 * scenario sets the number of slots of its ring. A message has no payload except its place, and its handler stores to
 * private memory. A message from another node differs in one way: the thread that delivers it may take it itself, and
 * then wakes no thread.
 *
 * The agent's rests: a rest of 1-4 ms ends by itself, so it is no step. A rest of up to 500 ms, while threads sleep,
 * must not have to end by its limit, so only a nudge ends it. The length that a rest has grown to is left open. Not
 * modelled: threads and the agent poll for a while after handlers ran; long messages come in pieces; the head is
 * published when an eighth of the ring has been taken.
 */
#ifndef WTL_TESTS_MODEL_MESSAGES_H
#define WTL_TESTS_MODEL_MESSAGES_H

#include "doorbell.h"

namespace model {

/* The PE that receives. */
struct receiver {
  int slots;
  bool has_agent;     /* that runs handlers */
  bool shows_head;    /* a thread may wait for it */
  bool keeps_replies; /* where the ring for its handlers' replies has no space */
};

constexpr receiver TWO_SLOTS = {2, false, false, false}, ONE_SLOT = {1, false, true, false},
                   HEAD_AWAITED = {2, false, true, false}, WITH_AGENT = {2, true, false, false},
                   FULL_AROUND = {2, true, false, true};

/* --- threads of the PE that receives; `ends`: with so many messages handled --------------------------------------- */

/* Sleeps. A thread that holds a mutex runs no handlers. */
program mail_sleeper(const std::string &name, receiver r, int ends, mutant m);
program holder_asleep(const std::string &name, int ends, mutant m);
/* Has begun to take messages by a poll, and computes on. */
program taker(receiver r, mutant m);
/* Serves the network: a message comes by it; takes what is there; goes on. */
program bearer(receiver r, int position, mutant m);
/* The agent, and threads whose waits it knows of: one that is about to sleep until `word` is set, one that was just
 * woken, and one that still looks. */
program handlers_agent(receiver r, mutant m, bool must_end = false);
program counted_sleeper(const std::string &name, receiver r, location word, mutant m);
program counted_leaver(receiver r, mutant m);
program counted_looker(const std::string &name, receiver r, location word, mutant m);
/* Ends the agent. */
program handlers_stopper();
/* Lock, unlock. */
program locker(const std::string &name, mutant m);

/* --- others ------------------------------------------------------------------------------------------------------- */

/* Sends messages to these places of the ring, when there is space for them. */
program sender(const std::string &name, receiver r, const std::vector<int> &positions, mutant m);
/* Sends two messages, and waits for space in between; one, and waits until it is handled. */
program sender_through_one_slot(mutant m);
program sender_with_quiet(const std::string &name, int position, mutant m);
/* Has sent one there, and waits. */
program in_quiet(const std::string &name, int position, mutant m);
/* Makes room in the ring for replies. */
program taker_of_replies(receiver r, mutant m);
/* Is content when so many messages were handled. */
program observer(int ends);

} // namespace model

#endif
