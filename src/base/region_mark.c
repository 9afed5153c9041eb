/* region_mark.c - observes the calls by which a program marks regions for Caliper, TAU, IPM, mpiP and wattle.h. */
#include "base/region_mark.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/call_slot.h"

static wtl_mark_sink *_Atomic sink;
static _Thread_local bool is_inside; /* in a call of an observed library */

void wtl_mark_pass(const wtl_region_mark *mark)
{
  wtl_mark_sink *to = atomic_load_explicit(&sink, memory_order_acquire);
  if (to && !is_inside && (mark->name || !mark->begins)) to(mark);
}

static void begin(enum wtl_mark_source source, const char *name, uint64_t id)
{
  wtl_mark_pass(&(wtl_region_mark){.source = source, .begins = true, .name = name, .id = id});
}

static void end(enum wtl_mark_source source, const char *name, uint64_t id)
{
  wtl_mark_pass(&(wtl_region_mark){.source = source, .name = name, .id = id});
}

/* The list of observed functions, by number. X(number, name): the replacement is `number` in lower case, below. */
#define OBSERVED(X)                                                                                                    \
  X(wattle_begin, "wattle_region_begin")                                                                               \
  X(wattle_end, "wattle_region_end")                                                                                   \
  X(cali_begin, "cali_begin_region")                                                                                   \
  X(cali_end, "cali_end_region")                                                                                       \
  X(cali_begin_phase, "cali_begin_phase")                                                                              \
  X(cali_end_phase, "cali_end_phase")                                                                                  \
  X(cali_begin_comm, "cali_begin_comm_region")                                                                         \
  X(cali_end_comm, "cali_end_comm_region")                                                                             \
  X(cali_function, "_ZN4cali8FunctionC1EPKc")                                                                          \
  X(cali_function_end, "_ZN4cali8FunctionD1Ev")                                                                        \
  X(cali_scope, "_ZN4cali15ScopeAnnotationC1EPKc")                                                                     \
  X(cali_scope_end, "_ZN4cali15ScopeAnnotationD1Ev")                                                                   \
  X(tau_start, "Tau_start")                                                                                            \
  X(tau_stop, "Tau_stop")                                                                                              \
  X(pcontrol, "MPI_Pcontrol")                                                                                          \
  X(pcontrol_fortran, "mpi_pcontrol_")

#define NUMBER(number, name) N_##number,
enum { OBSERVED(NUMBER) N_OBSERVED };
static wtl_call_slot observed[N_OBSERVED];

