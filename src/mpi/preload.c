/*
 * preload.c - the preloaded library, libwattle-mpi. It links no MPI, so it may be loaded into every process of a job.
 * In launchers, shells and programs without MPI it does nothing.
 *
 * It exports the names of MPI's calls (mpi_stubs.c). Each is a jump through a slot. The first call finds the MPI of the
 * process, loads the module for it and fills the slots. A jump does not change the return address, so the call site is
 * the program's. Without a module for the MPI, the slots lead to the MPI itself.
 *
 * TOOLS. A tool such as mpiP or TAU defines MPI_X and calls PMPI_X. It stands before this library: MPI_X leads to it,
 * and its calls of PMPI_X come here. So it sees each call of the program, and this library then makes that call. The
 * modules call the MPI by other names (mpi_own_names.h).
 */
#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/loaded_mpi.h"
#include "base/region_mark.h"
#include "base/sigpipe.h"
#include "mpi/module.h"

extern const char *const wtl_mpi_names[];
extern const size_t wtl_mpi_n_names;
extern void *wtl_mpi_slots[] __attribute__((visibility("hidden")));

/* By slot: the code that counts a call and passes it on (NULL: there is none), the MPI's own function (NULL: it has
 * none), the count. */
extern void *const wtl_mpi_counting[] __attribute__((visibility("hidden")));
extern void *wtl_mpi_own[] __attribute__((visibility("hidden")));
extern unsigned long wtl_mpi_passed[] __attribute__((visibility("hidden")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing_why[4500];
static bool (*_Atomic idle)(void);
static wtl_mark_sink *_Atomic module_sink;
static bool *filled; /* by slot; NULL before the first call and without an MPI */

enum { MOST_TOOLS = 8 };
static const void *tools[MOST_TOOLS]; /* the objects of tools that follow this library */
static size_t n_tools;

/* --- selection of a module --- */

static const wtl_mpi_entry *load_module(const char *name)
{
  Dl_info here;
  char path[4200];
  const char *slash = dladdr(missing_why, &here) && here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
  snprintf(path, sizeof path, "%.*slibwattle-mpi-%s.so", slash ? (int)(slash - here.dli_fname) + 1 : 0,
           slash ? here.dli_fname : "", name);
  void *module = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  const wtl_mpi_entry *entry = module ? dlsym(module, "wtl_mpi_module") : NULL;
  if (entry && strcmp(entry->version, WTL_VERSION) == 0 && *entry->n == wtl_mpi_n_names) return entry;
  if (entry)
    snprintf(missing_why, sizeof missing_why, ": it is of another version of Wattle");
  else if (slash && access(path, F_OK) != 0)
    snprintf(missing_why, sizeof missing_why,
             ": %s is missing; `make build` makes it where that MPI's compiler wrapper is (Debian: lib%s-dev)", path,
             name);
  else
    snprintf(missing_why, sizeof missing_why, ": %s", dlerror());
  return NULL;
}

/* Returns whether this is the first process of the job. It prints the messages that concern all processes. */
static bool is_first(void)
{
  static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
    const char *rank = getenv(ranks[i]);
    if (rank) return strcmp(rank, "0") == 0;
  }
  return true;
}

/* --- slots --- */

/* Returns whether the name is one of C, such as MPI_Send. A name of Fortran is in one case. */
static bool is_of_c(const char *name)
{
  return name[0] != 'm' && islower((unsigned char)strchr(name, '_')[2]);
}

/* The memory of a loaded object, and an address in it that is searched for. */
typedef struct extent {
  uintptr_t from, to, searched;
} extent;

static int extent_of(struct dl_phdr_info *object, size_t size, void *arg)
{
  extent *e = arg;
  (void)size;
  e->from = UINTPTR_MAX;
  e->to = 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    uintptr_t from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (part->p_type != PT_LOAD) continue;
    if (from < e->from) e->from = from;
    if (to > e->to) e->to = to;
  }
  return e->from <= e->searched && e->searched < e->to;
}

/* Returns where the object with this function is in memory; NULL if that is not known. Only `fill` calls it, some
 * thousand times. dladdr also searches the object's symbols, which took ten milliseconds together. */
static const void *object_of(const void *function)
{
  enum { MOST_KNOWN = 8 }; /* the MPI, this library, the program, tools */
  static extent known[MOST_KNOWN];
  static size_t n_known;
  extent e = {.searched = (uintptr_t)function};
  if (!function) return NULL;
  for (size_t i = 0; i < n_known; i++)
    if (known[i].from <= e.searched && e.searched < known[i].to) return (const void *)known[i].from;
  if (!dl_iterate_phdr(extent_of, &e)) return NULL;
  if (n_known < MOST_KNOWN) known[n_known++] = e;
  return (const void *)e.from;
}

