/* armci_memory.c - ARMCI's allocation routines. */
#include <stdlib.h>

#include "armci/armci_front.h"
#include "global/global_memory.h"
#include "global/block_table.h"

/* A process contributes the address of its part, 0 for none, or NO_SPACE if it has no space. */
enum { NO_SPACE = 1 };

static int allocate(const wtl_frame *f, wtl_group *g, void **ptrs, armci_size_t bytes)
{
  wtl_pe *self = f->self;
  armci_check_given(f, "ptr_arr", ptrs, sizeof *ptrs);
  armci_check_that(f, bytes >= 0, "bytes", bytes, "0 and more");
  armci_synchronize(f, g, 0, 0);
  uintptr_t mine = bytes ? (uintptr_t)wtl_global_alloc(self, (size_t)bytes) : 0;
  bool failed = false;
  if (bytes && !mine) {
    mine = NO_SPACE;
    wtl_message_print("%s: no space for %ld bytes: %zu of %zu bytes are in use; the call fails on all processes (raise "
                      "WATTLE_GLOBAL_SIZE)",
                      wtl_error_place(f->name), bytes, self->global->heap.live_bytes, self->global->heap.bytes);
  }
  wtl_group_gather(self, f->site, g, &mine, ptrs, sizeof mine);
  for (int i = 0; i < g->n; i++) failed |= (uintptr_t)ptrs[i] == NO_SPACE;
  if (!failed && mine) wtl_global_mark_shared(self, (void *)mine);
  if (!failed) return 0;
  if (mine > NO_SPACE) wtl_global_free(self, (void *)mine);
  for (int i = 0; i < g->n; i++) ptrs[i] = NULL;
  return 1;
}

static void refuse_block(const wtl_frame *f, const void *p)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: ptr=%p is not the start of memory that this process got and has not freed",
              wtl_error_place(f->name), p);
}

static void free_block(const wtl_frame *f, void *p)
{
  if (p && wtl_global_free(f->self, p) != 0) refuse_block(f, p);
}

/* When all members have arrived, no process uses the memory any more. */
static void free_together(const wtl_frame *f, wtl_group *g, void *ptr)
{
  armci_wait_all(f->self, f->site);
  wtl_global_fence(f->self, f->site, -1);
  armci_synchronize(f, g, 0, 0);
  wtl_group_barrier(f->self, f->site, g);
  free_block(f, ptr);
  wtl_blocks_forget(f->self);
}

int PARMCI_Malloc(void **ptrs, armci_size_t bytes)
{
  ARMCI_ENTER(ARMCI_Malloc, 0);
  int rc = allocate(&f, armci_of(f.self)->world, ptrs, bytes);
  return rc;
}
ARMCI_TWIN(int, Malloc, void **ptrs, armci_size_t bytes)

int PARMCI_Free(void *ptr)
{
  ARMCI_ENTER(ARMCI_Free, 0);
  free_together(&f, armci_of(f.self)->world, ptr);
  return 0;
}
ARMCI_TWIN(int, Free, void *ptr)

int ARMCI_Malloc_group(void **ptrs, armci_size_t bytes, ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Malloc_group, 0);
  int rc = allocate(&f, armci_member_group_of(&f, group), ptrs, bytes);
  return rc;
}

int ARMCI_Free_group(void *ptr, ARMCI_Group *group)
{
  ARMCI_ENTER(ARMCI_Free_group, 0);
  free_together(&f, armci_member_group_of(&f, group), ptr);
  return 0;
}

/* It is reachable like all other memory, because programs pass such addresses to each other, too. */
void *PARMCI_Malloc_local(armci_size_t bytes)
{
  ARMCI_ENTER(ARMCI_Malloc_local, 0);
  armci_check_that(&f, bytes >= 0, "bytes", bytes, "0 and more");
  void *p = wtl_global_alloc(f.self, bytes ? (size_t)bytes : 1);
  return p;
}
ARMCI_TWIN(void *, Malloc_local, armci_size_t bytes)

