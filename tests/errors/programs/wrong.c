/*
 * Makes one mistake. usage: wrong MISTAKE. The last PE makes it alone (where a call is collective: all PEs do) while
 * the others wait in a barrier. Prints "went on" if the library let it pass. "none" makes no mistake. With EACH it
 * makes every mistake of a single PE, each in a copy of the last PE's process, and prints the exit code of each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef EACH
#include "support/copies.h"
#endif

static long global = 3, lock, source[4] = {1, 2, 3, 4};
static int wrong_me, wrong_n;
static long *heap, *heap_sync;
#define HEAP_LONGS 16

typedef struct mistake {
  const char *name;
  void (*make)(void);
} mistake;

static long *stack_variable(void)
{
  static _Thread_local long private_to_thread;
  return &private_to_thread;
}

/* --- a wrong PE --- */
static void put_pe_negative(void)
{
  shmem_long_put(heap, source, 1, -1);
}
static void put_pe_n(void)
{
  shmem_long_put(heap, source, 1, wrong_n);
}
static void put_nbi_pe_huge(void)
{
  shmem_long_put_nbi(heap, source, 1, INT32_MAX);
}
static void get_pe_n(void)
{
  shmem_long_get(source, heap, 1, wrong_n);
}
static void p_pe_n(void)
{
  shmem_long_p(heap, 1, wrong_n);
}
static void g_pe_min(void)
{
  (void)shmem_long_g(heap, INT32_MIN);
}
static void add_pe_n(void)
{
  shmem_long_atomic_add(heap, 1, wrong_n);
}
static void putmem_pe_n(void)
{
  shmem_putmem(heap, source, 8, wrong_n);
}
static void broadcast_root_n(void)
{
  shmem_broadcastmem(SHMEM_TEAM_WORLD, heap, source, 8, wrong_n);
}

/* --- memory that is not symmetric, or not all of it --- */
static void put_constant(void)
{
  static const long constant = 1;
  shmem_long_p((long *)(uintptr_t)&constant, 2, 0);
}
static void get_over_end_of_constants(void)
{
  static const long constant = 1;
  static char bytes[8];
  shmem_getmem(bytes, &constant, (size_t)1 << 32, 0);
}
static void put_stack(void)
{
  long here[2];
  shmem_long_put(here, source, 2, 0);
}
static void put_malloc(void)
{
  shmem_long_put(malloc(8), source, 1, 0);
}
static void put_null(void)
{
  shmem_long_put(NULL, source, 1, 0);
}
static void put_thread_local(void)
{
  shmem_long_put(stack_variable(), source, 1, 0);
}
static void put_code(void)
{
  shmem_char_p((char *)(uintptr_t)put_code, 1, 0);
}
static void put_library_variable(void)
{
  /* an int of the C library that nothing here names, so that it stays there */
  shmem_int_p(dlsym(RTLD_DEFAULT, "getdate_err"), 1, 0);
}
static void put_wild(void)
{
  shmem_long_p((long *)(uintptr_t)0xdeadbeef0000, 1, 0);
}
static void put_other_slice(void)
{
  shmem_long_p(shmem_ptr(heap, 0), 1, 0);
}
static void get_stack(void)
{
  long here = 0;
  shmem_long_get(source, &here, 1, 0);
}
static void get_null(void)
{
  shmem_long_get(source, NULL, 1, 0);
}
static void g_null(void)
{
  (void)shmem_long_g(NULL, 0);
}
static void swap_stack(void)
{
  long here = 0;
  shmem_long_atomic_swap(&here, 1, 0);
}
static void fetch_null(void)
{
  (void)shmem_long_atomic_fetch(NULL, 0);
}
static void put_over_end(void)
{
  shmem_long_put(heap, source, ((size_t)1 << 60) / 8, 0);
}
static void putmem_over_end(void)
{
  shmem_putmem(heap, source, (size_t)1 << 40, 0);
}
static void get_over_end_of_variables(void)
{
  shmem_getmem(heap, &global, (size_t)1 << 32, 0);
}
static void sum_stack(void)
{
  long here = 1;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, &here, 1);
}
static void broadcast_stack(void)
{
  long here = 1;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, &here, source, 1, 0);
}
static void lock_stack(void)
{
  long here = 0;
  shmem_set_lock(&here);
}
static void lock_null(void)
{
  shmem_set_lock(NULL);
}

