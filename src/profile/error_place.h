/*
 * error_place.h - finds the place in the program that made a call, for the message that ends a job.
 *
 * The stack is read only for a message, so a correct call costs nothing.
 */
#ifndef WTL_PROFILE_ERROR_PLACE_H
#define WTL_PROFILE_ERROR_PLACE_H

/* Returns "shmem_long_put at program+0x24d4 (halo.c:112)", or "... at libsolver.so+0x24d4" in a library of the program:
 * the name of a call, the place from which this library was called, and the line if it can be known (line.h). Only the
 * name if the place is unknown: in a thread of this library, in exit, or in a program that contains this library. Valid
 * until this thread's next call. Not for signal handlers. */
const char *wtl_error_place(const char *call) __attribute__((cold));

#endif
