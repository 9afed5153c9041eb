/*
 * doorbell.h - models the doorbell (src/wait/doorbell.c) as steps, with the locations that threads share, and the
 * mutants.
 *
 * Each function has the name of the C function that it models, and its lines in the same order. Some parts are not
 * modelled: rung_at, ticks and counts, because no thread waits for them, and the spurious failures of
 * compare_exchange_weak (one step does the work of its loop).
 */
#ifndef WTL_TESTS_MODEL_DOORBELL_H
#define WTL_TESTS_MODEL_DOORBELL_H

#include "machine.h"

namespace model {

/* Deliberate errors. */
enum class mutant : uint8_t {
  none,
  no_writer_fence,        /* words are stored with release order, no fence follows a block */
  no_sleeper_fence,       /* none in wtl_bell_sleep */
  plain_registration,     /* `asleep` is loaded and stored rather than exchanged, and no fence follows */
  no_registration,        /* `asleep` says nothing */
  registration_too_late,  /* after the recheck */
  no_recheck,             /* the sleeper does not look again */
  seen_too_late,          /* rung is read after the recheck */
  rung_too_early,         /* the bell before the store */
  bell_not_moved,         /* wakes without rung += 1 */
  first_watch_stays,      /* a second sleeper's watch is not merged */
  last_one_out,           /* a thread that leaves publishes that no thread sleeps */
  arm_without_look,       /* the agent sleeps on the network although something came */
  no_nudge,               /* take_over does not nudge the agent */
  nudge_looks_first,      /* parked is read before nudges += 1 */
  nudges_seen_too_late,   /* the agent reads nudges after it looked who serves */
  sleeper_counted_late,   /* take_over: sleepers += 1 after the nudge */
  resume_without_nudge,   /* a resuming thread does not notify the agent that others sleep */
  arrival_acq_rel,        /* an arrival at a barrier's counter has acq_rel order */
  no_look_after_arming,   /* the agent sleeps on the network without another look at who serves */
  kernel_without_barrier, /* FUTEX_WAIT compares without a barrier before */
  no_alarm,               /* a ring wakes only those that sleep on the bell */
  alarm_told_late,        /* a sleeper's alarm is published after the sleep */
  armed_with_held,        /* a thread sleeps on the network although an operation is held */
  held_untold,            /* a thread that holds an operation does not wake the sleeper on the network */
  parked_all_night,       /* a waking thread does not notify the agent that others sleep */
  /* Of the notice of sleepers. */
  no_barrier_of_all,    /* a sleeper posts the notice without a barrier in the writers */
  notice_read_early,    /* the writer reads the notice before it stores */
  posted_after_test,    /* the sleeper tests its condition before it posts */
  posting_trusted,      /* a sleeper relies on a notice that another one is still posting */
  withdrawing_trusted,  /* a sleeper relies on a notice that a writer is withdrawing */
  withdrawn_unlooked,   /* a writer withdraws the notice without looking at the bells */
  withdrawn_at_once,    /* POSTED -> NONE after the look, without WITHDRAWING */
  unnumbered,           /* postings have no number */
  unfenced_with_notice, /* a writer that finds the notice looks at the bell without a barrier */
  /* Of active messages. */
  mail_after_message,   /* has_messages is set without order, and when the message can be seen already */
  mail_relaxed,         /* has_messages is loaded and stored without order */
  message_released,     /* a message is shown with release order, and no fence follows */
  no_look_for_mail,     /* is_called does not ask for messages */
  no_look_after,        /* a thread that stops taking does not check again */
  look_before_release,  /* it looks while it still has `taken` */
  no_wake_after,        /* it checks, and wakes no thread */
  no_fence_after,       /* taken = 0 is seq_cst, and no fence follows */
  handler_rings_nobody, /* a thread that ran handlers does not ring */
  no_look_by_agent,     /* the agent sleeps without another look */
  agent_not_rung,       /* a message rings only the bell of those who wait */
  rest_without_end,     /* the agent's short rest, too, only ends when it is nudged */
  no_nudge_at_leaving,  /* the last sleeper does not notify the agent that it left */
  nudge_if_seen,        /* it moves nudges on only if it sees the agent rest */
  rest_unlooked,        /* the agent rests long without checking that a thread sleeps */
  head_released,        /* no fence between the head's store and the look at who waits for it */
  waiters_looked_first, /* waiters are loaded before the head is stored */
  no_waiter,            /* a thread that waits for the head, or a mutex, does not publish it */
  no_wish,              /* it does not publish the head that it waits for */
  kept_unwatched,       /* a thread that keeps a reply does not publish it */
  owner_released,       /* a mutex's owner is cleared with release order */
  unlock_looks_first    /* unlock loads waiters before it clears the owner */
};

/* A scenario has those of them that its threads touch. */
enum location {
  X,
  Y,
  ASLEEP,
  RUNG,
  OTHERS,
  SLEEPERS,
  VISITS,
  NUDGES,
  PARKED,
  NET_LOCK,
  STOP,
  WAKE,
  /* Of active messages (messages.h). */
  TURN_0,
  TURN_1,
  HAS_MAIL,
  POSITION,
  TAKEN,
  HEAD,
  WAITERS,
  WISH,
  KEPT,
  ROOM,
  KEPT_WAITERS,
  AGENT_ASLEEP,
  AGENT_RUNG,
  SENDER_ASLEEP,
  SENDER_RUNG,
  LOOKING,
  THREADS_ASLEEP,
  PARKED_LONG,
  OWNER,
  MUTEX_WAITERS,
  /* Of who sleeps on the network. */
  ALARM,
  ALARM_COUNT,
  IN_BED,
  HELD,
  NOTICE,
  N_LOCATIONS
};

std::vector<std::string> location_names();

/* The cache lines of a PE's slice that X and Y may lie on, as a watch counts them. */
enum watch { WATCH_ALL, WATCH_CONTROL, LINE_0, LINE_1 };

/* A bell's words; the first ones are the PE's own. */
struct bell {
  location asleep, rung;
};

constexpr bell PE_BELL = {ASLEEP, RUNG}, AGENT_BELL = {AGENT_ASLEEP, AGENT_RUNG},
               SENDER_BELL = {SENDER_ASLEEP, SENDER_RUNG};

/* Registers of the functions below: `rung` as the sleeper saw it, a word that is looked at, and the answer to the last
 * question. */
enum { SEEN, WORD, NOW, FIRST_FREE_REGISTER };

constexpr order relaxed = order::relaxed, acquire = order::acquire, release = order::release, seq_cst = order::seq_cst;

change plus(int n);
test is_set(int reg);
test is_clear(int reg);

void wtl_bell_ring(program &p, bell b, mutant m);
/* Only for a sleeper that watches the line, or the control data. */
void wtl_bell_ring_at(program &p, bell b, watch line, mutant m);
/* Rings, in this way, if there is a sleeper. */
void if_has_sleeper(program &p, bell b, const program::block &ring);
/* `ready` leaves its answer in NOW. `sleeper`: a sleep elsewhere. */
void wtl_bell_sleep(program &p, bell b, watch watches, const program::block &ready, mutant m,
                    const program::block &sleeper = nullptr);

} // namespace model

#endif
