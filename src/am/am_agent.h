/*
 * am_agent.h - the agent: the thread that runs handlers while the program computes.
 *
 * It sleeps until a message arrives. While threads of the PE wait, or have waited or polled a moment ago, it leaves
 * messages to them. It only polls from time to time whether they still do so. src/fabric/agent.h does the same for the
 * same reasons.
 */
#ifndef WTL_AM_AM_AGENT_H
#define WTL_AM_AM_AGENT_H

#include "am/am.h"

typedef struct wtl_am_agent wtl_am_agent;

/* Starts the agent. Returns NULL, with the reason in `error`, if the thread cannot be started. */
wtl_am_agent *wtl_am_agent_start(wtl_am *am, char *error, size_t size);
void wtl_am_agent_stop(wtl_am_agent *a);

/* The CPU time of its thread so far, in seconds; NaN: not known. */
double wtl_am_agent_cpu_s(const wtl_am_agent *a);

/* Fills in the functions by which the waits of the PE notify its agent, which may start later. */
void wtl_am_agent_is_notified(wtl_messages *messages);

/* Notifies the agent that a thread of the PE polls. */
void wtl_am_agent_note_poll(wtl_am_agent *a);

#endif