/* --- counts and pointers of this PE --- */
static void put_count_max(void)
{
  shmem_long_put(heap, source, SIZE_MAX, 0);
}
static void put_count_wraps(void)
{
  shmem_long_put(heap, source, SIZE_MAX / 8 + 2, 0);
}
static void putmem_count_max(void)
{
  shmem_putmem(heap, source, SIZE_MAX, 0);
}
static void get_count_max(void)
{
  shmem_long_get(source, heap, SIZE_MAX, 0);
}
static void sum_count_max(void)
{
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap, SIZE_MAX);
}
static void put_source_null(void)
{
  shmem_long_put(heap, NULL, 1, 0);
}
static void get_dest_null(void)
{
  shmem_long_get(NULL, heap, 1, 0);
}
static void putmem_source_null(void)
{
  shmem_putmem(heap, NULL, 3, 0);
}
static void fetch_nbi_null(void)
{
  shmem_long_atomic_fetch_nbi(NULL, heap, 0);
}

/* --- alignment, comparison, context, team --- */
static void add_misaligned(void)
{
  shmem_long_atomic_add((long *)(void *)((char *)heap + 4), 1, 0);
}
static void cas_misaligned(void)
{
  shmem_int_atomic_compare_swap((int *)(void *)((char *)heap + 1), 0, 1, 0);
}
static void lock_misaligned(void)
{
  shmem_set_lock((long *)(void *)((char *)heap + 4));
}
static void short_wait_misaligned(void)
{
  shmem_short_wait((short *)((char *)heap + 1), 1);
}
static void wait_all_misaligned(void)
{
  shmem_int_wait_until_all((int *)((char *)heap + 2), 2, NULL, SHMEM_CMP_EQ, 0);
}
static void test_misaligned(void)
{
  (void)!shmem_ushort_test((unsigned short *)((char *)heap + 3), SHMEM_CMP_EQ, 0);
}
static void wait_misaligned(void)
{
  shmem_long_wait_until((long *)(void *)((char *)heap + 2), SHMEM_CMP_EQ, 0);
}
static void wait_null(void)
{
  shmem_long_wait_until(NULL, SHMEM_CMP_EQ, 0);
}
static void wait_cmp_17(void)
{
  shmem_long_wait_until(heap, 17, 0);
}
static void test_cmp_minus_1(void)
{
  (void)shmem_long_test(heap, -1, 0);
}
static void put_ctx_unknown(void)
{
  shmem_ctx_long_put((shmem_ctx_t)(intptr_t)0x55, heap, source, 1, 0);
}
static void quiet_ctx_unknown(void)
{
  shmem_ctx_quiet((shmem_ctx_t)(intptr_t)0x55);
}
static void sum_team_unknown(void)
{
  shmem_long_sum_reduce((shmem_team_t)(intptr_t)0x77, heap, heap, 1);
}
static void sync_team_invalid(void)
{
  shmem_team_sync(SHMEM_TEAM_INVALID);
}

/* --- the heap; all PEs --- */
static void free_interior(void)
{
  shmem_free(heap + 1);
}
static void free_twice(void)
{
  long *p = shmem_malloc(8);
  shmem_free(p);
  shmem_free(p);
}
static void free_malloc(void)
{
  shmem_free(malloc(8));
}
static void free_global(void)
{
  shmem_free(&global);
}
static void free_global_on_all(void)
{
  shmem_free(&global);
}
static void free_stack(void)
{
  long here;
  shmem_free(&here);
}
static void realloc_foreign(void)
{
  (void)!shmem_realloc(&global, 16);
}
static void malloc_unalike(void)
{
  for (int i = 0; i < 2; i++) (void)!shmem_malloc(100 + 8 * (size_t)wrong_me);
}
static void free_unalike(void)
{
  long *p = shmem_malloc(8);
  shmem_free(wrong_me ? heap : p);
}
static void realloc_unalike(void)
{
  (void)!shmem_realloc(wrong_me ? heap : NULL, 16);
}
static void put_beyond_the_heap_s_blocks(void)
{
  shmem_putmem(heap, source, (size_t)16 << 20, 0); /* the default heap has as much, and nothing lies there */
}

