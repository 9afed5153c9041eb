/*
 * agent.h - the progress agent: a thread that serves the network while the program computes.
 *
 * It sleeps until something arrives, and stays out of the way of the PE's own threads: while one of them makes progress
 * itself (in a wait that has not gone to sleep), and for a millisecond after, the agent only looks up once a
 * millisecond. When nobody else serves the network it takes over, arms the network's descriptor and sleeps on it, at no
 * cost. While a thread of the PE sleeps and counts on the agent, the agent looks on for as long as a wake-up costs
 * after something arrived: the next message is likely near.
 *
 * A PE that has its node for itself sleeps on the network's descriptor, too (door.h): the agent leaves the network to it
 * as to one who looks on, and rests longer from look to look.
 */
#ifndef WTL_FABRIC_AGENT_H
#define WTL_FABRIC_AGENT_H

#include "fabric/net.h"
#include "wait/door.h"

typedef struct wtl_agent wtl_agent;

/* `also`, if not NULL, is called with `of` after each time that something may have arrived; true: it did something.
 * lingers: it looks on for a while after an arrival that a thread slept for; else it sleeps again at once, as that
 * thread does whose waiting is all sleep. NULL, with the reason in `error`, if there can be no thread. */
wtl_agent *wtl_agent_start(wtl_net *net, bool lingers, bool (*also)(void *), void *of, char *error, size_t size);
void wtl_agent_stop(wtl_agent *a);

/* From now on `server` is told, by the agent's thread, when a message has come (true) and when the agent is about to
 * block, or to look on for the next (false). NULL: nobody is; when that returns nobody is being told any more. */
void wtl_agent_serve_by(wtl_agent *a, void (*server)(void *of, bool serves), void *of);

/* Something is held that leaves when progress is made: it sees to that, if nobody else does. Any thread. */
void wtl_agent_attend(wtl_agent *a);

/* What the threads of the PE that wait need of it. */
wtl_progress_driver wtl_agent_driver(wtl_agent *a);

#endif
