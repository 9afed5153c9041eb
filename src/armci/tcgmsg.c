/*
 * tcgmsg.c - TCGMSG, the message library of older Global Arrays programs, with the calling convention of Fortran:
 * arguments by address, integers as long as a C long, lengths of strings after all arguments. A message is found by its
 * type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "armci/armci_front.h"
#include "armci/tcgmsg.h"
#include "base/sigpipe.h"
#include "global/tagged.h"
#include "os/floats.h"
#include "os/os.h"
#include "pgas/rma.h"
#include "team/barrier.h"

/* --- start and end ------------------------------------------------------------------------------------------------ */

void armci_tcgmsg_pbeginf(void)
{
  armci_msg_init(NULL, NULL);
  PARMCI_Init();
}

void armci_tcgmsg_pbginf(void)
{
  armci_tcgmsg_pbeginf();
}

void armci_tcgmsg_pend(void)
{
  PARMCI_Finalize();
  armci_msg_finalize();
}

long armci_tcgmsg_nodeid(void)
{
  return armci_msg_me();
}

long armci_tcgmsg_nnodes(void)
{
  return armci_msg_nproc();
}

long armci_tcgmsg_tcgready(void)
{
  return PARMCI_Initialized();
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* The context of TCGMSG's messages, which keeps them apart from those of armci_msg_snd. */
static uint64_t context(void)
{
  return UINT64_C(0x7463676d73670000); /* those of groups are odd */
}

static void trace(const wtl_frame *f, const char *what, long type, long bytes, long node)
{
  if (armci_of(f->self)->tcgmsg_traces)
    wtl_message_print("%s: type %ld, %ld bytes, process %ld", what, type, bytes, node);
}

void armci_tcgmsg_snd(long *type, void *buf, long *bytes, long *node, long *sync)
{
  ARMCI_ENTER_AS(armci_tcgmsg_snd, armci_msg_snd, *bytes);
  (void)sync; /* the buffer may be reused on return in any case */
  armci_check_that(&f, *bytes >= 0, "lenbuf", *bytes, "0 and more");
  armci_check_proc(&f, (int)*node);
  trace(&f, "snd", *type, *bytes, *node);
  wtl_tagged_send(f.self, f.site, (int)*node, context(), *type, buf, (size_t)*bytes);
  armci_of(f.self)->tcgmsg_sent++;
}

void armci_tcgmsg_rcv(long *type, void *buf, long *size, long *received, long *node, long *from, long *sync)
{
  ARMCI_ENTER_AS(armci_tcgmsg_rcv, armci_msg_rcv, 0);
  int sender;
  (void)sync; /* the message is complete on return in any case */
  armci_check_that(&f, *size >= 0, "lenbuf", *size, "0 and more");
  if (*node >= 0) armci_check_proc(&f, (int)*node);
  wtl_envelope of = {*node < 0 ? WTL_FROM_ANY : (int)*node, context(), *type};
  *received = (long)wtl_tagged_receive(f.self, f.site, f.name, of, buf, (size_t)*size, &sender);
  *from = sender;
  trace(&f, "rcv", *type, *received, sender);
  armci_of(f.self)->tcgmsg_received++;
}

long armci_tcgmsg_probe(long *type, long *node)
{
  ARMCI_ENTER(armci_tcgmsg_probe, 0);
  if (*node >= 0) armci_check_proc(&f, (int)*node);
  long is = wtl_tagged_has(f.self, (wtl_envelope){*node < 0 ? WTL_FROM_ANY : (int)*node, context(), *type});
  return is;
}

void armci_tcgmsg_waitcom(long *node)
{
  (void)node; /* nothing is pending when a call returns */
}

void armci_tcgmsg_synch(long *type)
{
  (void)type;
  parmci_msg_barrier();
}

void armci_tcgmsg_brdcst(long *type, void *buf, long *bytes, long *root)
{
  ARMCI_ENTER_AS(armci_tcgmsg_brdcst, armci_msg_bcast, *bytes);
  (void)type;
  armci_check_that(&f, *bytes >= 0, "lenbuf", *bytes, "0 and more");
  armci_check_proc(&f, (int)*root);
  armci_synchronize(&f, armci_of(f.self)->world, (size_t)*bytes, (int)*root);
  wtl_group_broadcast(f.self, f.site, armci_of(f.self)->world, buf, (size_t)*bytes, (int)*root);
}

/* Strings of Fortran end in blanks, or not at all. */
static void to_c(char *to, size_t size, const char *from, int length)
{
  size_t n = length > 0 && (size_t)length < size ? (size_t)length : size - 1;
  memcpy(to, from, n);
  to[n] = '\0';
  to[strcspn(to, " ")] = '\0';
}

void armci_tcgmsg_dgop(long *type, double *x, long *n, char *op, int op_length)
{
  char name[8];
  (void)type;
  to_c(name, sizeof name, op, op_length);
  armci_msg_dgop(x, (int)*n, name);
}

void armci_tcgmsg_igop(long *type, long *x, long *n, char *op, int op_length)
{
  char name[8];
  (void)type;
  to_c(name, sizeof name, op, op_length);
  armci_msg_lgop(x, (int)*n, name);
}

/* --- the shared counter ------------------------------------------------------------------------------------------- */

/* Returns the next number, from 0 on, if *processes > 0. Otherwise all processes call it, and the counter restarts
 * at 0. */
long armci_tcgmsg_nxtval(long *processes)
{
  ARMCI_ENTER(armci_tcgmsg_nxtval, sizeof(long));
  wtl_pe *self = f.self;
  long *counter = armci_of(self)->next_value;
  uint64_t next = 0;
  if (*processes > 0) {
    wtl_amo(wtl_op_to(&f, 0, false), counter, (wtl_atomic){WTL_AMO_ADD, sizeof next, 1, 0}, &next);
  } else {
    armci_synchronize(&f, armci_of(self)->world, 0, 0);
    wtl_barrier(self, f.site);
    if (self->me == 0) __atomic_store_n(counter, 0, __ATOMIC_SEQ_CST);
    wtl_barrier(self, f.site);
  }
  return (long)next;
}

/* --- files, lines, times ------------------------------------------------------------------------------------------ */

static void file_failed(const char *what, const char *name)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "pfilecopy: cannot %s the file %s", what, name);
}

