/* os_simulation.c - implements the port to simulation: the functions that need not be inline. */
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "os/os.h"

_Static_assert((int)WTL_OS_SPINS == (int)WTL_SIM_SPINS && (int)WTL_OS_YIELDS == (int)WTL_SIM_YIELDS &&
                   (int)WTL_OS_SLEEPS == (int)WTL_SIM_SLEEPS,
               "the simulator's numbers");
_Static_assert((int)WTL_OS_CALL == (int)WTL_SIM_CALL && (int)WTL_OS_HANDLER == (int)WTL_SIM_HANDLER,
               "the simulator's numbers");

bool wtl_clock_has_tsc;
bool wtl_os_only_agent_charged;

double wtl_clock_ns_per_tick(void)
{
  return 1.0;
}

/* A thread of the runtime waits on behalf of others, so the report of a deadlock leaves it out. */
int wtl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
  (void)attributes;
  *thread = (pthread_t)wtl_sim_spawn(run, arg, true);
  return 0;
}

void wtl_os_call_with_room(void (*run)(void *), void *arg)
{
  run(arg);
}

void wtl_thread_be_prompt(void) {}

bool wtl_os_join_barriers(void)
{
  return false;
}

bool wtl_os_barrier_of_all(void)
{
  return false;
}

/* Charges a wake-up only if the core slept. A core that polls needs none. The agent, which wakes threads of its own PE,
 * has charged its own, and a sleep that a store without a doorbell ended goes on (wtl_os_sleep_on). */
int wtl_futex_wait(_Atomic uint32_t *word, uint32_t seen, double seconds, enum wtl_futex_reach reach)
{
  (void)reach;
  wtl_sim_catch_up();
  if (*word != seen) return EAGAIN; /* no other thread runs until the block */
  if (!wtl_sim_block(word, seconds)) return ETIMEDOUT;
  bool is_charged = (!wtl_os_only_agent_charged && !wtl_sim_was_roused()) || wtl_sim_was_woken_by_other();
  if (is_charged && wtl_sim_get_idle_mode() == WTL_SIM_SLEEPS) wtl_sim_wake_up();
  return 0;
}

/* The wake-up happens at the present simulated time. So the computation of this PE before it must be charged first. */
void wtl_futex_wake(_Atomic uint32_t *word, int n, enum wtl_futex_reach reach)
{
  (void)reach;
  if (!wtl_sim_is_awaited(word)) return;
  wtl_sim_catch_up();
  wtl_sim_wake(word, n);
}

int wtl_os_event_open(void)
{
  return 0;
}

void wtl_os_event_close(int event)
{
  (void)event;
}

void wtl_os_event_set(int event)
{
  (void)event;
  wtl_sim_nudge();
}

int wtl_os_await_network(int descriptor, int event, double seconds, enum wtl_os_idle_mode how)
{
  (void)descriptor, (void)event;
  wtl_sim_catch_up();
  if (how == WTL_OS_SPINS) wtl_sim_set_polling(true);
  bool came = wtl_sim_await(seconds);
  if (how == WTL_OS_SPINS) wtl_sim_set_polling(false);
  return came;
}

/* Generates numbers by splitmix64. The PE's number is in the seed, so two PEs get different numbers. */
bool wtl_os_random(void *to, size_t n)
{
  static uint64_t drawn;
  char *out = to;
  for (size_t part; n > 0; out += part, n -= part) {
    uint64_t x = (((uint64_t)wtl_sim_pe() + 1) << 32) + ++drawn;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    part = n < sizeof x ? n : sizeof x;
    memcpy(out, &x, part);
  }
  return true;
}

bool wtl_os_program(char *path, size_t size)
{
  return snprintf(path, size, "%s", wtl_sim_program()) > 0;
}

/* The linker's name for the start of the object that contains this code: the calling PE's copy of the program. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* dl_iterate_phdr would visit the copies of all PEs before that of the last one. */
int wtl_os_each_object(int (*visit)(struct dl_phdr_info *info, size_t size, void *arg), void *arg)
{
  const char *base = (const char *)&__ehdr_start;
  struct dl_phdr_info own = {.dlpi_addr = (ElfW(Addr))(uintptr_t)base,
                             .dlpi_name = "",
                             .dlpi_phdr = (const ElfW(Phdr) *)(const void *)(base + __ehdr_start.e_phoff),
                             .dlpi_phnum = __ehdr_start.e_phnum};
  int result = visit(&own, sizeof own, arg);
  return result ? result : dl_iterate_phdr(visit, arg);
}

/* The simulator has loaded a copy of the program for each PE. The caller's is the object that contains this code. */
bool wtl_os_is_program(const struct dl_phdr_info *info, int index)
{
  uintptr_t here = (uintptr_t)wtl_os_is_program;
  (void)index;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_LOAD && here >= start && here < start + p->p_memsz) return true;
  }
  return false;
}

/* Each simulated node is a machine. */
double wtl_os_thread_cpu_seconds(pthread_t thread)
{
  (void)thread;
  return NAN;
}

double wtl_os_machine_cpu_seconds(void)
{
  return NAN; /* the machine of the simulator is not the simulated one */
}

void wtl_os_machine_id(char *id, size_t size)
{
  snprintf(id, size, "simulated-%d", wtl_sim_pe() / wtl_sim_pes_a_node());
}
