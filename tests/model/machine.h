/*
 * machine.h - defines memory models, the kernel's futex, and the states of a set of threads on them.
 *
 * memory::tso is x86. Each thread has a FIFO buffer of stores that drains to memory at any time, and loads look into
 * their own buffer first. Read-modify-writes, sequentially consistent stores (XCHG) and fences wait for an empty
 * buffer. Taking a mutex is a read-modify-write, and releasing it is a store. System calls are no fences. In reality
 * they are, so the model allows more.
 *
 * memory::c11 is C11 without dependencies, as a machine of views (Kang et al., "A promising semantics for
 * relaxed-memory concurrency", POPL 2017, without promises; sequential consistency as in RC11, Lahav et al., "Repairing
 * sequential consistency in C/C++11", PLDI 2017). Each location keeps its history of stores. For each location, a
 * thread's view gives the oldest store that the thread may still read. So a load may be early, a store may be late, and
 * stores to several locations become visible to each thread in another order. A release store carries the view of its
 * thread, and an acquire load adds it to its own. A fence does this for relaxed operations. One more view belongs to
 * sequential consistency: a fence merges with it, such a store adds itself, and such a load reads nothing older. A
 * read-modify-write reads the newest store and continues its release sequence.
 *
 * memory::c11 leaves out three things, all harmless here:
 *   1. Loads that see later stores of their own thread (load buffering). RC11 forbids them, and no value here depends
 *      on itself.
 *   2. Stores that enter a location's history before its end. Two threads store to one location only by
 *      read-modify-writes and under a mutex.
 *   3. A total order of sequentially consistent operations other than the order in which they are done.
 * Where RC11 and this machine differ otherwise, the machine allows more.
 *
 * The kernel: a futex's compare-and-sleep and its wake-ups happen in one order. A thread that compares after a wake-up
 * reads nothing older than the waker had seen of that word. A wake-up gives no other guarantee. A time limit never ends
 * a sleep, so a sleep that only its limit would end is a lost wake-up.
 */
#ifndef WTL_TESTS_MODEL_MACHINE_H
#define WTL_TESTS_MODEL_MACHINE_H

#include "program.h"

namespace model {

enum class memory : uint8_t { tso, c11 };

enum { MOST_LOCATIONS = 18, MOST_STORES = 12, MOST_BUFFERED = 8 };

using view = std::array<uint8_t, MOST_LOCATIONS>;

struct store_buffer {
  uint8_t n;
  std::array<uint8_t, MOST_BUFFERED> loc, value;
};

/* The stores to a location that a thread may still read, oldest first. */
struct history {
  uint8_t n;
  std::array<uint8_t, MOST_STORES> value;
  std::array<view, MOST_STORES> carried;
};

struct thread {
  uint8_t at;        /* index of its next step */
  uint8_t sleeps_on; /* 0, or 1 + the location of a futex */
  registers reg;
  store_buffer buffer;              /* tso */
  view current, acquired, released; /* c11: the views now, after an acquire fence, and at the last release fence */
};

struct state {
  std::array<thread, MOST_THREADS> threads;
  std::array<uint8_t, MOST_LOCATIONS> word; /* tso */
  std::array<history, MOST_LOCATIONS> past; /* c11 */
  view sc, woken, box;                      /* c11: of sequential consistency; of each futex's wakes; of the mailbox */
  uint8_t delivered, taken, readable;       /* the mailbox and its descriptor */
};

/* Something that happens: a thread does its next step, or (drained) its oldest buffered store reaches memory. */
struct event {
  uint8_t thread, step;
  bool drained, chose;
  uint8_t loc, value; /* the value that was read or reached memory, and its location */
};

class machine {
public:
  /* How the mailbox's descriptor tells: it stays readable until armed (an eventfd), or is readable while the mailbox is
   * not empty (a socket). */
  enum class descriptor : uint8_t { eventfd, socket };

  /* `begin`: values of the locations at the start. */
  machine(memory kind, descriptor fd, const std::vector<program> &programs, const std::vector<uint8_t> &begin);

  state start() const;
  /* Everything that can happen in `s`. */
  void next(const state &s, const std::function<void(const event &, const state &)> &found) const;
  /* All threads that must end have. */
  bool is_over(const state &s) const;
  std::string packed(const state &s) const;
  state unpacked(const std::string &bytes) const;
  std::string words(const event &e, const std::vector<std::string> &locations) const;

private:
  memory kind;
  descriptor fd;
  const std::vector<program> &programs;
  const std::vector<uint8_t> begin;
  int n_threads, n_locations;
  bool fenced_by_others = false;
  std::vector<bool> changes; /* location: is there a step that stores to it? If not, loading it takes no step */
  /* Actions that a thread may still do from a step on: read an old store of a location (a bit each), fence, store
   * without release order. */
  struct ahead {
    uint32_t reads_old = 0;
    bool fences = false, stores_relaxed = false;
  };
  std::vector<std::vector<ahead>> future; /* thread, step */

  using emit = std::function<void(event, state &)>;
  const step &step_of(const state &s, int t) const { return programs[(size_t)t].steps[s.threads[(size_t)t].at]; }
  bool is_at_end(const state &s, int t) const
  {
    return step_of(s, t).what == act::end && !s.threads[(size_t)t].sleeps_on;
  }
  std::vector<ahead> look_ahead(const program &p, uint32_t always_newest) const;
  const ahead &ahead_of(const state &s, int t) const { return future[(size_t)t][s.threads[(size_t)t].at]; }
  void settle(state &s, int t) const;
  void forget(state &s) const;
  void visit(const state &s, uint8_t *bytes, size_t &n, bool save, state *to) const;

  void load(const state &s, int t, const step &st, const emit &out) const;
  void store(const state &s, int t, const step &st, const emit &out) const;
  void rmw(const state &s, int t, const step &st, const change &to, const emit &out) const;
  void fence(state &s, int t) const;
  void futex_wait(const state &s, int t, const step &st, const emit &out) const;
  void futex_wake(state &s, int t, const step &st) const;
  void mailbox(const state &s, int t, const step &st, const emit &out) const;
  void drain(const state &s, int t, const emit &out) const;
  void perform(const state &s, int t, const emit &out) const;

  bool drained(const state &s, int t) const { return kind != memory::tso || s.threads[(size_t)t].buffer.n == 0; }
  uint8_t newest(const state &s, int loc) const;
  void append(state &s, int t, int loc, uint8_t value, order how, const view *continues) const;
};

} // namespace model

#endif