/* Copies a file in pieces. Each piece has its length first, or -1 if the file cannot be read, and then its bytes. */
static void copy_file(const char *name, int from)
{
  enum { PIECE = 65536 };
  bool reads = armci_msg_me() == from;
  char *piece = malloc(PIECE);
  FILE *file = fopen(name, reads ? "rb" : "wb");
  long n = 0;
  if (!piece || (!file && !reads)) file_failed("write", name);
  do {
    if (reads) n = file ? (long)fread(piece, 1, PIECE, file) : -1;
    armci_msg_bcast(&n, sizeof n, from);
    if (n < 0) file_failed("read", name);
    if (n > 0) armci_msg_bcast(piece, (int)n, from);
    if (!reads && n > 0 && fwrite(piece, 1, (size_t)n, file) != (size_t)n) file_failed("write", name);
  } while (n > 0);
  if (fclose(file) != 0) file_failed("write", name);
  free(piece);
}

void armci_tcgmsg_pfilecopy(long *type, long *node0, char *name)
{
  (void)type;
  copy_file(name, (int)*node0);
}

void armci_tcgmsg_pfcopy(long *type, long *node0, char *name, int name_length)
{
  char c_name[4096];
  to_c(c_name, sizeof c_name, name, name_length);
  armci_tcgmsg_pfilecopy(type, node0, c_name);
}

/* Redirects the output of this process to a file of its own. */
void armci_tcgmsg_llog(void)
{
  char name[64];
  snprintf(name, sizeof name, "log.%03d", armci_msg_me());
  if (!freopen(name, "w", stdout) || !freopen(name, "a", stderr)) file_failed("write", name);
}

void armci_tcgmsg_stats(void)
{
  ARMCI_ENTER_AS(armci_tcgmsg_stats, armci_msg_me, 0);
  const armci_state *s = armci_of(f.self);
  wtl_sigpipe before = wtl_sigpipe_hold();
  printf("process %d: %ld messages sent, %ld received\n", f.self->me, s->tcgmsg_sent, s->tcgmsg_received);
  fflush(stdout);
  wtl_sigpipe_release(&before);
}

void armci_tcgmsg_setdbg(long *on)
{
  ARMCI_ENTER_AS(armci_tcgmsg_setdbg, armci_msg_me, 0);
  armci_of(f.self)->tcgmsg_traces = *on != 0;
}

void armci_tcgmsg_parerr(long *code)
{
  ARMCI_Error("parerr", (int)*code);
}

long armci_tcgmsg_niceftn(long *by)
{
  return nice((int)*by);
}

double armci_tcgmsg_tcgtime(void)
{
  return armci_timer();
}

/* In hundredths of a second. */
long armci_tcgmsg_mtime(void)
{
  WTL_FLOATS_APART;
  return (long)(armci_timer() * 100);
}

double armci_tcgmsg_drand48(void)
{
  return drand48();
}

void armci_tcgmsg_srand48(long *seed)
{
  srand48(*seed);
}

/* Sizes of doubles and integers: bytes of *n of them, and how many of one hold *n of the other. */
long armci_tcgmsg_mdtob(long *n)
{
  return *n * (long)sizeof(double);
}

long armci_tcgmsg_mdtoi(long *n)
{
  return (long)((*n * sizeof(double) + sizeof(long) - 1) / sizeof(long));
}

long armci_tcgmsg_mitob(long *n)
{
  return *n * (long)sizeof(long);
}

long armci_tcgmsg_mitod(long *n)
{
  return (long)((*n * sizeof(long) + sizeof(double) - 1) / sizeof(double));
}
