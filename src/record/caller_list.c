/* caller_list.c - marks the nodes above all sites and numbers them. */
#include "record/caller_list.h"

#include <stdlib.h>

static uint32_t parent_of(const wtl_path_node *nodes, uint32_t node)
{
  return nodes ? nodes[node].parent : wtl_path_node_of(node).parent;
}

void wtl_caller_list_make(wtl_caller_list *list, const wtl_path_node *nodes, const wtl_site *sites, uint64_t n)
{
  uint32_t all = 0;
  *list = (wtl_caller_list){0};
  for (uint64_t i = 0; i < n; i++)
    if (sites[i].path != WTL_NO_PATH && sites[i].path >= all) all = sites[i].path + 1;
  if (!all) return;
  list->all = all;
  list->node = calloc(all, sizeof *list->node);
  list->place = calloc(all, sizeof *list->place);
  if (!list->node || !list->place) {
    wtl_caller_list_free(list);
    return;
  }
  for (uint64_t i = 0; i < n; i++) {
    if (sites[i].path == WTL_NO_PATH) continue;
    uint32_t node = parent_of(nodes, sites[i].path);
    for (; node != WTL_NO_PATH && !list->place[node]; node = parent_of(nodes, node)) list->place[node] = 1;
  }
  for (uint32_t node = 0; node < all; node++) { /* a parent has a lower number than its children */
    if (!list->place[node]) continue;
    list->node[list->n++] = node;
    list->place[node] = list->n;
  }
}

void wtl_caller_list_free(wtl_caller_list *list)
{
  free(list->node);
  free(list->place);
  *list = (wtl_caller_list){0};
}

long wtl_caller_list_place(const wtl_caller_list *list, uint32_t node)
{
  return node >= list->all ? -1 : (long)list->place[node] - 1;
}