static void p_beyond_the_heap_s_blocks(void)
{
  shmem_long_p(heap + (2 << 20), 1, 0);
}

/* Twice, and the second time nothing is said. */
static void align_by(size_t alignment)
{
  for (int i = 0; i < 2; i++) puts(shmem_align(alignment, 64) ? "GOT IT" : "NULL");
}
static void align_0(void)
{
  align_by(0);
}
static void align_3(void)
{
  align_by(3);
}
static void align_24(void)
{
  align_by(24);
}
static void align_32m(void)
{
  align_by((size_t)32 << 20);
}
static void align_minus_1(void)
{
  align_by(SIZE_MAX);
}

/* --- teams, contexts, active sets, signals, strides --- */
static shmem_team_t solo; /* of the last PE alone */

static shmem_ctx_t context(long options)
{
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  if (shmem_team_create_ctx(solo, options, &ctx) != 0) printf("NO context\n");
  return ctx;
}
static void put_ctx_invalid(void)
{
  shmem_ctx_long_p(SHMEM_CTX_INVALID, heap, 1, 0);
}
static void put_ctx_freed(void)
{
  shmem_ctx_t ctx = context(0);
  shmem_ctx_destroy(ctx);
  shmem_ctx_long_p(ctx, heap, 1, 0);
}
static void *put_on(void *ctx)
{
  shmem_ctx_long_p(*(shmem_ctx_t *)ctx, heap, 1, 0);
  return NULL;
}
static void put_ctx_private(void)
{
  shmem_ctx_t ctx = context(SHMEM_CTX_PRIVATE);
  pthread_t other;
  pthread_create(&other, NULL, put_on, &ctx);
  pthread_join(other, NULL);
}
static void *put_twice(void *unused)
{
  shmem_long_p(heap, 1, 0);
  shmem_long_p(heap, 1, 0);
  return unused;
}
static void other_thread(void)
{
  pthread_t other;
  for (int i = 0; i < 2; i++) {
    pthread_create(&other, NULL, put_twice, NULL);
    pthread_join(other, NULL);
  }
}
static void split_contexts_negative(void)
{
  shmem_team_t team;
  shmem_team_config_t config = {.num_contexts = -1};
  shmem_team_split_strided(solo, 0, 1, 1, &config, SHMEM_TEAM_NUM_CONTEXTS, &team);
}
static void put_ctx_pe_of_world(void)
{
  shmem_ctx_long_p(context(0), heap, 1, 1);
}
static void ctx_options_unknown(void)
{
  shmem_ctx_t ctx;
  shmem_ctx_create(1024, &ctx);
}
static void ctx_destroy_default(void)
{
  shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
}
static void session_config_null(void)
{
  shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, SHMEM_CTX_SESSION_TOTAL_OPS);
}
static void info_name_null(void)
{
  shmem_info_get_name(NULL);
}
static void info_minor_null(void)
{
  int major;
  shmem_info_get_version(&major, NULL);
}
static void query_initialized_null(void)
{
  shmem_query_initialized(NULL);
}
static void init_thread_null(void)
{
  shmem_init_thread(SHMEM_THREAD_SINGLE, NULL);
}
static void sync_team_freed(void)
{
  shmem_team_destroy(solo);
  shmem_team_sync(solo);
}
static void destroy_team_world(void)
{
  shmem_team_destroy(SHMEM_TEAM_WORLD);
}
static void destroy_team_with_private_ctx(void)
{
  context(SHMEM_CTX_PRIVATE);
  shmem_team_destroy(solo);
}
static void active_set_too_large(void)
{
  shmem_barrier(1, 0, 2, heap_sync);
}
static void active_set_of_others(void)
{
  shmem_barrier(0, 0, 1, heap_sync);
}
static void active_set_sync_stack(void)
{
  long sync[SHMEM_BARRIER_SYNC_SIZE] = {0};
  shmem_barrier(1, 0, 1, sync);
}
static void broadcast_root_of_team(void)
{
  shmem_long_broadcast(solo, heap, heap, 1, 1);
}
static void signal_stack(void)
{
  uint64_t here = 0;
  shmem_long_put_signal(heap, source, 1, &here, 1, SHMEM_SIGNAL_SET, 0);
}
static void signal_misaligned(void)
{
  shmem_signal_add((uint64_t *)(void *)((char *)heap + 4), 1, 0);
}
static void signal_op_7(void)
{
  shmem_long_put_signal(heap, source, 1, (uint64_t *)heap + 8, 1, 7, 0);
}
static void signal_in_dest(void)
{
  shmem_long_put_signal(heap, source, 4, (uint64_t *)heap + 3, 1, SHMEM_SIGNAL_SET, 0);
}
static void signal_wait_stack(void)
{
  uint64_t here = 0;
  shmem_signal_wait_until(&here, SHMEM_CMP_EQ, 1);
}
static void iput_stride_0(void)
{
  shmem_long_iput(heap, source, 0, 1, 2, 0);
}
static void iput_over_end(void)
{
  shmem_long_iput(heap, source, (ptrdiff_t)1 << 40, 1, 2, 0);
}
static void iget_over_end(void)
{
  shmem_long_iget(source, heap, 1, (ptrdiff_t)1 << 62, 4, 0);
}
static void ibput_wraps(void)
{
  shmem_long_ibput(heap, source, 1, 1, SIZE_MAX, 2, 0);
}
static void ibput_blocks_overlap(void)
{
  shmem_long_ibput(heap, source, 2, 3, 3, 2, 0);
}
static void ibget_blocks_overlap(void)
{
  shmem_ibget64(heap, source, 3, 2, 3, 1, 0); /* one block has no next one */
  shmem_ibget64(source, heap, 3, 2, 3, 2, 0);
}
static void fcollect_over_end(void)
{
  shmem_long_fcollect(SHMEM_TEAM_WORLD, heap, heap, (size_t)1 << 40);
}
static void alltoall_over_end(void)
{
  shmem_long_alltoall(SHMEM_TEAM_WORLD, heap, heap, (size_t)1 << 40);
}
static void wait_any_null(void)
{
  shmem_long_wait_until_any(NULL, 2, NULL, SHMEM_CMP_EQ, 1);
}
static void test_some_null(void)
{
  shmem_long_test_some(heap, 2, NULL, NULL, SHMEM_CMP_EQ, 1);
}
static void split_unalike(void)
{
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1 + wrong_me, NULL, 0, &team);
}

