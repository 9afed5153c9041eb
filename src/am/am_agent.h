/*
 * am_agent.h - the thread that runs handlers while the program computes.
 *
 * It sleeps until a message comes. While threads of the PE wait, or have waited or polled a moment ago, it leaves
 * messages to them, and looks only from time to time whether they still do (as src/fabric/agent.h, for the same
 * reasons).
 */
#ifndef WTL_AM_AM_AGENT_H
#define WTL_AM_AM_AGENT_H

#include "am/am.h"

typedef struct wtl_am_agent wtl_am_agent;

/* NULL, with the reason in `error`, if there can be no thread. */
wtl_am_agent *wtl_am_agent_start(wtl_am *am, char *error, size_t size);
void wtl_am_agent_stop(wtl_am_agent *a);

/* Fills in what the PE's waits call, for whichever agent there will be. */
void wtl_am_agent_is_notified(wtl_messages *messages);

/* A thread of the PE polls. */
void wtl_am_agent_visit(wtl_am_agent *a);

#endif
