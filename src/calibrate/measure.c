#include "calibrate/measure.h"

const measurement measurements[WTL_PRICES] = {
    {WTL_PRICE_SPIN_OTHER, "store until another core sees it", true, true, false, measure_spin_other},
    {WTL_PRICE_LOWPOWER_WAKE, "the same, waiting by instruction", true, true, false, measure_lowpower_wake},
    {WTL_PRICE_LOWPOWER_LATE, "wait by instruction: comes late by", false, false, false, measure_lowpower_late},
    {WTL_PRICE_FUTEX_OTHER, "futex wake, another core", true, false, false, measure_futex_other},
    {WTL_PRICE_FUTEX_SAME, "futex wake, same core", false, false, false, measure_futex_same},
    {WTL_PRICE_EPOLL_OTHER, "epoll wake, another core", true, false, false, measure_epoll_other},
    {WTL_PRICE_EPOLL_SAME, "epoll wake, same core", false, false, false, measure_epoll_same},
    {WTL_PRICE_YIELD_ALONE, "sched_yield, alone on the core", false, false, false, measure_yield_alone},
    {WTL_PRICE_YIELD_TO_YIELDING, "sched_yield, to one that yields", false, false, false, measure_yield_to_yielding},
    {WTL_PRICE_YIELD_TO_COMPUTING, "sched_yield, to one that computes", false, false, false,
     measure_yield_to_computing},
    {WTL_PRICE_FENCE, "full fence after a store", false, false, true, measure_fence},
    {WTL_PRICE_MEMBARRIER, "membarrier, its caller", false, false, true, measure_membarrier},
    {WTL_PRICE_MEMBARRIER_PEER, "membarrier, each running peer", true, false, true, measure_membarrier_peer},
    {WTL_PRICE_TICKS, "clock: time-stamp counter", false, false, false, measure_ticks},
    {WTL_PRICE_CLOCK, "clock: clock_gettime", false, false, false, measure_clock},
};
