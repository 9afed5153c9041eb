/* tcp_timeout.h - how long the TCP connections of another process wait, and may wait, for an acknowledgement. */
#ifndef WTL_NODE_TCP_TIMEOUT_H
#define WTL_NODE_TCP_TIMEOUT_H

#include <stdbool.h>
#include <sys/types.h>

/* Equals the time in which keepalive notices a lost node on an idle connection of Open MPI
 * (launch/launcher_openmpi.c). */
enum { WTL_TCP_UNANSWERED_MS = 17000 };

/* Sets TCP_USER_TIMEOUT of every TCP socket that process `pid` has open. 0 ms restores the kernel's limit, about a
 * quarter of an hour (net.ipv4.tcp_retries2). Does nothing if this process may not trace the other one. */
void wtl_tcp_timeout_set(pid_t pid, unsigned ms);

/* Returns whether process `pid` retransmits on a TCP connection whose peer has sent nothing for `ms`. */
bool wtl_tcp_is_unanswered(pid_t pid, unsigned ms);

#endif
