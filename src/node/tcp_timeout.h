/* tcp_timeout.h - how long another process's TCP connections may wait for an acknowledgement. */
#ifndef WTL_NODE_TCP_TIMEOUT_H
#define WTL_NODE_TCP_TIMEOUT_H

#include <sys/types.h>

/*
 * Sets TCP_USER_TIMEOUT of every TCP socket that process `pid` has open; 0 ms: the kernel's own limit, about a quarter of
 * an hour (net.ipv4.tcp_retries2). Does nothing where this process may not trace that one.
 */
void wtl_tcp_timeout_set(pid_t pid, unsigned ms);

#endif
