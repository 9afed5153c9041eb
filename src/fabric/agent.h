/*
 * agent.h - the progress agent: a thread that serves the network while the program computes.
 *
 * It sleeps until something arrives, and stays out of the way of the PE's own threads: while one of them makes progress
 * itself (between wtl_agent_stand_by and wtl_agent_resume), and for a millisecond after, the agent only looks up once a
 * millisecond. When nobody else serves the network it takes over, arms the network's descriptor and sleeps on it, at no
 * cost. While a thread of the PE sleeps and counts on the agent, the agent looks on for as long as a wake-up costs
 * after something arrived: the next message is likely near.
 */
#ifndef WTL_FABRIC_AGENT_H
#define WTL_FABRIC_AGENT_H

#include "fabric/net.h"

typedef struct wtl_agent wtl_agent;

/* NULL, with the reason in `error`, if there can be no thread. */
wtl_agent *wtl_agent_start(wtl_net *net, char *error, size_t size);
void wtl_agent_stop(wtl_agent *a);

/* A thread of the PE makes progress itself from now on. May nest, and be called by several threads. */
void wtl_agent_stand_by(wtl_agent *a);

/* It does so no longer: it goes to sleep, and counts on the agent from now on ... */
void wtl_agent_take_over(wtl_agent *a);
/* ... until it has woken. */
void wtl_agent_relieved(wtl_agent *a);

/* It makes progress no longer, and returns to the program. */
void wtl_agent_resume(wtl_agent *a);

#endif