/* --- PEs that meet, but not alike: named with SHMEM_DEBUG --- */
static void count_unalike(void)
{
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap + 8, 1 + (size_t)wrong_me);
}
static void root_unalike(void)
{
  shmem_long_broadcast(SHMEM_TEAM_WORLD, heap, heap + 8, 4, wrong_me);
}
static void stride_unalike(void)
{
  shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 8, 1 + wrong_me, 1, 1);
}
static void dest_unalike(void)
{
  shmem_long_fcollect(SHMEM_TEAM_WORLD, heap + 2 * wrong_me, heap + 8, 1);
}
static void source_unalike(void)
{
  shmem_long_max_reduce(SHMEM_TEAM_WORLD, heap, wrong_me ? &global : heap + 8, 1);
}
static void set_count_unalike(void)
{
  if (wrong_me == 2) shmem_barrier_all(); /* is not in the set */
  shmem_broadcast64(heap, heap + 8, 1 + (size_t)wrong_me, 0, 0, 0, 2, heap_sync);
}
static void call_unalike(void)
{
  if (wrong_me)
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap + 8, 1);
  else
    shmem_barrier_all();
}
static void type_unalike(void)
{
  if (wrong_me)
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap + 8, 1);
  else
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)heap, (double *)heap + 8, 1);
}
static void teams_without_end(void)
{
  shmem_team_t team;
  while (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team) == 0) {}
}
static void sync_or_barrier(void)
{
  if (wrong_me)
    shmem_barrier_all();
  else
    shmem_sync_all();
}
static void malloc_or_barrier(void)
{
  if (wrong_me)
    shmem_barrier_all();
  else
    (void)!shmem_malloc(8);
}
static void destroy_or_sync(void)
{
  shmem_team_t both;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, wrong_n, NULL, 0, &both);
  if (wrong_me)
    shmem_team_sync(both);
  else
    shmem_team_destroy(both);
}
static void ended_or_barrier(void)
{
  if (!wrong_me) exit(0);
  shmem_barrier_all();
}
static void fcollect_into_source(void)
{
  shmem_long_fcollect(SHMEM_TEAM_WORLD, heap, heap + 1, 1);
}
static void alltoall_in_place(void)
{
  shmem_long_alltoall(SHMEM_TEAM_WORLD, heap, heap, 1);
}
/* Syncs of a team match under any name; a count of collect is each PE's own; no argument is checked if no data move. */
static void alike_enough(void)
{
  if (wrong_me)
    shmem_sync_all();
  else
    shmem_team_sync(SHMEM_TEAM_WORLD);
  shmem_long_collect(SHMEM_TEAM_WORLD, heap, heap + 8, (size_t)wrong_me);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, wrong_me ? heap : NULL, 0);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, heap, 2);
  shmem_long_alltoalls(SHMEM_TEAM_WORLD, heap, heap + 1, 2, 2, 1);
  shmem_barrier_all();
}

