/* ancestor.h - the process that launched this one, if scripts of the user's stand between the two. */
#ifndef WTL_NODE_ANCESTOR_H
#define WTL_NODE_ANCESTOR_H

#include <sys/types.h>

/* The nearest ancestor that lacks the variable by which the launcher numbered this process: the launcher, or its daemon
 * on this node. 0: nobody launched it. */
pid_t wtl_ancestor_launcher(void);

#endif
