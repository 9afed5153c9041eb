/*
 * caller.h - where in the program a call came from, for the message that ends a job. Nothing is kept for it: the stack
 * is read when it is asked for, so that a good call pays nothing.
 */
#ifndef WTL_PROFILE_CALLER_H
#define WTL_PROFILE_CALLER_H

/*
 * "shmem_long_put at program+0x24d4 (halo.c:112)", or "... at libsolver.so+0x24d4" in a library of the program's: a
 * call's name, and the place, within the call, from which this library's caller was called; the line where it can be
 * known (line.h). The name alone where that is not known: a thread
 * of this library's own, exit, or a program that this library is a part of. This thread's until the next one. Not for
 * signal handlers.
 */
const char *wtl_here(const char *call) __attribute__((cold));

#endif
