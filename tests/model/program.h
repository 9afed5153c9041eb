/*
 * program.h - defines a thread of the model as a list of steps with the words of the C code that they model.
 *
 * A step touches shared memory or the kernel at most once. Code that only concerns registers (branches, jumps) has no
 * step of its own and is done together with the step before it.
 */
#ifndef WTL_TESTS_MODEL_PROGRAM_H
#define WTL_TESTS_MODEL_PROGRAM_H

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace model {

enum { MOST_THREADS = 6, MOST_REGISTERS = 8, NO_REGISTER = MOST_REGISTERS };

using registers = std::array<uint8_t, MOST_REGISTERS>;
using test = std::function<bool(const registers &)>;
using change = std::function<int(int old)>;

enum class order : uint8_t { relaxed, acquire, release, acq_rel, seq_cst };

inline bool acquires(order o)
{
  return o == order::acquire || o == order::acq_rel || o == order::seq_cst;
}
inline bool releases(order o)
{
  return o == order::release || o == order::acq_rel || o == order::seq_cst;
}

enum class act : uint8_t {
  load,       /* reg = loc */
  store,      /* loc = value, or reg */
  rmw,        /* reg = loc, loc = change(loc): one atomic step; stands for a compare-exchange loop, too */
  cas,        /* if loc == reg, loc = change(loc); the register `value` says whether it was */
  fence,      /* atomic_thread_fence(seq_cst) */
  fence_of,   /* such a fence between two steps of the thread with this number, if there is one */
  try_lock,   /* reg = whether it got the mutex at loc */
  lock,       /* waits for the mutex at loc */
  futex_wait, /* sleeps while loc == reg: compared and put to sleep as one, against all wakes of loc */
  futex_wake, /* wakes all that sleep on loc */
  deliver,    /* puts a parcel into the mailbox; its descriptor becomes readable */
  take,       /* reg = number of the parcel taken from the mailbox, from 1; 0: it is empty */
  arm,        /* reg = whether the mailbox is empty; if so, the descriptor is no longer readable */
  arm_blind,  /* a mutant: does not look whether the mailbox is empty */
  poll,       /* waits until the descriptor is readable, or the word at loc is not 0 */
  choose,     /* continues or jumps, for conditions that the model leaves open, such as the clock */
  set,        /* reg = value; takes no step */
  copy,       /* reg = another register, or a value made from it; takes no step */
  branch,     /* jumps unless `when` holds; takes no step */
  jump,       /* takes no step */
  end
};

struct step {
  act what;
  uint8_t loc = 0, reg = NO_REGISTER, value = 0;
  order how = order::relaxed;
  change to = nullptr;
  test when = nullptr;
  int target = 0;
  std::string text = "";
};

/* Builds a thread's steps in the shape of the C code: with blocks for if and for loops. */
class program {
public:
  std::string name;
  bool must_end;                          /* its end is what the model is about: a sleeper's, that must be woken */
  std::vector<std::pair<int, int>> begun; /* values that it has added to locations before, if it begins in the middle */
  std::vector<step> steps;

  program(std::string name, bool must_end) : name(std::move(name)), must_end(must_end) {}

  using block = std::function<void()>;

  void load(int reg, int loc, order how, const std::string &text) { add(act::load, loc, reg, how, text); }
  void store(int loc, int value, order how, const std::string &text)
  {
    add(act::store, loc, NO_REGISTER, how, text);
    steps.back().value = (uint8_t)value;
  }
  void store_reg(int loc, int reg, order how, const std::string &text) { add(act::store, loc, reg, how, text); }
  void rmw(int reg, int loc, change to, order how, const std::string &text)
  {
    add(act::rmw, loc, reg, how, text);
    steps.back().to = std::move(to);
  }
  void cas(int succeeded, int expected, int loc, change to, const std::string &text)
  {
    add(act::cas, loc, expected, order::seq_cst, text);
    steps.back().value = (uint8_t)succeeded;
    steps.back().to = std::move(to);
  }
  /* A barrier in all threads, one after the other. The kernel has one in the caller before and after the others. */
  void fence_of_all(const std::string &text)
  {
    fence(text);
    for (int thread = 0; thread < MOST_THREADS; thread++) {
      add(act::fence_of, 0, NO_REGISTER, order::seq_cst, text);
      steps.back().value = (uint8_t)thread;
    }
    fence(text);
  }
  void fence(const std::string &text) { add(act::fence, 0, NO_REGISTER, order::seq_cst, text); }
  void lock(int loc, const std::string &text) { add(act::lock, loc, NO_REGISTER, order::acquire, text); }
  void try_lock(int reg, int loc, const std::string &text) { add(act::try_lock, loc, reg, order::acquire, text); }
  void unlock(int loc, const std::string &text) { store(loc, 0, order::release, text); }
  void does(act what, int loc, int reg, const std::string &text) { add(what, loc, reg, order::relaxed, text); }
  void set(int reg, int value)
  {
    add(act::set, 0, reg, order::relaxed, "");
    steps.back().value = (uint8_t)value;
  }
  void copy(int reg, int from, change made = nullptr)
  {
    add(act::copy, 0, reg, order::relaxed, "");
    steps.back().value = (uint8_t)from;
    steps.back().to = std::move(made);
  }

  void when(const test &condition, const block &then)
  {
    size_t at = branch(condition);
    then();
    steps[at].target = here();
  }
  void when(const test &condition, const block &then, const block &otherwise)
  {
    size_t at = branch(condition);
    then();
    size_t out = jump();
    steps[at].target = here();
    otherwise();
    steps[out].target = here();
  }
  /* Left open: it is as these words say, or the block is done. */
  void unless(const std::string &text, const block &then)
  {
    add(act::choose, 0, NO_REGISTER, order::relaxed, text);
    size_t at = steps.size() - 1;
    then();
    steps[at].target = here();
  }
  /* Repeats the block until something in it calls leave() of the loop it is given. */
  class loop {
  public:
    explicit loop(program &p) : p(p), begin(p.here()) {}
    void leave() { exits.push_back(p.jump()); }
    void leave_if(const test &condition)
    {
      p.when(condition, [this] { leave(); });
    }
    void again() { p.steps[p.jump()].target = begin; }
    /* Left open: leave, with these words, or go on. */
    void may_leave(const std::string &text)
    {
      p.add(act::choose, 0, NO_REGISTER, order::relaxed, text);
      exits.push_back(p.steps.size() - 1);
    }
    void close()
    {
      again();
      for (size_t at : exits) p.steps[at].target = p.here();
    }

  private:
    program &p;
    int begin;
    std::vector<size_t> exits;
  };
  void forever(const std::function<void(loop &)> &body)
  {
    loop l(*this);
    body(l);
    l.close();
  }
  void end() { add(act::end, 0, NO_REGISTER, order::relaxed, "ends"); }

private:
  int here() const { return (int)steps.size(); }
  void add(act what, int loc, int reg, order how, const std::string &text)
  {
    step s{what};
    s.loc = (uint8_t)loc;
    s.reg = (uint8_t)reg;
    s.how = how;
    s.text = text;
    steps.push_back(s);
  }
  size_t branch(const test &condition)
  {
    add(act::branch, 0, NO_REGISTER, order::relaxed, "");
    steps.back().when = condition;
    return steps.size() - 1;
  }
  size_t jump()
  {
    add(act::jump, 0, NO_REGISTER, order::relaxed, "");
    return steps.size() - 1;
  }
};

} // namespace model

#endif