/* Named always. */
static void sum_overlaps(void)
{
  shmem_long_sum_reduce(solo, heap, heap + 1, 2);
}
static void broadcast_overlaps(void)
{
  shmem_broadcastmem(solo, heap + 1, heap, 9, 0);
}

static void exhausted(size_t bytes)
{
  void *p = shmem_malloc(bytes);
  printf("PE %d: %s\n", wrong_me, p ? "GOT IT" : "NULL");
  void *small = shmem_malloc(64); /* the heap is whole */
  if (!small) printf("PE %d: NOT WHOLE\n", wrong_me);
}
static void malloc_too_much(void)
{
  exhausted((size_t)1 << 40);
}
static void malloc_max(void)
{
  exhausted(SIZE_MAX);
}
static void malloc_max_less(void)
{
  exhausted(SIZE_MAX - 64);
}
static void malloc_all(void)
{
  exhausted((size_t)1 << 20);
}
static void align_too_much(void)
{
  printf("PE %d: %s\n", wrong_me, shmem_align(4096, (size_t)1 << 40) ? "GOT IT" : "NULL");
}
static void align_max(void)
{
  printf("PE %d: %s\n", wrong_me, shmem_align(4096, SIZE_MAX - 100) ? "GOT IT" : "NULL");
}
static void calloc_too_much(void)
{
  printf("PE %d: %s\n", wrong_me, shmem_calloc(1 << 20, 1 << 20) ? "GOT IT" : "NULL");
}
static void calloc_wraps(void)
{
  printf("PE %d: %s\n", wrong_me, shmem_calloc(SIZE_MAX / 2, 4) ? "GOT IT" : "NULL");
}
static void realloc_too_much(void)
{
  long *p = shmem_malloc(64);
  p[7] = 17;
  printf("PE %d: %s\n", wrong_me, shmem_realloc(p, (size_t)1 << 40) ? "GOT IT" : "NULL");
  printf("PE %d: %s\n", wrong_me, p[7] == 17 ? "old block intact" : "OLD BLOCK LOST");
  shmem_free(p);
}

/* --- locks --- */
static void test_some_in_place(void)
{
  shmem_ulong_test_some((unsigned long *)heap, 4, (size_t *)heap, NULL, SHMEM_CMP_EQ, 0);
}
static void wait_some_status_in_indices(void)
{
  static size_t indices[4];
  shmem_long_wait_until_some(heap, 4, indices, (int *)indices + 7, SHMEM_CMP_EQ, 0);
}
static void wait_any_status_in_ivars(void)
{
  shmem_long_wait_until_any(heap, 4, (int *)heap + 7, SHMEM_CMP_EQ, 0);
}
static void clear_not_held(void)
{
  shmem_clear_lock(&lock);
}
static void set_twice(void)
{
  shmem_set_lock(&lock);
  shmem_set_lock(&lock);
}
static void clear_twice(void)
{
  shmem_set_lock(&lock);
  shmem_clear_lock(&lock);
  shmem_clear_lock(&lock);
}

