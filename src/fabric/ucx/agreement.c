/* agreement.c - exchanges by the boot whether each node has RDMA devices. */
#include "fabric/ucx/agreement.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 65 };

int wtl_agreement_publish(wtl_boot *boot, bool has_hardware)
{
  char host[NAME_BYTES] = "", text[NAME_BYTES + 2];
  if (boot->pe != boot->local_pe[0]) return 0;
  gethostname(host, sizeof host - 1);
  snprintf(text, sizeof text, "%d %s", has_hardware, host);
  return boot->ops->publish(boot, "wattle.rdma", text);
}

int wtl_agreement_read(wtl_boot *boot, bool *all, char *note, size_t size)
{
  char first[2][NAME_BYTES] = {"", ""}; /* of the nodes without hardware, and of those with it */
  char text[NAME_BYTES + 2];
  bool found[2] = {false, false};
  for (int node = 0; node < boot->n_nodes; node++) {
    if (boot->ops->lookup(boot, boot->leader_pe[node], "wattle.rdma", text, sizeof text) != 0) return -1;
    int has = text[0] == '1';
    if (!found[has]) snprintf(first[has], NAME_BYTES, "%s", strlen(text) > 2 ? text + 2 : "?");
    found[has] = true;
  }
  *all = found[true] && !found[false];
  *note = '\0';
  if (found[true] && found[false])
    snprintf(note, size,
             "node %s has no RDMA device with an active port, and node %s has one: the job uses TCP (wattle doctor "
             "there says more; WATTLE_RMA=off prevents this message)",
             first[false], first[true]);
  return 0;
}
