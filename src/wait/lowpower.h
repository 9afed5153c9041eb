/*
 * lowpower.h - waits for a store by a CPU instruction that uses less power than spinning.
 *
 *   kind     arm            wait              ended by                  limits
 *   umwait   UMONITOR       UMWAIT            a store to the line, time  IA32_UMWAIT_CONTROL: the OS may end it earlier
 *                                                                        (Linux: 100,000 ticks) and forbid C0.2
 *   tpause   -              TPAUSE            time alone                 as for umwait
 *   mwaitx   MONITORX       MWAITX            a store to the line, time  2^32 - 1 ticks at once
 *   wfe      LDXRB          WFET, else WFE    a store to the line, time  WFE: an event of the kernel every 100 us
 *
 * To wait, arm the line, check the condition, and wait only if it does not hold. A store between arm and wait ends the
 * wait at once. Without the check, a store before the arming would be missed.
 *
 * A wait may end early for no visible reason (interrupts, other stores to the line, the limit of the OS): check and arm
 * again. It ends no later than `until` and the time to leave the state, about a microsecond. For WFE without WFET that
 * time is the period of the event stream. The core is not given to other processes meanwhile. tpause sees no store, so
 * its `until` must be a delay that the caller accepts.
 */
#ifndef WTL_WAIT_LOWPOWER_H
#define WTL_WAIT_LOWPOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wtl_lowpower {
  WTL_LOWPOWER_NONE,
  WTL_LOWPOWER_TPAUSE,
  WTL_LOWPOWER_UMWAIT,
  WTL_LOWPOWER_MWAITX,
  WTL_LOWPOWER_WFE,
  WTL_LOWPOWER_KINDS
};

/* Returns the word for it in the setting, such as "umwait". */
const char *wtl_lowpower_name(enum wtl_lowpower kind);

/* Returns NULL if this machine has the kind, else the reason why not. Each instruction is tried once, under a signal
 * handler: some virtual machines announce one that they refuse. */
const char *wtl_lowpower_lacks(enum wtl_lowpower kind);

/* Stores in *kind the kind for a value of WATTLE_LOWPOWER (settings.lowpower.number): WTL_LOWPOWER_NONE if auto
 * finds none. Returns false, with the error in `why`, if the value names a kind that this machine lacks. The two
 * functions below accept only a kind from here. */
bool wtl_lowpower_choose(long long setting, enum wtl_lowpower *kind, char *why, size_t size);

/* Watches the cache line of `line` from now on. */
void wtl_lowpower_arm(enum wtl_lowpower kind, const volatile void *line);

/* Waits as described above until tick `until` of wtl_ticks. Returns false at once if there is no such instruction. */
bool wtl_lowpower_wait(enum wtl_lowpower kind, uint64_t until);

#endif
