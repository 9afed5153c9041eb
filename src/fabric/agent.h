/*
 * agent.h - the progress agent: a thread that makes progress on the network while the program computes.
 *
 * DESIGN. While a thread of the PE makes progress itself, in a wait that does not sleep, the agent leaves the network
 * to it. It then checks only every 1 to 4 ms whether that thread still does. When no other thread makes progress, the
 * agent takes over: it arms the network's descriptor and sleeps on it, which costs nothing until a message arrives. It
 * misses none, for wtl_net_arm refuses while something has arrived or is held. While a thread of the PE sleeps, the
 * agent polls after each arrival for as long as a wake-up would cost, because the next message is likely near.
 *
 * A thread of a PE that has its node for itself may sleep on the network's descriptor (door.h). The agent treats it
 * like a thread that polls, but checks less often.
 */
#ifndef WTL_FABRIC_AGENT_H
#define WTL_FABRIC_AGENT_H

#include "fabric/net.h"
#include "wait/door.h"

typedef struct wtl_agent wtl_agent;

/*
 * Starts the agent. `also`, if not NULL, is called with `of` each time that something may have arrived, and returns
 * whether it did anything. `lingers`: after an arrival for which a thread slept, the agent polls for a while. Otherwise
 * it sleeps at once. Returns NULL, with the reason in `error`, if no thread can be made.
 */
wtl_agent *wtl_agent_start(wtl_net *net, bool lingers, bool (*also)(void *), void *of, char *error, size_t size);
void wtl_agent_stop(wtl_agent *a);

/* The CPU time of its thread so far, in seconds; NaN: not known. */
double wtl_agent_cpu_s(const wtl_agent *a);

/*
 * From now on the thread that serves the network calls `server`: with true when a message has come, with false before
 * it blocks or polls for the next one. NULL: none is called. The earlier server is not called after this function
 * returns.
 */
void wtl_agent_serve_by(wtl_agent *a, void (*server)(void *of, bool serves), void *of);

/* Ensures that a message that is held leaves soon. Any thread may call it. */
void wtl_agent_attend(wtl_agent *a);

/* The functions for waiting threads of the PE. */
wtl_progress_driver wtl_agent_driver(wtl_agent *a);

#endif