/* Returns the MPI's function of that name. A tool before this library may define it, too, and calls this library. So
 * only the program itself, which may contain the MPI, and what follows this library are searched. */
static void *find_in_mpi(void *mpi, const char *name)
{
  void *found = dlsym(mpi, name), *next = dlsym(RTLD_NEXT, name);
  bool is_of_program = object_of(found) && object_of(found) == object_of((void *)getauxval(AT_ENTRY));
  return next && !is_of_program ? next : object_of(found) == object_of(missing_why) ? NULL : found;
}

/* Returns the MPI's own function: PMPI_Send for "MPI_Send" and "PMPI_Send", pmpi_send_ for "mpi_send_", and MPICH's
 * pmpir_send_f08ts_ for "mpi_send_f08ts_". */
static void *own_function(void *mpi, const char *name)
{
  char full[128];
  void *found;
  if (name[0] == 'P') return find_in_mpi(mpi, name);
  snprintf(full, sizeof full, "%c%s", name[0] == 'M' ? 'P' : 'p', name);
  if (is_of_c(name)) return find_in_mpi(mpi, full);
  if ((found = dlsym(mpi, full)) || strncmp(name, "mpi_", 4) != 0) return found;
  snprintf(full, sizeof full, "pmpir_%s", name + 4);
  return dlsym(mpi, full);
}

/* --- tools --- */

/* Returns the function of a tool that follows this library; NULL if there is none. For Fortran only tools are asked
 * that have functions for C. */
static void *function_of_tool(size_t i, const void *own)
{
  const char *name = wtl_mpi_names[i];
  void *next = own && name[0] != 'P' ? dlsym(RTLD_NEXT, name) : NULL;
  const void *object = object_of(next);
  bool is_known = false;
  if (!object || object == object_of(own)) return NULL;
  for (size_t t = 0; t < n_tools; t++) is_known = is_known || tools[t] == object;
  if (!is_of_c(name)) return is_known ? next : NULL;
  if (!is_known && n_tools < MOST_TOOLS) tools[n_tools++] = object;
  return next;
}

/* Returns whether the process has MPI's functions for Fortran. Without them most programs need none of the thousand
 * searches for their names, each of which fails and takes a microsecond. */
static bool has_fortran(void *mpi)
{
  for (size_t i = 0; i < wtl_mpi_n_names; i++) {
    const char *name = wtl_mpi_names[i];
    if (!is_of_c(name) && strncasecmp(name, "mpi_init", 8) == 0 && (own_function(mpi, name) || dlsym(RTLD_NEXT, name)))
      return true;
  }
  return false;
}

static void print_line(const char *what, const char *more)
{
  char line[1024];
  int n = snprintf(line, sizeof line, "wattle: %.500s%.500s\n", what, more);
  (void)!wtl_write(STDERR_FILENO, line, (size_t)n);
}

/* Fills slot `i`. `wrapper`: the module's function; NULL if it has none. */
static void fill_slot(size_t i, void *mpi, void *wrapper, bool has_module)
{
  void *own = own_function(mpi, wtl_mpi_names[i]), *tool = function_of_tool(i, own);
  /* Open MPI 5.0.7 has mpi_ineighbor_alltoallv_f08_ alone, which the program then calls unchanged. */
  void *plain = own ? tool : dlsym(RTLD_NEXT, wtl_mpi_names[i]);
  if (!own && !plain) return;
  wtl_mpi_own[i] = own;
  wtl_mpi_slots[i] = plain ? plain : wrapper ? wrapper : has_module && wtl_mpi_counting[i] ? wtl_mpi_counting[i] : own;
  filled[i] = true;
}

/* --- regions that the program marks --- */

static void fill(void);

/* Passes a mark to the module. The first mark of a program with an MPI may come before its first call. */
static void pass_mark(const wtl_region_mark *mark)
{
  if (!atomic_load_explicit(&module_sink, memory_order_acquire) && wtl_loaded_mpi()) pthread_once(&once, fill);
  wtl_mark_sink *to = atomic_load_explicit(&module_sink, memory_order_acquire);
  if (to) to(mark);
}

/* Only a run that writes a profile has a use for regions. */
static void observe_regions(void)
{
  const char *folder = getenv("WATTLE_PROFILE_DIR");
  if (!folder || !*folder) return;
  wtl_mark_observe(pass_mark);
  wtl_mark_offer_nvtx();
}

/* The program may mark regions before its first call of MPI. */
__attribute__((constructor)) static void at_load(void)
{
  observe_regions();
}

