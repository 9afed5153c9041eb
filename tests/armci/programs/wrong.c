/*
 * Mistakes in calls of ARMCI, by name; each must end the job with a line that says what is wrong. With EACH, process 0
 * makes those of all names, each in a copy of itself.
 */
#define _GNU_SOURCE
#include <armci.h>
#include <armcix.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef EACH
#include "support/copies.h"

int PMPI_Abort(MPI_Comm comm, int code)
{
  (void)comm;
  return code;
}
#endif

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  void *p[2], *src[1], *dst[1];
  double x[8] = {0}, one = 1;
  int count[2] = {16, 2}, stride[1] = {32}, me, many[16] = {0};
  ARMCI_Group none, both, copy;
  armcix_mutex_hdl_t set = NULL;
  if (!strcmp(what, "a value too early")) ARMCI_GetValueLong(x, 0);
  if (!strcmp(what, "too early")) ARMCI_Barrier();
  ARMCI_Init();
  me = armci_msg_me();
  ARMCI_Malloc(p, 64);
  ARMCI_Group_create(2, (int[]){1, 0}, &both); /* in an order that is not the world's */
  copy = both;
#ifdef EACH
  what = "";
  for (int i = 1; i < argc && me == 0 && !*what; i++)
    if (copy_makes(argv[i])) what = argv[i];
