/*
 * tcgmsg.h - the calls of TCGMSG that libarmci exports for Global Arrays libraries that were built with them. No header
 * for programs declares them, because Global Arrays has its own.
 */
#ifndef WTL_ARMCI_TCGMSG_H
#define WTL_ARMCI_TCGMSG_H

#pragma GCC visibility push(default)
void armci_tcgmsg_pbeginf(void);
void armci_tcgmsg_pbginf(void);
void armci_tcgmsg_pend(void);
long armci_tcgmsg_nodeid(void);
long armci_tcgmsg_nnodes(void);
long armci_tcgmsg_tcgready(void);
void armci_tcgmsg_snd(long *type, void *buf, long *bytes, long *node, long *sync);
void armci_tcgmsg_rcv(long *type, void *buf, long *size, long *received, long *node, long *from, long *sync);
long armci_tcgmsg_probe(long *type, long *node);
void armci_tcgmsg_waitcom(long *node);
void armci_tcgmsg_synch(long *type);
void armci_tcgmsg_brdcst(long *type, void *buf, long *bytes, long *root);
void armci_tcgmsg_dgop(long *type, double *x, long *n, char *op, int op_length);
void armci_tcgmsg_igop(long *type, long *x, long *n, char *op, int op_length);
long armci_tcgmsg_nxtval(long *processes);
void armci_tcgmsg_pfilecopy(long *type, long *node0, char *name);
void armci_tcgmsg_pfcopy(long *type, long *node0, char *name, int name_length);
void armci_tcgmsg_llog(void);
void armci_tcgmsg_stats(void);
void armci_tcgmsg_setdbg(long *on);
void armci_tcgmsg_parerr(long *code);
long armci_tcgmsg_niceftn(long *by);
double armci_tcgmsg_tcgtime(void);
long armci_tcgmsg_mtime(void);
double armci_tcgmsg_drand48(void);
void armci_tcgmsg_srand48(long *seed);
long armci_tcgmsg_mdtob(long *n);
long armci_tcgmsg_mdtoi(long *n);
long armci_tcgmsg_mitob(long *n);
long armci_tcgmsg_mitod(long *n);
#pragma GCC visibility pop

#endif
