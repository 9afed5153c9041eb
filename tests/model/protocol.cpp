/* protocol.cpp - implements the steps of a sleep, of its wake-up and of the progress agent. */
#include "protocol.h"

namespace model {

namespace {

enum { GOT = FIRST_FREE_REGISTER, VISITS_SEEN, VISITS_NOW, NUDGES_SEEN, LOOK };

void ready(program &p, const condition &c)
{
  p.load(NOW, c.word, acquire, "ready: load the condition's word (acquire)");
  p.copy(NOW, NOW, [c](int now) { return now >= c.at_least; });
}

/* --- src/wait/door.c ---------------------------------------------------------------------------------------------- */

void sleep_until_ready(program &p, const condition &c, mutant m)
{
  p.forever([&](program::loop &l) {
    ready(p, c);
    l.leave_if(is_set(NOW));
    wtl_bell_sleep(
        p, PE_BELL, c.watches, [&] { ready(p, c); }, m);
  });
  p.set(NOW, 0);
}

/* --- src/pgas/near.h, far.c ---------------------------------------------------------------------------------------- */

void wtl_touch(program &p, watch line, mutant m)
{
  if_has_sleeper(p, PE_BELL, [&] { wtl_bell_ring_at(p, PE_BELL, line, m); });
}

void wtl_store_word(program &p, location word, int value, mutant m)
{
  bool fenced = m != mutant::no_writer_fence;
  p.store(word, value, fenced ? seq_cst : order::release,
          fenced ? "store the word (seq_cst)" : "store the word (release)");
}

void wtl_store_bytes(program &p, mutant m)
{
  p.store(X, 1, relaxed, "copy the block's beginning");
  p.store(Y, 1, relaxed, "copy the block's end");
  if (m != mutant::no_writer_fence) p.fence("wtl_store_bytes: wtl_fence()");
}

void make_true(program &p, way by, location word, mutant m)
{
  switch (by) {
  case way::block: return wtl_store_bytes(p, m);
  case way::amo: return p.rmw(NO_REGISTER, word, plus(1), seq_cst, "fetch-add (seq_cst)");
  case way::arrival:
    return p.rmw(NO_REGISTER, word, plus(1), m == mutant::arrival_acq_rel ? order::acq_rel : seq_cst, "arrived += 1");
  case way::release: p.store(X, 1, relaxed, "what was stored before the barrier"); [[fallthrough]];
  default: return wtl_store_word(p, word, 1, m);
  }
}

/* --- src/fabric/net.c, transport_threads.c ------------------------------------------------------------------------ */

/* The handler stores what the parcel brings: X and Y in turn. */
void take_store(program &p, mutant m)
{
  p.when([](const registers &r) { return r[GOT] % 2 == 1; },
         [&] {
           p.rmw(NO_REGISTER, X, plus(1), seq_cst, "take_amo: X += 1 (seq_cst)");
           wtl_touch(p, LINE_0, m);
         },
         [&] {
           p.rmw(NO_REGISTER, Y, plus(1), seq_cst, "take_amo: Y += 1 (seq_cst)");
           wtl_touch(p, LINE_1, m);
         });
}

/* Afterwards GOT says whether anything happened. */
void wtl_net_progress(program &p, mutant m)
{
  p.try_lock(LOOK, NET_LOCK, "wtl_net_progress: trylock");
  p.set(GOT, 0);
  p.when(is_set(LOOK), [&] {
    p.does(act::take, NET_LOCK, GOT, "wtl_net_progress: take a parcel");
    p.when(is_set(GOT), [&] { take_store(p, m); });
    p.load(LOOK, HELD, relaxed, "wtl_net_progress: is something held?");
    p.when(is_set(LOOK), [&] {
      p.store(HELD, 0, relaxed, "wtl_net_progress: send what is held");
      wtl_store_word(p, X, 1, m);
      wtl_touch(p, LINE_0, m);
      p.set(GOT, 1);
    });
    p.unlock(NET_LOCK, "wtl_net_progress: unlock");
  });
  p.set(LOOK, 0);
}

void wtl_net_arm(program &p, mutant m)
{
  p.lock(NET_LOCK, "wtl_net_arm: lock");
  p.set(LOOK, 0);
  if (m != mutant::armed_with_held) p.load(LOOK, HELD, relaxed, "wtl_net_arm: is something held?");
  p.set(GOT, 0);
  p.when(is_clear(LOOK),
         [&] { p.does(m == mutant::arm_without_look ? act::arm_blind : act::arm, NET_LOCK, GOT, "wtl_net_arm: arm"); });
  p.set(LOOK, 0);
  p.unlock(NET_LOCK, "wtl_net_arm: unlock");
}

/* --- src/fabric/agent.c ------------------------------------------------------------------------------------------- */

void look_up_later(program &p, mutant m)
{
  p.store(PARKED, 1, seq_cst, "look_up_later: parked = true");
  if (m != mutant::kernel_without_barrier) p.fence("look_up_later: the barrier in futex(WAIT), before it compares");
  p.does(act::futex_wait, NUDGES, NUDGES_SEEN, "look_up_later: futex(nudges, WAIT, nudges as read)");
  p.store(PARKED, 0, seq_cst, "look_up_later: parked = false");
}

void nudge(program &p, mutant m)
{
  if (m == mutant::nudge_looks_first) p.load(LOOK, PARKED, seq_cst, "nudge: load parked");
  p.rmw(NO_REGISTER, NUDGES, plus(1), seq_cst, "nudge: nudges++");
  if (m != mutant::nudge_looks_first) p.load(LOOK, PARKED, seq_cst, "nudge: load parked");
  p.when(is_set(LOOK), [&] { p.does(act::futex_wake, NUDGES, NO_REGISTER, "nudge: futex(nudges, WAKE)"); });
  p.set(LOOK, 0);
}

/* Polls for a while; the length is left open. Afterwards GOT says whether more came. */
void linger(program &p, mutant m)
{
  p.set(GOT, 0);
  p.forever([&](program::loop &l) {
    p.load(LOOK, SLEEPERS, seq_cst, "linger: load sleepers");
    l.leave_if(is_clear(LOOK));
    p.load(LOOK, OTHERS, seq_cst, "linger: load others");
    l.leave_if(is_set(LOOK));
    l.may_leave("linger: is the time up?");
    wtl_net_progress(p, m);
    l.leave_if(is_set(GOT));
  });
}

/* Sets LOOK if a thread serves the network, or did a moment ago while no thread sleeps. */
void who_serves(program &p)
{
  p.load(LOOK, OTHERS, seq_cst, "serve: load others");
  p.when(is_clear(LOOK), [&] {
    p.when([](const registers &r) { return r[VISITS_NOW] != r[VISITS_SEEN]; },
           [&] {
             p.load(LOOK, SLEEPERS, seq_cst, "serve: load sleepers");
             p.when(
                 is_clear(LOOK), [&] { p.set(LOOK, 1); }, [&] { p.set(LOOK, 0); });
           });
  });
}

void read_nudges(program &p)
{
  p.load(NUDGES_SEEN, NUDGES, seq_cst, "serve: nudges = a->nudges");
}

void sleep_on_network(program &p, mutant m)
{
  if (m == mutant::no_look_after_arming) return p.does(act::poll, WAKE, NO_REGISTER, "sleep_on_network: poll");
  p.load(LOOK, OTHERS, seq_cst, "serve: load others after arming");
  p.when(is_clear(LOOK), [&] {
    p.load(LOOK, STOP, seq_cst, "serve: load stop after arming");
    p.when(is_clear(LOOK), [&] { p.does(act::poll, WAKE, NO_REGISTER, "sleep_on_network: poll"); });
  });
}

/* One turn of the agent's loop. */
void turn(program &p, mutant m)
{
  if (m != mutant::nudges_seen_too_late) read_nudges(p);
  p.load(VISITS_NOW, VISITS, seq_cst, "serve: visits = a->visits");
  who_serves(p);
  if (m == mutant::nudges_seen_too_late) read_nudges(p);
  p.when(
      is_set(LOOK),
      [&] {
        p.copy(VISITS_SEEN, VISITS_NOW);
        look_up_later(p, m);
      },
      [&] {
        wtl_net_progress(p, m);
        p.when(
            is_set(GOT),
            [&] {
              p.forever([&](program::loop &l) {
                linger(p, m);
                l.leave_if(is_clear(GOT));
              });
            },
            [&] {
              wtl_net_arm(p, m);
              p.when(is_set(GOT), [&] { sleep_on_network(p, m); });
            });
      });
  for (int reg : {LOOK, GOT, NUDGES_SEEN, VISITS_NOW}) p.set(reg, 0);
}

void stand_by(program &p)
{
  p.rmw(NO_REGISTER, OTHERS, plus(1), seq_cst, "stand_by: others++");
  p.rmw(NO_REGISTER, VISITS, plus(1), seq_cst, "stand_by: visits++");
}

void take_over(program &p, mutant m)
{
  auto count = [&] { p.rmw(NO_REGISTER, SLEEPERS, plus(1), seq_cst, "take_over: sleepers++"); };
  if (m != mutant::sleeper_counted_late) count();
  p.rmw(NO_REGISTER, OTHERS, plus(-1), seq_cst, "take_over: others--");
  if (m != mutant::no_nudge) nudge(p, m);
  if (m == mutant::sleeper_counted_late) count();
}

void relieved(program &p)
{
  p.rmw(NO_REGISTER, SLEEPERS, plus(-1), seq_cst, "relieved: sleepers--");
}

void resume(program &p, mutant m)
{
  p.rmw(NO_REGISTER, OTHERS, plus(-1), seq_cst, "resume: others--");
  if (m == mutant::resume_without_nudge) return;
  p.load(LOOK, SLEEPERS, seq_cst, "resume: load sleepers");
  p.when(is_set(LOOK), [&] { nudge(p, m); });
  p.set(LOOK, 0);
}

void sleep_on_descriptors(program &p, mutant m)
{
  wtl_net_arm(p, m);
  p.when(is_set(GOT), [&] {
    p.does(act::poll, ALARM_COUNT, NO_REGISTER, "sleep_on_network: poll");
    p.rmw(
        NO_REGISTER, ALARM_COUNT, [](int) { return 0; }, relaxed, "sleep_on_network: read(alarm)");
  });
  p.set(GOT, 0);
}

void take_what_came(program &p, const condition &c, mutant m)
{
  p.forever([&](program::loop &l) {
    ready(p, c);
    l.leave_if(is_set(NOW));
    wtl_net_progress(p, m);
    l.leave_if(is_clear(GOT));
    p.set(GOT, 0);
  });
  p.set(NOW, 0);
  p.set(GOT, 0);
}

void sleep_on_network_until_ready(program &p, const condition &c, mutant m)
{
  p.store(IN_BED, 1, seq_cst, "begin_sleep: on_network = true");
  p.forever([&](program::loop &l) {
    ready(p, c);
    l.leave_if(is_set(NOW));
    wtl_bell_sleep(
        p, PE_BELL, c.watches, [&] { ready(p, c); }, m, [&] { sleep_on_descriptors(p, m); });
    take_what_came(p, c, m);
  });
  p.set(NOW, 0);
  p.store(IN_BED, 0, seq_cst, "end_sleep: on_network = false");
}

/* Spins for any number of turns; afterwards NOW says how that ended. */
void spin(program &p, const condition &c, bool ends, mutant m)
{
  p.forever([&](program::loop &l) {
    wtl_net_progress(p, m);
    p.set(GOT, 0);
    ready(p, c);
    l.leave_if(is_set(NOW));
    p.set(NOW, 0);
    if (ends) l.may_leave("spin: is the limit reached?");
  });
}

void wtl_door_wait(program &p, const condition &c, bool alone, mutant m)
{
  ready(p, c);
  p.when(is_clear(NOW), [&] {
    p.set(NOW, 0);
    stand_by(p);
    spin(p, c, true, m);
    p.when(
        is_set(NOW),
        [&] {
          p.set(NOW, 0);
          resume(p, m);
        },
        [&] {
          if (alone) {
            sleep_on_network_until_ready(p, c, m);
            resume(p, m);
          } else {
            take_over(p, m);
            sleep_until_ready(p, c, m);
            relieved(p);
          }
        });
  });
  p.set(NOW, 0);
}

} // namespace

program sleeper(const std::string &name, const std::vector<condition> &waits, mutant m)
{
  program p(name, true);
  for (const condition &c : waits) sleep_until_ready(p, c, m);
  p.end();
  return p;
}

program writer(const std::string &name, way by, location word, watch line, mutant m)
{
  program p(name, false);
  if (m == mutant::rung_too_early) wtl_touch(p, line, m);
  make_true(p, by, word, m);
  if (m != mutant::rung_too_early) wtl_touch(p, line, m);
  p.end();
  return p;
}

program waiting_thread(const std::string &name, const std::vector<condition> &waits, mutant m)
{
  program p(name, true);
  for (const condition &c : waits) wtl_door_wait(p, c, false, m);
  p.end();
  return p;
}

program thread_in_bed(const std::string &name, const std::vector<condition> &waits, mutant m)
{
  program p(name, true);
  for (const condition &c : waits) wtl_door_wait(p, c, true, m);
  p.end();
  return p;
}

program thread_about_to_lie_down(const std::string &name, const condition &c, mutant m)
{
  program p(name, true);
  p.begun = {{OTHERS, 1}, {VISITS, 1}};
  sleep_on_network_until_ready(p, c, m);
  resume(p, m == mutant::parked_all_night ? mutant::resume_without_nudge : m);
  p.end();
  return p;
}

program holder(mutant m)
{
  program p("holder", false);
  p.lock(NET_LOCK, "wtl_net_put: lock");
  p.store(HELD, 1, relaxed, "wtl_net_put: hold it back");
  p.unlock(NET_LOCK, "wtl_net_put: unlock");
  p.load(LOOK, IN_BED, seq_cst, "wtl_agent_attend: load on_network");
  p.when(
      is_set(LOOK),
      [&] {
        if (m != mutant::held_untold)
          p.rmw(NO_REGISTER, ALARM_COUNT, plus(1), relaxed, "wtl_agent_attend: write(alarm)");
      },
      [&] {
        p.load(LOOK, PARKED, seq_cst, "wtl_agent_attend: load parked");
        p.when(is_set(LOOK), [&] {
          p.load(LOOK, OTHERS, seq_cst, "wtl_agent_attend: load others");
          p.when(is_clear(LOOK), [&] { nudge(p, m); });
        });
      });
  p.set(LOOK, 0);
  p.end();
  return p;
}

program thread_about_to_sleep(const std::string &name, const condition &c, mutant m)
{
  program p(name, true);
  p.begun = {{OTHERS, 1}, {VISITS, 1}};
  take_over(p, m);
  sleep_until_ready(p, c, m);
  relieved(p);
  p.end();
  return p;
}

program spinning_thread(const std::string &name, const condition &c, mutant m)
{
  program p(name, true);
  p.begun = {{OTHERS, 1}, {VISITS, 1}};
  spin(p, c, false, m);
  p.set(NOW, 0);
  resume(p, m);
  p.end();
  return p;
}

program agent(mutant m, bool must_end)
{
  program p("agent", must_end);
  p.load(VISITS_SEEN, VISITS, seq_cst, "serve: seen = a->visits");
  p.forever([&](program::loop &l) {
    p.load(LOOK, STOP, seq_cst, "serve: load stop");
    l.leave_if(is_set(LOOK));
    turn(p, m);
  });
  p.end();
  return p;
}

program network(int parcels)
{
  program p("network", false);
  for (int i = 0; i < parcels; i++) p.does(act::deliver, NET_LOCK, NO_REGISTER, "deliver a parcel");
  p.end();
  return p;
}

program stopper()
{
  program p("program", false);
  p.store(STOP, 1, seq_cst, "wtl_agent_stop: stop = true");
  p.rmw(NO_REGISTER, WAKE, plus(1), relaxed, "wtl_agent_stop: write(wake)");
  nudge(p, mutant::none);
  p.end();
  return p;
}

} // namespace model
