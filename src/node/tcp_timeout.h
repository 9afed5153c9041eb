/* tcp_timeout.h - how long another process's TCP connections wait, and may wait, for an acknowledgement. */
#ifndef WTL_NODE_TCP_TIMEOUT_H
#define WTL_NODE_TCP_TIMEOUT_H

#include <stdbool.h>
#include <sys/types.h>

/* As long as keepalive takes to notice a lost node on an idle connection of Open MPI's (launch/launcher_openmpi.c). */
enum { WTL_TCP_UNANSWERED_MS = 17000 };

/*
 * Sets TCP_USER_TIMEOUT of every TCP socket that process `pid` has open; 0 ms: the kernel's own limit, about a quarter of
 * an hour (net.ipv4.tcp_retries2). Does nothing where this process may not trace that one.
 */
void wtl_tcp_timeout_set(pid_t pid, unsigned ms);

/* Does process `pid` send again and again on a TCP connection, from whose other end nothing has come for `ms`? */
bool wtl_tcp_is_unanswered(pid_t pid, unsigned ms);

#endif
