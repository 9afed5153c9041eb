/* doorbell.cpp - implements the steps of the doorbell and its mutants. */
#include "doorbell.h"

namespace model {

namespace {

/* A bell's word: watch << COUNT_BITS | count. */
enum { COUNT_BITS = 4, COUNT_MASK = (1 << COUNT_BITS) - 1 };

int one_more(int asleep, int watches, mutant m)
{
  if (asleep && asleep >> COUNT_BITS != watches)
    watches = m == mutant::first_watch_stays ? asleep >> COUNT_BITS : WATCH_ALL;
  return watches << COUNT_BITS | ((asleep & COUNT_MASK) + 1);
}

int one_less(int asleep, mutant m)
{
  return (asleep & COUNT_MASK) == 1 || m == mutant::last_one_out ? 0 : asleep - 1;
}

void enter(program &p, bell b, watch watches, mutant m)
{
  if (m == mutant::no_registration) return;
  if (m == mutant::plain_registration) /* no other thread sleeps */
    p.store(b.asleep, one_more(0, watches, m), relaxed, "enter: asleep = one_more(0) (relaxed)");
  else
    p.rmw(
        NO_REGISTER, b.asleep, [=](int old) { return one_more(old, watches, m); }, seq_cst,
        "enter: asleep = one_more(asleep, watch) (seq_cst)");
}

void leave(program &p, bell b, mutant m)
{
  if (m == mutant::no_registration) return;
  p.rmw(
      NO_REGISTER, b.asleep, [=](int old) { return one_less(old, m); }, seq_cst,
      "leave: asleep = one_less(asleep) (seq_cst)");
}

void see(program &p, bell b)
{
  p.load(SEEN, b.rung, acquire, "wtl_bell_sleep: seen = rung (acquire)");
}

} // namespace

change plus(int n)
{
  return [n](int old) { return old + n; };
}

test is_set(int reg)
{
  return [reg](const registers &r) { return r[(size_t)reg] != 0; };
}

test is_clear(int reg)
{
  return [reg](const registers &r) { return r[(size_t)reg] == 0; };
}

void wtl_bell_ring(program &p, bell b, mutant m)
{
  if (m != mutant::bell_not_moved) p.rmw(NO_REGISTER, b.rung, plus(1), seq_cst, "wtl_bell_ring: rung += 1 (seq_cst)");
  p.does(act::futex_wake, b.rung, NO_REGISTER, "wtl_bell_ring: futex(rung, WAKE)");
  if (b.rung != PE_BELL.rung || m == mutant::no_alarm) return;
  p.load(WORD, ALARM, relaxed, "wtl_bell_ring: load alarm (relaxed)");
  p.when(is_set(WORD), [&] { p.rmw(NO_REGISTER, ALARM_COUNT, plus(1), relaxed, "wtl_bell_ring: write(alarm)"); });
}

void wtl_bell_ring_at(program &p, bell b, watch line, mutant m)
{
  p.load(WORD, b.asleep, relaxed, "wtl_bell_ring_at: load asleep (relaxed)");
  p.when(
      [line](const registers &r) {
        int watches = r[WORD] >> COUNT_BITS;
        return r[WORD] && (watches == WATCH_ALL || watches == line);
      },
      [&] { wtl_bell_ring(p, b, m); });
}

void if_has_sleeper(program &p, bell b, const program::block &ring)
{
  p.load(WORD, b.asleep, seq_cst, "wtl_bell_has_sleeper: load asleep (seq_cst)");
  p.when(is_set(WORD), ring);
  p.set(WORD, 0);
}

void wtl_bell_sleep(program &p, bell b, watch watches, const program::block &ready, mutant m,
                    const program::block &sleeper)
{
  auto tell_alarm = [&] { p.store(ALARM, 1, relaxed, "wtl_bell_sleep: alarm = the bed's (relaxed)"); };
  auto sleep_while = [&] {
    if (m == mutant::registration_too_late) enter(p, b, watches, m);
    if (m == mutant::seen_too_late) see(p, b);
    p.does(act::futex_wait, b.rung, SEEN, "sleep_while: futex(rung, WAIT, seen)");
  };
  if (m != mutant::seen_too_late) see(p, b);
  if (sleeper && m != mutant::alarm_told_late) tell_alarm();
  if (m != mutant::registration_too_late) enter(p, b, watches, m);
  if (sleeper && m == mutant::alarm_told_late) tell_alarm();
  if (m != mutant::no_sleeper_fence && m != mutant::plain_registration) p.fence("wtl_bell_sleep: wtl_fence()");
  if (m == mutant::no_recheck) {
    sleep_while();
  } else {
    ready();
    p.when(is_clear(NOW), sleeper ? sleeper : sleep_while);
  }
  p.set(SEEN, 0);
  p.set(NOW, 0);
  leave(p, b, m);
  if (sleeper) p.store(ALARM, 0, relaxed, "wtl_bell_sleep: alarm = 0 (relaxed)");
}

std::vector<std::string> location_names()
{
  return {"x",
          "y",
          "asleep",
          "rung",
          "others",
          "sleepers",
          "visits",
          "nudges",
          "parked",
          "net's lock",
          "stop",
          "wake",
          "turn of slot 0",
          "turn of slot 1",
          "has_messages",
          "position",
          "taken",
          "head",
          "waiters",
          "wish",
          "pending_ring",
          "head of the replies' ring",
          "waiters of the replies' ring",
          "agent's asleep",
          "agent's rung",
          "sender's asleep",
          "sender's rung",
          "looking",
          "threads asleep",
          "parked_long",
          "owner",
          "mutex's waiters",
          "alarm",
          "alarm's count",
          "on_network",
          "held",
          "notice"};
}

} // namespace model
