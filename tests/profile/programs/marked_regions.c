/*
 * marked_regions.c - marks regions in each way that is known, and synchronizes a different number of times in each.
 *
 * It is a program of MPI, or with USE_SHMEM of OpenSHMEM. The part for NVTX does as the header of NVTX 3 does: it loads
 * the library that a variable names, and passes it a function that returns tables of functions. It prints what the
 * tools and NVTX returned, so that its output is the same with Wattle and without.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wattle.h"
#ifdef USE_SHMEM
#include <shmem.h>
#define START() shmem_init()
#define SYNCHRONIZE() shmem_barrier_all()
#define IS_FIRST() (shmem_my_pe() == 0)
#define STOP() shmem_finalize()
#define NAMED_BEGIN(name) cali_begin_phase(name)
#define NAMED_END(name) cali_end_phase(name)
#else
#include <mpi.h>
static int provided, rank;
#define START() (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), MPI_Comm_rank(MPI_COMM_WORLD, &rank))
#define SYNCHRONIZE() MPI_Barrier(MPI_COMM_WORLD)
#define IS_FIRST() (rank == 0)
#define STOP() MPI_Finalize()
#define NAMED_BEGIN(name) MPI_Pcontrol(1, name)
#define NAMED_END(name) MPI_Pcontrol(-1, name)
#endif

void cali_begin_region(const char *);
void cali_end_region(const char *);
void cali_begin_phase(const char *);
void cali_end_phase(const char *);
void Tau_start(const char *);
void Tau_stop(const char *);
void cali_function(void *self, const char *name) __asm__("_ZN4cali8FunctionC1EPKc");
void cali_function_end(void *self) __asm__("_ZN4cali8FunctionD1Ev");
const char *noted_calls(void);

/* --- NVTX --- */

typedef struct event {
  uint16_t version, bytes;
  uint32_t category;
  int32_t color_kind;
  uint32_t color;
  int32_t payload_kind, reserved;
  uint64_t payload;
  int32_t message_kind;
  const void *message;
} event;

static void *core[16], *core2[16];
static void **core_at[16], **core2_at[16];

static int table_of(int module, void ****table, unsigned *n)
{
  *table = module == 1 ? core_at : module == 5 ? core2_at : NULL;
  *n = 16;
  return *table != NULL;
}

static const struct {
  size_t bytes;
  int (*table_of)(int, void ****, unsigned *);
} callbacks = {sizeof callbacks, table_of};

static const void *export(uint32_t number)
{
  return number == 1 ? &callbacks : NULL;
}

static void nvtx_start(void)
{
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *library = path ? dlopen(path, RTLD_LAZY) : NULL, *symbol;
  for (int i = 0; i < 16; i++) core_at[i] = &core[i], core2_at[i] = &core2[i];
  if (library && (symbol = dlsym(library, "InitializeInjectionNvtx2")) &&
      !((int (*)(const void *(*)(uint32_t)))symbol)(export))
    abort();
}

static int nvtx_push(const char *name)
{
  return core[9] ? ((int (*)(const char *))core[9])(name) : -2;
}

static int nvtx_pop(void)
{
  return core[11] ? ((int (*)(void))core[11])() : -2;
}

static uint64_t nvtx_range_start(const char *name)
{
  return core[5] ? ((uint64_t(*)(const char *))core[5])(name) : 0;
}

static void nvtx_range_end(uint64_t id)
{
  if (core[7]) ((void (*)(uint64_t))core[7])(id);
}

static int nvtx_domain_push(const char *name)
{
  event e = {.version = 3, .bytes = sizeof e, .message_kind = 3};
  e.message = core2[10] ? ((const void *(*)(void *, const char *))core2[10])(NULL, name) : NULL;
  return core2[4] ? ((int (*)(void *, const event *))core2[4])(NULL, &e) : -2;
}

static int nvtx_domain_pop(void)
{
  return core2[5] ? ((int (*)(void *))core2[5])(NULL) : -2;
}

/* --- the program --- */

#define DIGITS "0123456789"
#define LONG_NAME                                                                                                      \
  DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS DIGITS /* 130 bytes */

static void synchronize(int times)
{
  for (int i = 0; i < times; i++) SYNCHRONIZE();
}

static void *in_thread(void *arg)
{
  nvtx_push("in a thread");
  synchronize(12);
  nvtx_pop();
  return arg;
}

int main(int argc, char **argv)
{
  pthread_t thread;
  void *object;
  int levels;
  nvtx_start();
  cali_begin_region("main");
  START();
  synchronize(1);
  Tau_start("set up");
  synchronize(2);
  Tau_stop("set up");
  NAMED_BEGIN("solve");
  synchronize(3);
  levels = nvtx_push("halo");
  synchronize(4);
  levels += nvtx_pop();
  synchronize(3);
  NAMED_END("solve");
  uint64_t id = nvtx_range_start("range");
  synchronize(5);
  levels += nvtx_domain_push("registered");
  synchronize(6);
  nvtx_range_end(id); /* out of order */
  synchronize(7);
  levels += nvtx_domain_pop();
  wattle_energy_t *e = wattle_energy_open("none");
  wattle_region_begin(e, "joules");
  wattle_region_begin(e, "joules");
  synchronize(8);
  wattle_region_end(e, "joules");
  synchronize(1);
  wattle_region_end(e, "joules");
  wattle_energy_close(e);
#ifndef USE_SHMEM
  MPI_Pcontrol(0);
  MPI_Pcontrol(0);
  synchronize(10);
  MPI_Pcontrol(1);
  MPI_Pcontrol(1, LONG_NAME);
  MPI_Pcontrol(1, "a\ttab");
  synchronize(14);
  MPI_Pcontrol(-1, "a\ttab");
  MPI_Pcontrol(-1, LONG_NAME);
#endif
  cali_function(&object, "work");
  synchronize(11);
  cali_function_end(&object);
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) raise(SIGKILL);
  cali_end_region("main");
  cali_end_region("main");
  synchronize(13);
  if (IS_FIRST()) printf("levels %d;%s\n", levels, noted_calls());
  STOP();
  return 0;
}
