/* schedule.cc - switches between the threads of all PEs and keeps the queue of future events. */
#include "sim/schedule.h"

#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <queue>
#include <sys/mman.h>
#include <unordered_map>
#include <vector>

#include "os/floats.h"
#include "sim/exit_message.h"

namespace sim {

namespace {

/* The size that Linux gives a program's stack. The kernel allocates only the pages that a thread uses. */
constexpr size_t STACK_BYTES = 8 << 20, GUARD_BYTES = 1 << 16;
/* Stacks that a guard separates from the next one. A guard is a mapping of its own, and Linux allows 65,530. */
constexpr size_t MOST_GUARDS = 4096;

struct Event {
  double when;
  uint64_t number;
  Act act;
  void *what;
  uint64_t tag;
  bool operator<(const Event &other) const /* the queue returns the largest first, so the earliest is the largest */
  {
    return when > other.when || (when == other.when && number > other.number);
  }
};

/* The threads that block on one word. */
struct Line {
  Turns *first, *last;
};

double time_now;
Turns *present;
jmp_buf between; /* the place in `turn` to which a thread returns at the end of its turn */
std::deque<Turns *> ready;
std::priority_queue<Event> agenda;
uint64_t events;
std::unordered_map<const void *, Line> lines;
size_t guards;
std::vector<char *> stacks; /* of threads that have ended */

char *new_stack()
{
  if (!stacks.empty()) {
    char *stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void *stack = mmap(nullptr, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED || (guards < MOST_GUARDS && mprotect(stack, GUARD_BYTES, PROT_NONE) != 0)) {
    last_words("wattle-simulator: no memory for another thread\n");
    exit(71);
  }
  guards++;
  return static_cast<char *>(stack);
}

void first_turn()
{
  Turns *me = present;
  fesetenv(FE_DFL_ENV);
  me->begin(me);
  me->ended = true;
  _longjmp(between, 1); /* the thread never runs again */
}

/* Gives the thread a turn. Switches stacks by _longjmp, because swapcontext makes a system call each time. Only a
 * thread's first turn needs swapcontext. _longjmp does not switch the floating-point environment, so each side keeps
 * its own. */
void turn(Turns *thread)
{
  ucontext_t unused;
  WTL_ENVIRONMENT_APART;
  present = thread;
  if (_setjmp(between) == 0) {
    if (thread->has_run) _longjmp(thread->place, 1);
    thread->has_run = true;
    swapcontext(&unused, &thread->context);
  }
  present = nullptr;
  if (!thread->ended) return;
  stacks.push_back(thread->stack);
  thread->stack = nullptr;
}

void leave_line(Turns *thread)
{
  auto at = lines.find(thread->word);
  Line &line = at->second;
  if (line.first == thread) {
    if (!(line.first = thread->behind)) lines.erase(at);
    return;
  }
  Turns *before = line.first;
  while (before->behind != thread) before = before->behind;
  before->behind = thread->behind;
  if (line.last == thread) line.last = before;
}

/* The thread has left its line. */
void unblock(Turns *thread)
{
  thread->word = nullptr;
  go_on(thread);
}

void end_pause(void *thread, uint64_t number)
{
  go_on(static_cast<Turns *>(thread));
  (void)number; /* only this function ends a pause */
}

void time_out(void *what, uint64_t number)
{
  Turns *thread = static_cast<Turns *>(what);
  if (thread->waits != number) return;
  leave_line(thread);
  unblock(thread);
}

} // namespace

double now()
{
  return time_now;
}

Turns *running()
{
  return present;
}

void start(Turns *thread)
{
  thread->stack = new_stack();
  getcontext(&thread->context);
  thread->context.uc_stack.ss_sp = thread->stack + GUARD_BYTES;
  thread->context.uc_stack.ss_size = STACK_BYTES;
  thread->context.uc_link = nullptr;
  makecontext(&thread->context, first_turn, 0);
  ready.push_back(thread);
}

void wait()
{
  WTL_ENVIRONMENT_APART;
  if (_setjmp(present->place) == 0) _longjmp(between, 1);
}

void go_on(Turns *thread)
{
  thread->waits++;
  ready.push_back(thread);
}

void at(double when, Act act, void *what, uint64_t tag)
{
  agenda.push({when, events++, act, what, tag});
}

void pass(double seconds)
{
  at(time_now + seconds, end_pause, present, 0);
  wait();
}

bool block(const void *word, double seconds)
{
  Turns *me = present;
  me->word = word;
  me->woken = me->was_roused = false;
  me->behind = nullptr;
  auto [at_word, is_first] = lines.try_emplace(word, Line{me, me});
  if (!is_first) at_word->second.last = at_word->second.last->behind = me;
  if (!std::isinf(seconds)) at(time_now + seconds, time_out, me, me->waits);
  wait();
  return me->woken;
}

void wake(const void *word, int n)
{
  auto at = lines.find(word);
  if (at == lines.end()) return;
  Turns *thread = at->second.first;
  for (; n > 0 && thread; n--) {
    Turns *next = thread->behind;
    thread->woken = true;
    thread->waker = present;
    unblock(thread);
    thread = next;
  }
  if (thread)
    at->second.first = thread;
  else
    lines.erase(at);
}

bool is_awaited(const void *word)
{
  return lines.find(word) != lines.end();
}

bool rouse(Turns *thread)
{
  if (!thread->word) return false;
  leave_line(thread);
  thread->woken = thread->was_roused = true;
  thread->waker = nullptr;
  unblock(thread);
  return true;
}

bool run(const std::function<bool()> &over, const std::function<double(double)> &advance)
{
  for (;;) {
    while (!ready.empty()) {
      Turns *next = ready.front();
      ready.pop_front();
      turn(next);
    }
    if (over()) return true;
    double until = agenda.empty() ? INFINITY : agenda.top().when, reached = advance(until);
    if (std::isinf(reached)) return false;
    time_now = std::fmax(time_now, reached);
    if (agenda.empty() || agenda.top().when > time_now) continue;
    Event e = agenda.top();
    agenda.pop();
    e.act(e.what, e.tag);
  }
}

} // namespace sim