static void fill(void)
{
  static wtl_mpi_passed_calls passed;
  void *mpi = wtl_loaded_mpi();
  const char *name = mpi ? wtl_loaded_mpi_interface(mpi) : NULL;
  const wtl_mpi_entry *entry = name ? load_module(name) : NULL;
  if (!mpi || !(filled = calloc(wtl_mpi_n_names, sizeof *filled))) return;
  if (!entry && is_first())
    print_line("the program runs unchanged, without a profile: no module for its MPI",
               *missing_why ? missing_why : " (only for Open MPI, MPICH and the standard interface of MPI 5)");
  /* The names in C come first, because they make tools known. */
  for (int in_c = 1; in_c >= !has_fortran(mpi); in_c--)
    for (size_t i = 0; i < wtl_mpi_n_names; i++)
      if (is_of_c(wtl_mpi_names[i]) == in_c) fill_slot(i, mpi, entry ? entry->functions[i] : NULL, entry != NULL);
  if (!entry) return;
  passed = (wtl_mpi_passed_calls){wtl_mpi_names, wtl_mpi_passed, wtl_mpi_n_names};
  entry->start(&passed);
  atomic_store(&idle, entry->idle);
  atomic_store(&module_sink, entry->mark);
  observe_regions();
}

typedef struct search {
  const char *name;
  void *found;
} search;

static int find_in_object(struct dl_phdr_info *object, size_t size, void *arg)
{
  search *s = arg;
  (void)size;
  void *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  void *found = handle ? dlsym(handle, s->name) : NULL;
  Dl_info here, there;
  if (found && dladdr(missing_why, &here) && dladdr(found, &there) && here.dli_fbase != there.dli_fbase)
    s->found = found;
  if (handle) dlclose(handle);
  return s->found != NULL;
}

/* Returns the function that the caller would have without this library, for a name that the MPI does not have. A
 * library may have functions of its own with names of MPI. They are searched in the scope of the program first, then in
 * libraries that it has loaded for themselves (dlopen). */
static void *next_function(const char *name)
{
  search s = {name, dlsym(RTLD_NEXT, name)};
  if (!s.found) dl_iterate_phdr(find_in_object, &s);
  return s.found;
}

/* Called from a slot that is not filled. Returns when it is. */
void wtl_mpi_bind(size_t i) __attribute__((visibility("hidden")));
void wtl_mpi_bind(size_t i)
{
  pthread_once(&once, fill);
  if (filled && filled[i]) return;
  void *next = next_function(wtl_mpi_names[i]);
  if (next) {
    wtl_mpi_slots[i] = next;
    return;
  }
  print_line(wtl_mpi_names[i], ": the MPI of this process has no such call");
  abort();
}

/* --- idle MPI --- */

/* Replaces the C library's function (yield_hook.c). It works as usual for all other callers. */
int sched_yield(void)
{
  bool (*is_handled)(void) = atomic_load_explicit(&idle, memory_order_relaxed);
  if (is_handled && is_handled()) return 0;
  return (int)syscall(SYS_sched_yield);
}

/* --- the first call of a stub: every register that may hold an argument is saved --- */

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl wtl_mpi_late\n.hidden wtl_mpi_late\n.type wtl_mpi_late, @function\n"
        "wtl_mpi_late:\n" /* on the stack: the number of the stub, the return address of the program */
        "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  push %rax\n"
        "  mov 56(%rsp), %rdi\n"
        "  sub $8, %rsp\n"
        "  call wtl_mpi_bind\n"
        "  add $8, %rsp\n"
        "  pop %rax\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n"
        "  pop %r11\n"
        "  lea wtl_mpi_slots(%rip), %r10\n"
        "  jmp *(%r10,%r11,8)\n"
        ".size wtl_mpi_late, .-wtl_mpi_late\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl wtl_mpi_late\n.hidden wtl_mpi_late\n.type wtl_mpi_late, %function\n"
        "wtl_mpi_late:\n" /* in x17: the number of the stub */
        "  stp x29, x30, [sp, #-112]!\n"
        "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n"
        "  stp x8, x17, [sp, #80]\n"
        "  mov x0, x17\n"
        "  bl wtl_mpi_bind\n"
        "  ldp x8, x17, [sp, #80]\n"
        "  ldp x6, x7, [sp, #64]\n  ldp x4, x5, [sp, #48]\n  ldp x2, x3, [sp, #32]\n  ldp x0, x1, [sp, #16]\n"
        "  ldp x29, x30, [sp], #112\n"
        "  adrp x16, wtl_mpi_slots\n  add x16, x16, :lo12:wtl_mpi_slots\n"
        "  ldr x16, [x16, x17, lsl #3]\n  br x16\n"
        ".size wtl_mpi_late, .-wtl_mpi_late\n");
#else
#error "libwattle-mpi has jumps for x86-64 and aarch64 only"
#endif
