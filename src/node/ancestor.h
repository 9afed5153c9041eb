/* ancestor.h - finds the process that launched this one. Scripts of the user may run between the two. */
#ifndef WTL_NODE_ANCESTOR_H
#define WTL_NODE_ANCESTOR_H

#include <sys/types.h>

/* Returns the nearest ancestor that lacks the variable with which the launcher numbered this process. This is the
 * launcher, or its daemon on this node. Returns 0 if no launcher started this process. */
pid_t wtl_ancestor_launcher(void);

/* Returns how many processes of this one's job that launcher has on this node, by PMIx's variables in their
 * environments: those that run and that this user may read. Returns 0 if PMIx numbers no process here. */
int wtl_ancestor_count_job(void);

#endif
