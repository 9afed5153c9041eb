/* live.c - keeps the page that shows where the process waits, and prints it on SIGQUIT. */
#include "wait/live.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory_file.h"
#include "base/sigpipe.h"
#include "os/os.h"

/* A signal belongs to the process, and so does the page that its handler prints. */
static wtl_live *page; /* kept in case the library starts again */
static wtl_live *_Atomic shown;
static _Atomic uint64_t quit_at;
static const uint64_t quit_again_ns = 2000000000; /* a second SIGQUIT within this time has its default action */

/* --- SIGQUIT: only functions that are safe in a signal handler --- */

typedef struct text {
  char at[256];
  size_t n;
} text;

static void put_text(text *t, const char *s)
{
  while (*s && t->n < sizeof t->at) t->at[t->n++] = *s++;
}

static void put_number(text *t, uint64_t v, unsigned radix)
{
  char digits[24];
  int n = 0;
  do digits[n++] = "0123456789abcdef"[v % radix];
  while (v /= radix);
  while (n > 0 && t->n < sizeof t->at) t->at[t->n++] = digits[--n];
}

static void put_place(text *t, const wtl_live *l)
{
  bool own = l->addr >= l->base && l->addr < l->end;
  put_text(t, own ? " at program+0x" : " at 0x");
  put_number(t, own ? l->addr - l->base - 1 : l->addr, 16); /* an address within the call, as in profiles */
}

static void print_wait(const wtl_live *l)
{
  text t = {.n = 0};
  uint64_t ms = (wtl_clock_ns() - l->since_ns) / 1000000;
  put_text(&t, "wattle: ");
  put_text(&t, wtl_message_noun());
  put_text(&t, " ");
  put_number(&t, (uint64_t)l->pe, 10);
  put_text(&t, !l->mark[0] ? ": has been finalized" : l->addr ? ": waits in " : ": does not wait");
  if (l->addr) {
    put_text(&t, l->call);
    put_place(&t, l);
  }
  put_text(&t, ", for ");
  put_number(&t, ms / 1000, 10);
  put_text(&t, ".");
  put_number(&t, ms / 100 % 10, 10);
  put_text(&t, " s\n");
  (void)!wtl_write(STDERR_FILENO, t.at, t.n);
}

static void on_quit(int number)
{
  uint64_t now = wtl_clock_ns(), last = atomic_exchange(&quit_at, now);
  const wtl_live *l = atomic_load(&shown);
  if (l && now - last > quit_again_ns) {
    print_wait(l);
    return;
  }
  signal(number, SIG_DFL);
  raise(number);
}

/* Handles SIGQUIT if it has its default action. The handler stays until the process ends: a PE that SIGQUIT kills
 * would end the others before they answer. */
static void handle_quit(void)
{
  struct sigaction now;
  if (sigaction(SIGQUIT, NULL, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours = {.sa_handler = on_quit, .sa_flags = SA_RESTART};
  sigaction(SIGQUIT, &ours, NULL);
}

/* --- the page --- */

static int find_program(struct dl_phdr_info *object, size_t size, void *found)
{
  wtl_live *l = found;
  (void)size;
  l->base = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    uint64_t end = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
    if (object->dlpi_phdr[i].p_type == PT_LOAD && end > l->end) l->end = end;
  }
  return 1; /* the first object is the executable */
}

/* Makes the page. Readers find it by its descriptor, which stays open. They trust no page whose size can change
 * while they read. */
static wtl_live *make_page(void)
{
  int fd = wtl_memory_file_make("wattle-live", WTL_LIVE_BYTES, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  if (fd < 0) return NULL;
  wtl_live *l = MAP_FAILED;
  if (wtl_memory_file_reserve(fd, 0, WTL_LIVE_BYTES))
    l = mmap(NULL, WTL_LIVE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (l != MAP_FAILED) return l;
  close(fd);
  return NULL;
}

wtl_live *wtl_live_start(int pe, int n_pes)
{
  if (!WTL_OS_PES_ARE_PROCESSES) return NULL; /* the signal and the page belong to a process */
  wtl_live *l = page && page->pid == getpid() ? page : make_page();
  if (!l) return NULL;
  page = l;
  memcpy(l->mark, "WTLLIVE1", sizeof l->mark);
  l->pid = getpid();
  l->pe = pe;
  l->n_pes = n_pes;
  l->since_ns = wtl_clock_ns();
  dl_iterate_phdr(find_program, l);
  atomic_store(&shown, l);
  handle_quit();
  return l;
}

void wtl_live_stop(wtl_live *l)
{
  if (!l || l->pid != getpid()) return;
  l->since_ns = wtl_clock_ns();
  l->mark[0] = 0; /* it stays mapped, since a thread of the program may still wait */
}

static void begin_change(wtl_live *l)
{
  atomic_fetch_add_explicit(&l->turn, 1, memory_order_acq_rel);
}

static void end_change(wtl_live *l)
{
  l->since_ns = wtl_clock_ns();
  atomic_fetch_add_explicit(&l->turn, 1, memory_order_release);
}

bool wtl_live_enter(wtl_live *l, const char *call, const wtl_site *site, const uint64_t stage_ns[3])
{
  if (atomic_exchange_explicit(&l->taken, 1, memory_order_acquire)) return false;
  begin_change(l);
  strncpy(l->call, call, sizeof l->call - 1);
  l->addr = site->addr ? site->addr : 1;
  memcpy(l->stage_ns, stage_ns, sizeof l->stage_ns);
  end_change(l);
  return true;
}

void wtl_live_leave(wtl_live *l)
{
  begin_change(l);
  l->addr = 0;
  l->call[0] = 0;
  end_change(l);
  atomic_store_explicit(&l->taken, 0, memory_order_release);
}