/* --- when --- */
static void after_finalize_put(void)
{
  shmem_finalize();
  shmem_long_p(heap, 1, 0);
}
static void after_finalize_n_pes(void)
{
  shmem_finalize();
  (void)shmem_n_pes();
}
static void finalize_twice(void)
{
  shmem_finalize();
  shmem_finalize();
}

/* --- right, though it may look wrong --- */
/* The next PE, which there is not, is any number of PEs away. */
static void sets_of_one(void)
{
  const int strides[] = {0, 1, 30, 31, 77, -1, INT_MIN, INT_MAX};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    heap[1] = 0;
    shmem_barrier(wrong_me, strides[i], 1, heap_sync);
    shmem_long_sum_to_all(heap + 1, heap + 2, 1, wrong_me, strides[i], 1, heap + 3, heap_sync);
    if (heap[1] != heap[2]) printf("NOT the sum of one PE at stride %d\n", strides[i]);
  }
}

static void none(void)
{
  long here = 5;
  shmem_long_put(heap, NULL, 0, 0);
  shmem_long_put(heap + HEAP_LONGS, &here, 0, 0);
  shmem_long_get(&here, &global, 1, 0);
  shmem_putmem(heap, (char *)source + 1, 3, 0);
  shmem_free(NULL);
  if (shmem_malloc(0)) puts("malloc(0) IS NOT NULL");
  sets_of_one();
}

#define M(name)                                                                                                        \
  {                                                                                                                    \
#name, name                                                                                                        \
  }
static const mistake alone[] = {
    M(put_pe_negative),
    M(put_pe_n),
    M(put_nbi_pe_huge),
    M(get_pe_n),
    M(p_pe_n),
    M(g_pe_min),
    M(add_pe_n),
    M(putmem_pe_n),
    M(put_stack),
    M(put_constant),
    M(get_over_end_of_constants),
    M(put_malloc),
    M(put_null),
    M(put_thread_local),
    M(put_code),
    M(put_library_variable),
    M(put_wild),
    M(put_other_slice),
    M(get_stack),
    M(get_null),
    M(g_null),
    M(swap_stack),
    M(fetch_null),
    M(put_over_end),
    M(putmem_over_end),
    M(get_over_end_of_variables),
    M(lock_stack),
    M(lock_null),
    M(put_count_max),
    M(put_count_wraps),
    M(putmem_count_max),
    M(get_count_max),
    M(put_source_null),
    M(get_dest_null),
    M(putmem_source_null),
    M(fetch_nbi_null),
    M(add_misaligned),
    M(cas_misaligned),
    M(lock_misaligned),
    M(wait_misaligned),
    M(short_wait_misaligned),
    M(wait_all_misaligned),
    M(test_misaligned),
    M(wait_null),
    M(wait_cmp_17),
    M(test_cmp_minus_1),
    M(put_ctx_unknown),
    M(quiet_ctx_unknown),
    M(sync_team_invalid),
    M(test_some_in_place),
    M(wait_some_status_in_indices),
    M(wait_any_status_in_ivars),
    M(clear_not_held),
    M(set_twice),
    M(clear_twice),
    M(free_interior),
    M(free_malloc),
    M(free_global),
    M(free_stack),
    M(realloc_foreign),
    M(put_beyond_the_heap_s_blocks),
    M(p_beyond_the_heap_s_blocks),
    M(align_0),
    M(align_3),
    M(align_24),
    M(align_32m),
    M(align_minus_1),
    M(sum_team_unknown),
    M(sum_count_max),
    M(broadcast_root_n),
    M(sum_stack),
    M(broadcast_stack),
    M(put_ctx_invalid),
    M(put_ctx_freed),
    M(split_contexts_negative),
    M(put_ctx_private),
    M(other_thread),
    {"other_thread_funneled", other_thread},
    {"other_thread_serialized", other_thread},
    M(put_ctx_pe_of_world),
    M(ctx_options_unknown),
    M(ctx_destroy_default),
    M(session_config_null),
    M(info_name_null),
    M(info_minor_null),
    M(query_initialized_null),
    M(init_thread_null),
    M(sync_team_freed),
    M(destroy_team_world),
    M(destroy_team_with_private_ctx),
    M(active_set_too_large),
    M(active_set_of_others),
    M(active_set_sync_stack),
    M(broadcast_root_of_team),
    M(signal_stack),
    M(signal_misaligned),
    M(signal_op_7),
    M(signal_in_dest),
    M(signal_wait_stack),
    M(iput_stride_0),
    M(iput_over_end),
    M(iget_over_end),
    M(ibput_wraps),
    M(ibput_blocks_overlap),
    M(ibget_blocks_overlap),
    M(fcollect_over_end),
    M(alltoall_over_end),
    M(wait_any_null),
    M(test_some_null),
    M(sum_overlaps),
    M(broadcast_overlaps),
};
static const mistake together[] = {
    M(free_twice),
    M(free_global_on_all),
    M(malloc_unalike),
    M(free_unalike),
    M(split_unalike),
    M(malloc_too_much),
    M(malloc_max),
    M(malloc_max_less),
    M(malloc_all),
    M(align_too_much),
    M(align_max),
    M(calloc_too_much),
    M(calloc_wraps),
    M(realloc_too_much),
    M(after_finalize_put),
    M(after_finalize_n_pes),
    M(finalize_twice),
    M(realloc_unalike),
    M(none),
    M(count_unalike),
    M(root_unalike),
    M(stride_unalike),
    M(dest_unalike),
    M(source_unalike),
    M(set_count_unalike),
    M(call_unalike),
    M(type_unalike),
    M(teams_without_end),
    M(sync_or_barrier),
    M(malloc_or_barrier),
    M(destroy_or_sync),
    M(ended_or_barrier),
    M(fcollect_into_source),
    M(alltoall_in_place),
    M(alike_enough),
};