#endif
  if (!strcmp(what, "more threads")) ARMCI_Init_thread(MPI_THREAD_MULTIPLE);
  if (!strcmp(what, "a mutex too many") || !strcmp(what, "not locked") || !strcmp(what, "locked twice"))
    ARMCI_Create_mutexes(2);
  if (!strcmp(what, "a set's not locked") || !strcmp(what, "a set's mutex too many"))
    set = ARMCIX_Create_mutexes_hdl(2, &both);
  if (!strcmp(what, "mutexes twice")) ARMCI_Create_mutexes(1), ARMCI_Create_mutexes(1);
  if (!strcmp(what, "no mutexes to destroy")) ARMCI_Destroy_mutexes();
  if (!strcmp(what, "no counts to pack by")) armci_write_strided(x, 1, (int[]){8}, NULL, (char *)x);
  if (!strcmp(what, "nothing to pack")) armci_write_strided(NULL, 0, NULL, (int[]){8}, (char *)x);
  if (!strcmp(what, "no tree")) armci_msg_bintree(SCOPE_ALL, NULL, NULL, NULL, NULL);
  if (!strcmp(what, "no memory's place")) ARMCI_Memat(NULL, 0);
  if (!strcmp(what, "a sum chooses")) armci_msg_sel(x, 8, "+", ARMCI_INT, 1);
  if (!strcmp(what, "free another's")) ARMCI_Free(p[1 - me]);
  if (!strcmp(what, "a device's memory of another")) ARMCI_Free_memdev(p[1 - me]);
  if (!strcmp(what, "freed together twice")) ARMCI_Free(p[me]), ARMCI_Free(p[me]);
  if (!strcmp(what, "unlike calls")) me == 0 ? (void)ARMCI_Free(p[0]) : ARMCI_Barrier();
  if (!strcmp(what, "a freed group's copy")) ARMCI_Group_free(&both), armci_msg_group_barrier(&copy);
  if (!strcmp(what, "another's copy")) {
    ARMCI_Group_free(&both);
    ARMCI_Group_create(2, (int[]){1, 0}, &both); /* may lie where that one lay */
    armci_msg_group_barrier(&copy);
  }
  if (!strcmp(what, "a group freed twice")) ARMCI_Group_free(&both), ARMCI_Group_free(&both);
  if (!strcmp(what, "free together alone") && me == 0) ARMCI_Free_local(p[0]);
  if (!strcmp(what, "free a group's alone")) ARMCI_Malloc_group(p, 8, &both), ARMCI_Free_local(p[!me]);
  if (!strcmp(what, "a copy to free")) ARMCI_Group_free(&both), ARMCI_Group_free(&copy);
  if (!strcmp(what, "a group of before")) {
    ARMCI_Finalize();
    ARMCI_Init();
    ARMCI_Malloc_group(p, 8, &copy);
  }
  if (!strcmp(what, "unlike calls of a group"))
    me == 0 ? armci_msg_group_dgop(x, 1, "+", &both) : armci_msg_group_barrier(&both);
  if (!strcmp(what, "unlike counts of a group")) armci_msg_group_dgop(x, me + 1, "+", &both);
  if (!strcmp(what, "unlike roots of a group")) armci_msg_group_bcast_scope(SCOPE_ALL, x, 8, me, &both);
  if (!strcmp(what, "alone in a group")) { /* process 1 comes when there is a file of this name */
    while (me == 1 && access(argv[2], F_OK) != 0) usleep(1000);
    armci_msg_group_barrier(&both);
  }
  if (!strcmp(what, "freed there")) {
    ARMCI_Malloc(&p[0], 4096);
    ARMCI_Put(x, (char *)p[1 - me] + 4000, 8, 1 - me);
    ARMCI_Free(p[me]);
    ARMCI_Barrier(); /* both have freed theirs */
    if (me == 0) ARMCI_Put(x, (char *)p[1] + 4000, 8, 1);
  }
  if (!strcmp(what, "unlike ends")) me == 0 ? (void)ARMCI_Finalize() : ARMCI_Barrier();
  if (!strcmp(what, "unlike counts")) armci_msg_dgop(x, me + 1, "+");
  if (!strcmp(what, "unlike roots")) armci_msg_bcast(x, 8, me);
  if (!strcmp(what, "alone")) { /* process 1 comes when there is a file of this name */
    while (me == 1 && access(argv[2], F_OK) != 0) usleep(1000);
    ARMCI_Free(p[me]);
  }
  if (me == 0) {
    if (!strcmp(what, "no source")) ARMCI_Put(NULL, p[1], 8, 1);
    if (!strcmp(what, "no target")) ARMCI_Get(p[1], NULL, 8, 1);
    if (!strcmp(what, "nowhere there")) ARMCI_Put(x, NULL, 8, 1);
    if (!strcmp(what, "nowhere here")) ARMCI_Put(x, NULL, 8, 0);
    if (!strcmp(what, "no scale")) ARMCI_Acc(ARMCI_ACC_DBL, NULL, x, p[1], 8, 1);
    if (!strcmp(what, "no counts")) ARMCI_PutS(x, stride, p[1], stride, NULL, 1, 1);
    if (!strcmp(what, "no strides")) ARMCI_GetS(p[1], NULL, x, stride, count, 1, 1);
    if (!strcmp(what, "negative count")) ARMCI_GetS(p[1], stride, x, stride, (int[]){8, -2}, 1, 1);
    if (!strcmp(what, "more than a size")) ARMCI_PutS(x, many, p[1], many, (int[]){1 << 30, 1 << 30, 16}, 2, 1);
    if (!strcmp(what, "pack too many levels")) armci_write_strided(x, 9, many, many, (char *)x);
    if (!strcmp(what, "pack less than nothing")) armci_read_strided(x, 1, many, (int[]){8, -1}, (char *)x);
    if (!strcmp(what, "copy less than nothing")) ARMCI_Copy(x, x, -8);
    if (!strcmp(what, "copy from nowhere")) ARMCI_Copy(NULL, x, 8);
    if (!strcmp(what, "copy to nowhere")) ARMCI_Copy(x, NULL, 8);
    if (!strcmp(what, "no such domain")) armci_domain_nprocs(ARMCI_DOMAIN_SMP, 5);
    if (!strcmp(what, "no lists")) ARMCI_PutV(NULL, 2, 1);
    if (!strcmp(what, "no addresses")) ARMCI_GetV(&(armci_giov_t){p, NULL, 8, 1}, 1, 1);
    if (!strcmp(what, "fewer than no lists")) ARMCI_PutV(NULL, -2, 1);
    if (!strcmp(what, "nothing to swap")) ARMCI_Rmw(ARMCI_SWAP, NULL, p[1], 1, 1);
    if (!strcmp(what, "crooked counter")) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, x, (char *)p[1] + 4, 1, 1);
    if (!strcmp(what, "no space for pointers")) ARMCI_Malloc(NULL, 8);
    if (!strcmp(what, "less than nothing")) ARMCI_Malloc_local(-8);
    if (!strcmp(what, "a mutex too many")) ARMCI_Lock(2, 0);
    if (!strcmp(what, "not locked")) ARMCI_Unlock(1, 0);
    if (!strcmp(what, "locked twice")) ARMCI_Lock(1, 1), ARMCI_Lock(1, 1);
    if (!strcmp(what, "a set's not locked")) ARMCIX_Unlock_hdl(set, 1, 0);
    if (!strcmp(what, "a set's mutex too many")) ARMCIX_Lock_hdl(set, 2, 0);
    if (!strcmp(what, "a value of nobody")) ARMCI_GetValueInt(p[1], 2);
    if (!strcmp(what, "a value to nobody")) ARMCI_PutValueDouble(1, p[1], 2);
    if (!strcmp(what, "a scope's operation")) armci_msg_gop_scope(SCOPE_ALL, x, 1, "plus", ARMCI_DOUBLE);
    if (!strcmp(what, "a node's operation")) armci_msg_clus_igop((int *)many, 1, "plus");
    if (!strcmp(what, "a group's operation")) armci_msg_group_lgop((long[]){1}, 1, "plus", &both);
    if (!strcmp(what, "no neighbour")) armci_sameclusnode(2);
    if (!strcmp(what, "no group to double")) ARMCIX_Group_dup(NULL, &none);
    if (!strcmp(what, "a patch and a flag")) ARMCI_PutS_flag_dir(x, many, p[1], many, many, 9, NULL, 1, 1);
    if (!strcmp(what, "no pointers of a device")) ARMCI_Malloc_memdev(NULL, 8, "host");
    if (!strcmp(what, "a child's stranger")) ARMCI_Group_create_child(1, (int[]){5}, &none, &both);
    if (!strcmp(what, "a stranger in a group")) ARMCI_Group_create(2, (int[]){0, 5}, &none);
    if (!strcmp(what, "twice in a group")) ARMCI_Group_create(2, (int[]){0, 0}, &none);
    if (!strcmp(what, "no handle")) ARMCI_Test(NULL);
    if (!strcmp(what, "no group to free")) ARMCI_Group_free(NULL);
    if (!strcmp(what, "no such root")) armci_msg_bcast(x, 8, 2);
    if (!strcmp(what, "no message")) armci_msg_snd(1, NULL, 8, 1);
    if (!strcmp(what, "no such scope")) armci_msg_bcast_scope(9, x, 8, 0);
    if (!strcmp(what, "no such type")) armci_msg_reduce(x, 1, "+", 9);
    if (!strcmp(what, "no such process")) ARMCI_Put(x, p[1], 8, 2);
    if (!strcmp(what, "not its memory")) ARMCI_Put(x, x, 8, 1);
    if (!strcmp(what, "too far")) ARMCI_Get((char *)p[1] + (1L << 36), x, 8, 1);
    if (!strcmp(what, "patch too far")) ARMCI_PutS(x, stride, p[1], (int[]){1 << 30}, (int[]){8, 60}, 1, 1);
    if (!strcmp(what, "list elsewhere")) {
      src[0] = dst[0] = x;
      ARMCI_PutV(&(armci_giov_t){src, dst, 8, 1}, 1, 1);
    }
    if (!strcmp(what, "past a block")) ARMCI_Put(x, (char *)p[1] + 60, 8, 1);
    if (!strcmp(what, "past one's own")) ARMCI_Get((char *)p[0] + 64, x, 4, 0);
    if (!strcmp(what, "patch past a block")) ARMCI_GetS(p[1], stride, x, stride, (int[]){8, 3}, 1, 1);
    if (!strcmp(what, "patch before one's own")) ARMCI_PutS(x, stride, p[0], (int[]){-8}, (int[]){8, 2}, 1, 0);
    if (!strcmp(what, "list past a block")) {
      src[0] = (char *)p[1] + 64 - 4;
      dst[0] = x;
      ARMCI_GetV(&(armci_giov_t){src, dst, 8, 1}, 1, 1);
    }
    if (!strcmp(what, "counter past a block")) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, x, (char *)p[1] + 64, 1, 1);
    if (!strcmp(what, "negative")) ARMCI_Put(x, p[1], -4, 1);
    if (!strcmp(what, "levels")) ARMCI_GetS(p[1], many, x, many, many, 9, 1);
    if (!strcmp(what, "type")) ARMCI_Acc(77, &one, x, p[1], 8, 1);
    if (!strcmp(what, "half an element")) ARMCI_AccS(ARMCI_ACC_DCP, x, x, stride, p[1], stride, (int[]){24, 2}, 1, 1);
    if (!strcmp(what, "rmw")) ARMCI_Rmw(9, x, p[1], 1, 1);
    if (!strcmp(what, "no mutexes")) ARMCI_Lock(0, 0);
    if (!strcmp(what, "no group")) {
      memset(&none, 1, sizeof none);
      armci_msg_group_barrier(&none);
    }
    if (!strcmp(what, "free twice")) {
      void *q = ARMCI_Malloc_local(8);
      ARMCI_Free_local(q);
      ARMCI_Free_local(q);
    }
    if (!strcmp(what, "operation")) armci_msg_dgop(x, 1, "plus");
    if (!strcmp(what, "of reals")) armci_msg_dgop(x, 1, "or");
    if (!strcmp(what, "short buffer")) {
      armci_msg_snd(1, x, 64, 0);
      armci_msg_rcv(1, x, 8, NULL, 0);
    }
    if (!strcmp(what, "error")) ARMCI_Error("the program's own words", 42);
    if (!strcmp(what, "error with its line's end")) ARMCI_Error("the program's own words\n", 42);
  }
#ifdef EACH
  if (*what) copy_went_on();
#endif
  (void)count;
  ARMCI_Barrier();
  ARMCI_Finalize();
  return 0;
}
