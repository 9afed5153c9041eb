/* caller_list.h - lists the nodes of call paths that the sites of a profile refer to, for the profile's file. */
#ifndef WTL_RECORD_CALLER_LIST_H
#define WTL_RECORD_CALLER_LIST_H

#include "profile/profile.h"

typedef struct wtl_caller_list {
  uint32_t n, all; /* all: nodes with a place */
  uint32_t *node;  /* the listed nodes; each follows its parent */
  uint32_t *place; /* by node: its place in the list + 1; 0: not in it */
} wtl_caller_list;

/* Lists all nodes above those of the sites. `nodes`: those of a process that has ended; NULL: of this process, which
 * call_path.h has. Without memory the list is empty. */
void wtl_caller_list_make(wtl_caller_list *list, const wtl_path_node *nodes, const wtl_site *sites, uint64_t n);
void wtl_caller_list_free(wtl_caller_list *list);

/* Returns the place of a node in the list; -1 if it is not in it. */
long wtl_caller_list_place(const wtl_caller_list *list, uint32_t node);

#endif