enum { N_ALONE = sizeof alone / sizeof alone[0], N_TOGETHER = sizeof together / sizeof together[0] };

#ifdef EACH
static void make_each(void)
{
  for (int i = 0; i < N_ALONE; i++) {
    if (copy_makes(alone[i].name)) {
      alone[i].make();
      copy_went_on();
    }
    for (int pe = 0; pe < wrong_n; pe++) shmem_long_p(&lock, 0, pe); /* a copy may have held it */
  }
}
#else
static int find_and_make(const mistake *list, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++) {
    if (strcmp(list[i].name, name) != 0) continue;
    list[i].make();
    printf("PE %d went on\n", wrong_me);
    return 1;
  }
  return 0;
}

static int known(const mistake *list, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i].name, name) == 0) return 1;
  return 0;
}
#endif

int main(int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : "none";
  if (strcmp(name, "before_init_put") == 0) shmem_long_p(&global, 1, 0);
  if (strcmp(name, "before_init_malloc") == 0) (void)!shmem_malloc(8);
  if (strcmp(name, "before_init_my_pe") == 0) (void)shmem_my_pe();
  if (strcmp(name, "before_init_finalize") == 0) shmem_finalize();
  int level = strcmp(name, "put_ctx_private") == 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
  if (strcmp(name, "other_thread_funneled") == 0) level = SHMEM_THREAD_FUNNELED;
  if (strcmp(name, "other_thread_serialized") == 0) level = SHMEM_THREAD_SERIALIZED;
  if (level == SHMEM_THREAD_SINGLE)
    shmem_init();
  else
    shmem_init_thread(level, &level);
  wrong_me = shmem_my_pe();
  wrong_n = shmem_n_pes();
  heap = shmem_malloc(HEAP_LONGS * sizeof *heap);
  memset(heap, 0, HEAP_LONGS * sizeof *heap);
  heap_sync = shmem_calloc(SHMEM_SYNC_SIZE, sizeof *heap_sync);
  shmem_team_split_strided(SHMEM_TEAM_WORLD, wrong_n - 1, 1, 1, NULL, 0, &solo);
  shmem_barrier_all();
#ifdef EACH
  if (wrong_me == wrong_n - 1) make_each();
  shmem_barrier_all();
#else
  if (known(alone, N_ALONE, name)) {
    if (wrong_me == wrong_n - 1) find_and_make(alone, N_ALONE, name);
    shmem_barrier_all();
  } else if (!find_and_make(together, N_TOGETHER, name)) {
    printf("no mistake is called %s\n", name);
    return 99;
  }
#endif
  return 0;
}