/* Calls the program's own function. `type`: its type as a pointer. */
#define OWN(number, type, ...)                                                                                         \
  do {                                                                                                                 \
    bool was_inside = is_inside;                                                                                       \
    is_inside = true;                                                                                                  \
    result = ((type)observed[N_##number].own)(__VA_ARGS__);                                                            \
    is_inside = was_inside;                                                                                            \
  } while (0)

/* Functions with a result are called as such: the register has any value after one without, and no caller reads it. */
typedef long of_name(const char *);
typedef long of_object(void *, const char *);

/* A begin is passed on before the library's work, and an end after it, so that this work belongs to the region. */
#define BEGIN_BY_NAME(number, source)                                                                                  \
  static long number(const char *name)                                                                                 \
  {                                                                                                                    \
    long result;                                                                                                       \
    begin(source, name, 0);                                                                                            \
    OWN(number, of_name *, name);                                                                                      \
    return result;                                                                                                     \
  }
#define END_BY_NAME(number, source)                                                                                    \
  static long number(const char *name)                                                                                 \
  {                                                                                                                    \
    long result;                                                                                                       \
    OWN(number, of_name *, name);                                                                                      \
    end(source, name, 0);                                                                                              \
    return result;                                                                                                     \
  }
/* A C++ object whose life is the region. */
#define BEGIN_BY_OBJECT(number, source)                                                                                \
  static long number(void *self, const char *name)                                                                     \
  {                                                                                                                    \
    long result;                                                                                                       \
    begin(source, name, (uintptr_t)self);                                                                              \
    OWN(number, of_object *, self, name);                                                                              \
    return result;                                                                                                     \
  }
#define END_BY_OBJECT(number, source)                                                                                  \
  static long number(void *self)                                                                                       \
  {                                                                                                                    \
    long result;                                                                                                       \
    OWN(number, of_object *, self, NULL);                                                                              \
    end(source, NULL, (uintptr_t)self);                                                                                \
    return result;                                                                                                     \
  }

BEGIN_BY_NAME(cali_begin, WTL_MARK_CALIPER)
END_BY_NAME(cali_end, WTL_MARK_CALIPER)
BEGIN_BY_NAME(cali_begin_phase, WTL_MARK_CALIPER)
END_BY_NAME(cali_end_phase, WTL_MARK_CALIPER)
BEGIN_BY_NAME(cali_begin_comm, WTL_MARK_CALIPER)
END_BY_NAME(cali_end_comm, WTL_MARK_CALIPER)
BEGIN_BY_OBJECT(cali_function, WTL_MARK_CALIPER)
END_BY_OBJECT(cali_function_end, WTL_MARK_CALIPER)
BEGIN_BY_OBJECT(cali_scope, WTL_MARK_CALIPER)
END_BY_OBJECT(cali_scope_end, WTL_MARK_CALIPER)
BEGIN_BY_NAME(tau_start, WTL_MARK_TAU)
END_BY_NAME(tau_stop, WTL_MARK_TAU)

static int wattle_begin(void *handle, const char *name)
{
  int result;
  OWN(wattle_begin, int (*)(void *, const char *), handle, name);
  if (result == 0) begin(WTL_MARK_WATTLE, name, (uintptr_t)handle);
  return result;
}

static int wattle_end(void *handle, const char *name)
{
  int result;
  OWN(wattle_end, int (*)(void *, const char *), handle, name);
  if (result == 0) end(WTL_MARK_WATTLE, name, (uintptr_t)handle);
  return result;
}

/* --- MPI_Pcontrol --- */

/* Reads a name at an address that may be any value, and cuts a longer one. A page at a time, because the next one may
 * not be there. */
static bool read_name(uintptr_t at, char *name)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - at % page, n = 0;
  if (at < page || at > UINTPTR_MAX - 2 * page) return false;
  if (first > WTL_MARK_NAME) first = WTL_MARK_NAME;
  struct iovec to = {name, WTL_MARK_NAME},
               from[2] = {{(void *)at, first}, {(void *)(at + first), WTL_MARK_NAME - first}};
  ssize_t bytes = process_vm_readv(getpid(), &to, 1, from, first < WTL_MARK_NAME ? 2 : 1, 0);
  if (bytes == WTL_MARK_NAME) name[WTL_MARK_NAME - 1] = '\0';
  while (bytes > 0 && n < (size_t)bytes && (unsigned char)name[n] >= ' ' && name[n] != 0x7f) n++;
  return bytes > 0 && n > 0 && n < (size_t)bytes && name[n] == '\0';
}

static void take_level(int level, uintptr_t argument)
{
  static _Thread_local bool is_off;
  char name[WTL_MARK_NAME];
  if (level == 0 && !is_off) {
    is_off = true;
    begin(WTL_MARK_PCONTROL, WTL_MARK_OFF, 0);
  } else if (level >= 1 && is_off) {
    is_off = false;
    end(WTL_MARK_PCONTROL, WTL_MARK_OFF, 0);
  } else if (level == 1 && read_name(argument, name)) {
    begin(WTL_MARK_PCONTROL, name, 0);
  } else if (level == -1 && read_name(argument, name)) {
    end(WTL_MARK_PCONTROL, name, 0);
  }
}

/* Integers and pointers are passed in the same registers with "..." and without. */
static int pcontrol(int level, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
{
  int result;
  take_level(level, a);
  OWN(pcontrol, int (*)(int, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t), level, a, b, c, d, e);
  return result;
}

static long pcontrol_fortran(const int *level, uintptr_t a, uintptr_t b, uintptr_t c)
{
  long result;
  take_level(*level, a);
  OWN(pcontrol_fortran, long (*)(const int *, uintptr_t, uintptr_t, uintptr_t), level, a, b, c);
  return result;
}

/* --- the files --- */

#define SLOT(number, called) [N_##number] = {.name = called, .replacement = (void *)(number)},
static wtl_call_slot observed[N_OBSERVED] = {OBSERVED(SLOT)};

static int observe_file(struct dl_phdr_info *file, size_t size, void *arg)
{
  (void)size, (void)arg;
  wtl_slot_redirect(file, observed, N_OBSERVED);
  return 0;
}

void wtl_mark_observe(wtl_mark_sink *to)
{
  atomic_store_explicit(&sink, to, memory_order_release);
  dl_iterate_phdr(observe_file, NULL);
}
