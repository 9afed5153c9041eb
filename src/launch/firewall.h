/*
 * firewall.h - rules for the kernel's packet filter (nftables) by which only the job's user on the job's hosts reaches
 * the ports of its PEs.
 */
#ifndef WTL_LAUNCH_FIREWALL_H
#define WTL_LAUNCH_FIREWALL_H

#include "launch/command.h"

/* Prints the rules for the hosts of the command line in the form that `nft -f` reads. Ends the process on failure. */
void wtl_firewall_print(const wtl_command *c);

#endif
