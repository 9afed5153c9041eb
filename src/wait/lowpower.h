/*
 * lowpower.h - the door to the instruction with which a core waits for a store at less power than by spinning.
 *
 *   kind     arm            wait              what ends it               limits
 *   umwait   UMONITOR       UMWAIT            a store to the line, time  IA32_UMWAIT_CONTROL: the OS may end it earlier
 *                                                                        (Linux: 100,000 ticks) and forbid C0.2
 *   tpause   -              TPAUSE            time alone                 the same
 *   mwaitx   MONITORX       MWAITX            a store to the line, time  2^32 - 1 ticks at once
 *   wfe      LDXRB          WFET, else WFE    a store to the line, time  WFE: an event of the kernel's, every 100 us
 *
 * To wait: arm the line, look whether what is waited for is there, and only if it is not, wait. A store between arm and
 * wait ends the wait at once; without the look in between, a store before the arming would be missed.
 *
 * A wait may end early, and for no reason at all (interrupts, other stores to the line, the OS's limit): look again,
 * and arm again. It ends no later than `until` and what leaving the state takes (about a microsecond; WFE without WFET:
 * the event stream's period). It never sleeps in the kernel: the core is not given to others. tpause sees no store, so
 * its `until` is what the waiter can afford to come late.
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

/* "umwait": the setting's word for it. */
const char *wtl_lowpower_name(enum wtl_lowpower kind);

/* NULL where this machine has the kind; else why not. Each instruction is tried once, guarded, before it counts as had:
 * some virtual machines show one that they then refuse. */
const char *wtl_lowpower_lacks(enum wtl_lowpower kind);

/*
 * The kind for a value of the setting WATTLE_LOWPOWER (settings.lowpower.number). True with *kind, which is
 * WTL_LOWPOWER_NONE where auto finds nothing; false, with the error in `why`, where the value demands a kind that this
 * machine lacks. Whatever goes into the two functions below must have come out of this one.
 */
bool wtl_lowpower_choose(long long setting, enum wtl_lowpower *kind, char *why, size_t size);

/* Watches the cache line of `line` from now on. */
void wtl_lowpower_arm(enum wtl_lowpower kind, const volatile void *line);

/* Waits as said above; `until` in ticks of wtl_ticks. False, at once, where there is no instruction to wait with. */
bool wtl_lowpower_wait(enum wtl_lowpower kind, uint64_t until);

#endif
