/* process.h - tells a process from a later one with the same number, and says whether it has ended. */
#ifndef WTL_NODE_PROCESS_H
#define WTL_NODE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns the number of this process in /proc; 0 if /proc does not show it. It differs from getpid() where this process
 * is in a PID namespace and /proc is that of another one, as `unshare --pid --fork` leaves it.
 */
long wtl_process_in_proc(void);

/* Returns a number of this process's PID namespace, in which getpid() is unique; 0 if it is not known. */
uint64_t wtl_process_namespace(void);

/* Returns when process `pid` of /proc began, in the kernel's ticks since the machine's start; 0 if there is no such
 * process. */
uint64_t wtl_process_start_of(long pid);

/* Returns whether process `pid` has ended. One that its parent has not collected counts as ended. */
bool wtl_process_is_gone(int pid);

/* Returns whether this process sees all processes of the machine by their numbers. In the process namespace of a
 * container the number of a process outside has no meaning. */
bool wtl_process_sees_all(void);

#endif
