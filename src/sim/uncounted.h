/*
 * uncounted.h - makes copies by the runtime cost no simulated time. The build includes it first in each file of the
 * runtime. The price of a message already covers these copies. Copies by the program are counted (libc_calls.c).
 */
#ifndef WTL_SIM_UNCOUNTED_H
#define WTL_SIM_UNCOUNTED_H

#include <stddef.h>

#ifdef __cplusplus
#define WTL_SIM_C extern "C"
#define WTL_SIM_NOTHROW noexcept
#else
#define WTL_SIM_C
#define WTL_SIM_NOTHROW
#endif

/* The compiler uses these names also for the copies that it inserts by itself. */
WTL_SIM_C void *memcpy(void *to, const void *from, size_t n) WTL_SIM_NOTHROW __asm__("__real_memcpy");
WTL_SIM_C void *memmove(void *to, const void *from, size_t n) WTL_SIM_NOTHROW __asm__("__real_memmove");
WTL_SIM_C void *memset(void *at, int byte, size_t n) WTL_SIM_NOTHROW __asm__("__real_memset");

#endif
