/*
 * uncounted.h - included first wherever the runtime is compiled for simulation: its own copies are the C library's, and
 * take no time of their own, for what a message costs has them already. The program's are counted (libc_calls.c).
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

/* The compiler takes these names for the copies that it puts in by itself, too. */
WTL_SIM_C void *memcpy(void *to, const void *from, size_t n) WTL_SIM_NOTHROW __asm__("__real_memcpy");
WTL_SIM_C void *memmove(void *to, const void *from, size_t n) WTL_SIM_NOTHROW __asm__("__real_memmove");
WTL_SIM_C void *memset(void *at, int byte, size_t n) WTL_SIM_NOTHROW __asm__("__real_memset");

#endif
