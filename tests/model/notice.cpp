/* notice.cpp - implements the steps of the notice of sleepers and its mutants. */
#include "notice.h"

namespace model {

namespace {

enum { MINE = FIRST_FREE_REGISTER, DONE };
enum state { NONE, POSTING, POSTED, WITHDRAWING };
enum { NOTICE_BITS = 2, NOTICE_MASK = (1 << NOTICE_BITS) - 1, ONE_POSTING = 1 << NOTICE_BITS };

change in_state(state s)
{
  return [s](int word) { return (word & ~NOTICE_MASK) | s; };
}

test is_in(int reg, state s)
{
  return [reg, s](const registers &r) { return (r[(size_t)reg] & NOTICE_MASK) == s; };
}

/* --- src/wait/sleep_notice.c -------------------------------------------------------------------------------------- */

void announce(program &p, mutant m)
{
  int step = m == mutant::unnumbered ? 0 : ONE_POSTING;
  auto next = [step](int word) { return ((word + step) & ~NOTICE_MASK) | POSTING; };
  p.rmw(MINE, NOTICE, next, seq_cst, "announce: word = the next posting, POSTING (seq_cst)");
  p.copy(MINE, MINE, next);
  if (m != mutant::no_barrier_of_all) p.fence_of_all("announce: barrier of all");
  p.cas(DONE, MINE, NOTICE, in_state(POSTED), "announce: POSTING -> POSTED");
  p.set(DONE, 0);
  p.set(MINE, 0);
}

void wtl_notice_post(program &p, mutant m)
{
  p.load(WORD, NOTICE, acquire, "wtl_notice_post: load the notice (acquire)");
  p.when(
      [m](const registers &r) {
        int found = r[WORD] & NOTICE_MASK;
        bool trusted = (m == mutant::posting_trusted && found == POSTING) ||
                       (m == mutant::withdrawing_trusted && found == WITHDRAWING);
        return found != POSTED && !trusted;
      },
      [&] {
        p.set(WORD, 0);
        announce(p, m);
      });
  p.set(WORD, 0);
}

void has_sleepers(program &p)
{
  p.load(WORD, ASLEEP, seq_cst, "has_sleepers: load asleep (seq_cst)");
}

void wtl_notice_withdraw(program &p, mutant m)
{
  auto after_look = [&] {
    if (m == mutant::withdrawn_unlooked)
      p.set(WORD, 0);
    else
      has_sleepers(p);
    p.when(
        is_set(WORD),
        [&] {
          p.set(WORD, 0);
          p.cas(DONE, MINE, NOTICE, in_state(POSTED), "wtl_notice_withdraw: back to POSTED");
        },
        [&] { p.cas(DONE, MINE, NOTICE, in_state(NONE), "wtl_notice_withdraw: to NONE"); });
  };
  p.load(MINE, NOTICE, relaxed, "wtl_notice_withdraw: load the notice (relaxed)");
  p.when(is_in(MINE, POSTED), [&] {
    if (m == mutant::withdrawn_at_once) return after_look();
    p.cas(DONE, MINE, NOTICE, in_state(WITHDRAWING), "wtl_notice_withdraw: POSTED -> WITHDRAWING");
    p.when(is_set(DONE), [&] {
      p.copy(MINE, MINE, in_state(WITHDRAWING));
      after_look();
    });
  });
  for (int reg : {int(WORD), int(MINE), int(DONE)}) p.set(reg, 0);
}

/* --- src/pgas/near.h, near.c -------------------------------------------------------------------------------------- */

void read_notice(program &p)
{
  p.load(MINE, NOTICE, relaxed, "wtl_notice_is_up: load the notice (relaxed)");
}

void wtl_touch_with_notice(program &p, watch line, mutant m)
{
  p.set(MINE, 0);
  if (m != mutant::unfenced_with_notice) p.fence("wtl_touch_with_notice: wtl_fence()");
  if_has_sleeper(p, PE_BELL, [&] { wtl_bell_ring_at(p, PE_BELL, line, m); });
}

void store(program &p, bool as_block, location word)
{
  if (!as_block) return p.store(word, 1, release, "wtl_near_put: store the word (release)");
  p.store(X, 1, relaxed, "wtl_near_put: copy the block's beginning");
  p.store(Y, 1, relaxed, "wtl_near_put: copy the block's end");
}

void test_condition(program &p, const condition &c)
{
  p.load(NOW, c.word, acquire, "ready: load the condition's word (acquire)");
  p.copy(NOW, NOW, [c](int now) { return now >= c.at_least; });
}

} // namespace

program noticed_sleeper(const std::string &name, const condition &c, notice at_first, mutant m)
{
  program p(name, true);
  if (at_first == notice::posted) p.begun.push_back({NOTICE, ONE_POSTING | POSTED});
  p.forever([&](program::loop &l) {
    test_condition(p, c);
    l.leave_if(is_set(NOW));
    wtl_bell_sleep(
        p, PE_BELL, c.watches,
        [&] {
          if (m != mutant::posted_after_test) wtl_notice_post(p, m);
          test_condition(p, c);
          if (m == mutant::posted_after_test) wtl_notice_post(p, m);
        },
        m);
  });
  p.set(NOW, 0);
  p.end();
  return p;
}

program plain_writer(const std::string &name, bool as_block, location word, watch line, mutant m)
{
  program p(name, false);
  if (m == mutant::notice_read_early) read_notice(p);
  store(p, as_block, word);
  if (m != mutant::notice_read_early) read_notice(p);
  p.when([](const registers &r) { return (r[MINE] & NOTICE_MASK) != NONE; },
         [&] { wtl_touch_with_notice(p, line, m); });
  p.set(MINE, 0);
  p.end();
  return p;
}

program withdrawer(const std::string &name, mutant m)
{
  program p(name, false);
  wtl_notice_withdraw(p, m);
  p.end();
  return p;
}

} // namespace model