int PARMCI_Free_local(void *ptr)
{
  ARMCI_ENTER(ARMCI_Free_local, 0);
  if (ptr && wtl_global_is_shared(f.self, ptr))
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: ptr=%p is memory that several processes allocated together: free it together (ARMCI_Free, "
                "ARMCI_Free_group)",
                wtl_error_place(f.name), ptr);
  free_block(&f, ptr);
  return 0;
}
ARMCI_TWIN(int, Free_local, void *ptr)

/* --- allocation with a kind of memory ----------------------------------------------------------------------------- */

int PARMCI_Malloc_memdev(void **ptrs, armci_size_t bytes, const char *device)
{
  ARMCI_ENTER_AS(ARMCI_Malloc_memdev, ARMCI_Malloc, 0);
  (void)device;
  int rc = allocate(&f, armci_of(f.self)->world, ptrs, bytes);
  return rc;
}
ARMCI_TWIN(int, Malloc_memdev, void **ptrs, armci_size_t bytes, const char *device)

int PARMCI_Malloc_group_memdev(void **ptrs, armci_size_t bytes, ARMCI_Group *group, const char *device)
{
  ARMCI_ENTER_AS(ARMCI_Malloc_group_memdev, ARMCI_Malloc_group, 0);
  (void)device;
  int rc = allocate(&f, armci_member_group_of(&f, group), ptrs, bytes);
  return rc;
}
ARMCI_TWIN(int, Malloc_group_memdev, void **ptrs, armci_size_t bytes, ARMCI_Group *group, const char *device)

int PARMCI_Free_memdev(void *ptr)
{
  ARMCI_ENTER_AS(ARMCI_Free_memdev, ARMCI_Free, 0);
  free_together(&f, armci_of(f.self)->world, ptr);
  return 0;
}
ARMCI_TWIN(int, Free_memdev, void *ptr)

/* --- memory of one process for others ----------------------------------------------------------------------------- */

void PARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flag)
{
  ARMCI_ENTER(ARMCI_Memget, 0);
  armci_check_given(&f, "meminfo", info, sizeof *info);
  (void)flag;
  *info = (armci_meminfo_t){.size = bytes, .cpid = f.self->me};
  info->addr = info->armci_addr = bytes ? wtl_global_alloc(f.self, bytes) : NULL;
  if (bytes && !info->addr)
    wtl_pe_fail(WTL_EXIT_OSERR, "ARMCI_Memget: no space for %zu bytes (raise WATTLE_GLOBAL_SIZE)", bytes);
}
ARMCI_TWIN(void, Memget, size_t bytes, armci_meminfo_t *info, int flag)

void *PARMCI_Memat(armci_meminfo_t *info, long offset)
{
  if (!info) armci_refuse_null("ARMCI_Memat", "meminfo");
  return info->armci_addr ? info->armci_addr + offset : NULL;
}
ARMCI_TWIN(void *, Memat, armci_meminfo_t *info, long offset)

void PARMCI_Memdt(armci_meminfo_t *info, long offset)
{
  (void)info, (void)offset; /* an address holds no resource that could be freed */
}
ARMCI_TWIN(void, Memdt, armci_meminfo_t *info, long offset)

void PARMCI_Memctl(armci_meminfo_t *info)
{
  ARMCI_ENTER(ARMCI_Memctl, 0);
  armci_check_given(&f, "meminfo", info, sizeof *info);
  if (info->cpid == f.self->me) free_block(&f, info->armci_addr);
  info->armci_addr = info->addr = NULL;
}
ARMCI_TWIN(void, Memctl, armci_meminfo_t *info)

/* --- routines without an effect ----------------------------------------------------------------------------------- */

void PARMCI_Access_begin(void *ptr)
{
  (void)ptr;
  wtl_fence();
}
ARMCI_TWIN(void, Access_begin, void *ptr)

void PARMCI_Access_end(void *ptr)
{
  (void)ptr;
  wtl_fence();
}
ARMCI_TWIN(void, Access_end, void *ptr)

int ARMCI_Uses_shm(void)
{
  return 1;
}

int ARMCI_Uses_shm_grp(ARMCI_Group *group)
{
  (void)group;
  return 1;
}

void ARMCI_Set_shm_limit(unsigned long bytes)
{
  (void)bytes; /* WATTLE_GLOBAL_SIZE is the limit, and memory is used where it is touched */
}
