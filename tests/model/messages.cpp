/* messages.cpp - implements the steps of active messages on a node. */
#include "messages.h"

namespace model {

namespace {

enum { AT = FIRST_FREE_REGISTER, ANY, VISITS_SEEN, VISITS_NOW, NUDGES_SEEN };

using block = program::block;

/* A thread's part: its permission to take messages, and the mutant. */
struct part {
  program &p;
  receiver r;
  mutant m;
  bool may_take;
};

constexpr location turn_of(int slot)
{
  return slot ? TURN_1 : TURN_0;
}

void handled(program &p, int ends)
{
  p.load(NOW, X, acquire, "ready: load x (acquire)");
  p.copy(NOW, NOW, [ends](int x) { return x >= ends; });
}

void has_messages(program &p)
{
  p.load(NOW, HAS_MAIL, relaxed, "has_messages: load has_messages (relaxed)");
}

/* --- src/am/am_send.c: sending --------------------------------------------------------------------------------------- */

void wtl_am_wake(program &p, receiver r, mutant m)
{
  if_has_sleeper(p, PE_BELL, [&] { wtl_bell_ring(p, PE_BELL, m); });
  if (r.has_agent && m != mutant::agent_not_rung)
    if_has_sleeper(p, AGENT_BELL, [&] { wtl_bell_ring(p, AGENT_BELL, m); });
}

void wtl_am_announce(program &p, mutant m)
{
  order how = m == mutant::mail_relaxed || m == mutant::mail_after_message ? relaxed : seq_cst;
  p.load(WORD, HAS_MAIL, how, "wtl_am_announce: load has_messages");
  p.when(is_clear(WORD), [&] { p.store(HAS_MAIL, 1, how, "wtl_am_announce: has_messages = 1"); });
  p.set(WORD, 0);
}

void show(program &p, receiver r, int position, mutant m)
{
  if (m != mutant::mail_after_message) wtl_am_announce(p, m);
  p.store(turn_of(position % r.slots), position / r.slots + 1, m == mutant::message_released ? release : seq_cst,
          "wtl_am_publish: turn");
  if (m == mutant::mail_after_message) wtl_am_announce(p, m);
}

void post(program &p, receiver r, int position, mutant m)
{
  show(p, r, position, m);
  wtl_am_wake(p, r, m);
}

/* --- src/am/am_run.c: taking ------------------------------------------------------------------------------------ */

/* AT keeps the position. */
void wtl_am_peek(program &p, receiver r)
{
  p.load(AT, POSITION, relaxed, "is_there: load position (relaxed)");
  for (int slot = 0; slot < r.slots; slot++)
    p.when([=](const registers &reg) { return reg[AT] % r.slots == slot; },
           [&] { p.load(WORD, turn_of(slot), acquire, "is_there: load the slot's turn (acquire)"); });
  p.when([=](const registers &reg) { return reg[WORD] == reg[AT] / r.slots + 1; }, [&] { p.set(NOW, 1); },
         [&] { p.set(NOW, 0); });
  p.set(WORD, 0);
}

void is_there(program &p, receiver r)
{
  wtl_am_peek(p, r);
  p.set(AT, 0);
}

void has_space(program &p, int reg)
{
  p.load(reg, ROOM, acquire, "wtl_am_has_space: load the replies' head (acquire)");
}

void wtl_am_waits(const part &t)
{
  program &p = t.p;
  if (!t.may_take) return p.set(NOW, 0);
  p.load(NOW, TAKEN, seq_cst, "wtl_am_waits: load taken (seq_cst)");
  p.when(
      is_set(NOW), [&] { p.set(NOW, 0); },
      [&] {
        if (!t.r.keeps_replies) return is_there(p, t.r);
        p.load(WORD, KEPT, acquire, "wtl_am_waits: load pending_ring (acquire)");
        p.when(
            is_set(WORD),
            [&] {
              p.set(WORD, 0);
              has_space(p, NOW);
            },
            [&] { is_there(p, t.r); });
      });
}

/* A request's handler replies, where there is room: x says that the reply is out. */
void reply(const part &t)
{
  program &p = t.p;
  has_space(p, WORD);
  p.when(
      is_set(WORD), [&] { p.store(X, 1, relaxed, "wtl_am_reply: out"); },
      [&] {
        if (t.m != mutant::kept_unwatched)
          p.rmw(NO_REGISTER, KEPT_WAITERS, plus(1), seq_cst, "wtl_am_watch_space: waiters += 1 (seq_cst)");
        p.store(KEPT, 1, seq_cst, "wtl_am_watch_space: pending_ring (seq_cst)");
      });
}

void wtl_am_send_pending(const part &t)
{
  program &p = t.p;
  if (!t.r.keeps_replies) return;
  p.load(WORD, KEPT, relaxed, "take_some: is a reply kept?");
  p.when(is_set(WORD), [&] {
    has_space(p, WORD);
    p.when(is_set(WORD), [&] {
      p.store(X, 1, relaxed, "wtl_am_send_pending: out");
      p.store(KEPT, 0, seq_cst, "wtl_am_watch_space: pending_ring = NULL (seq_cst)");
      p.rmw(NO_REGISTER, KEPT_WAITERS, plus(-1), relaxed, "wtl_am_watch_space: waiters -= 1 (relaxed)");
      p.set(ANY, 1);
    });
  });
  p.set(WORD, 0);
}

void wtl_am_run(const part &t)
{
  program &p = t.p;
  if (t.r.keeps_replies) {
    reply(t);
  } else {
    p.copy(WORD, AT, plus(1));
    p.store_reg(X, WORD, relaxed, "handler: x = messages so far (private memory)");
  }
  p.set(WORD, 0);
}

void take_ring(const part &t)
{
  program &p = t.p;
  p.forever([&](program::loop &l) {
    if (t.r.keeps_replies) {
      p.load(WORD, KEPT, relaxed, "take_ring: is a reply kept?");
      l.leave_if(is_set(WORD));
    }
    wtl_am_peek(p, t.r);
    l.leave_if(is_clear(NOW));
    wtl_am_run(t);
    p.copy(AT, AT, plus(1));
    p.store_reg(POSITION, AT, relaxed, "take_ring: position (relaxed)");
    p.set(ANY, 1);
    if (t.r.slots > 1 && !t.r.shows_head) l.may_leave("take_ring: are that enough for a turn?");
  });
  p.set(WORD, 0);
}

void load_waiters(program &p)
{
  p.load(WORD, WAITERS, seq_cst, "wtl_am_wake_waiters: load waiters (seq_cst)");
}

void wtl_am_publish_head(const part &t)
{
  program &p = t.p;
  if (!t.r.shows_head) return;
  p.when(is_set(ANY), [&] {
    if (t.m == mutant::waiters_looked_first) load_waiters(p);
    p.store_reg(HEAD, AT, release, "wtl_am_publish_head: head (release)");
  });
}

void wtl_am_wake_waiters(const part &t)
{
  program &p = t.p;
  if (!t.r.shows_head) return;
  p.when(is_set(ANY), [&] {
    if (t.m != mutant::waiters_looked_first) load_waiters(p);
    p.when(is_set(WORD), [&] {
      p.load(WORD, WISH, seq_cst, "wtl_am_wake_waiters: load wish (seq_cst)");
      p.when(is_set(WORD), [&] {
        for (bell b : {PE_BELL, SENDER_BELL}) if_has_sleeper(p, b, [&] { wtl_bell_ring_at(p, b, WATCH_CONTROL, t.m); });
      });
    });
    p.set(WORD, 0);
  });
}

void stop_taking(const part &t)
{
  program &p = t.p;
  if (t.m == mutant::look_before_release) is_there(p, t.r);
  p.store(TAKEN, 0, t.m == mutant::no_fence_after ? seq_cst : release, "wtl_am_take: taken = 0");
  if (t.m != mutant::no_fence_after && t.m != mutant::head_released) p.fence("wtl_am_take: wtl_fence()");
}

/* By who has `taken`. */
void take_some_and_stop(const part &t)
{
  program &p = t.p;
  wtl_am_send_pending(t);
  take_ring(t);
  wtl_am_publish_head(t);
  p.set(AT, 0);
  p.set(NOW, 0);
  stop_taking(t);
  wtl_am_wake_waiters(t);
  if (t.m != mutant::handler_rings_nobody)
    p.when(is_set(ANY), [&] { if_has_sleeper(p, PE_BELL, [&] { wtl_bell_ring(p, PE_BELL, t.m); }); });
  if (t.m == mutant::no_look_after) return;
  p.load(WORD, PE_BELL.asleep, seq_cst, "wtl_am_has_sleeper: load asleep (seq_cst)");
  if (t.r.has_agent)
    p.when(is_clear(WORD),
           [&] { p.load(WORD, AGENT_BELL.asleep, seq_cst, "wtl_am_has_sleeper: load the agent's (seq_cst)"); });
  p.when(
      is_clear(WORD), [&] { p.set(NOW, 0); },
      [&] {
        p.set(WORD, 0);
        if (t.m != mutant::look_before_release) wtl_am_waits(t);
      });
  if (t.m != mutant::no_wake_after) p.when(is_set(NOW), [&] { wtl_am_wake(p, t.r, t.m); });
}

/* Afterwards NOW says whether any were taken. */
void wtl_am_take(const part &t)
{
  program &p = t.p;
  wtl_am_waits(t);
  p.when(is_set(NOW), [&] {
    p.rmw(
        WORD, TAKEN, [](int) { return 1; }, acquire, "wtl_am_take: exchange taken (acquire)");
    p.when(is_clear(WORD), [&] { take_some_and_stop(t); });
    p.set(WORD, 0);
  });
  p.copy(NOW, ANY);
  p.set(ANY, 0);
}

/* --- src/wait/door.c ---------------------------------------------------------------------------------------------- */

/* A turn of handlers; afterwards NOW says whether any ran. */
void take_messages(const part &t)
{
  has_messages(t.p);
  t.p.when(is_set(NOW), [&] { wtl_am_take(t); });
}

void is_called(const part &t, const block &ready)
{
  ready();
  if (t.m == mutant::no_look_for_mail) return;
  t.p.when(is_clear(NOW), [&] {
    has_messages(t.p);
    t.p.when(is_set(NOW), [&] { wtl_am_waits(t); });
  });
}

void sleep_until_ready(const part &t, watch watches, const block &ready)
{
  t.p.forever([&](program::loop &l) {
    ready();
    l.leave_if(is_set(NOW));
    take_messages(t);
    t.p.when(is_set(NOW), [&] {
      t.p.set(NOW, 0);
      l.again();
    });
    wtl_bell_sleep(
        t.p, PE_BELL, watches, [&] { is_called(t, ready); }, t.m);
  });
  t.p.set(NOW, 0);
}

void spin(const part &t, const block &ready)
{
  t.p.forever([&](program::loop &l) {
    take_messages(t);
    ready();
    l.leave_if(is_set(NOW));
  });
  t.p.set(NOW, 0);
}

/* --- src/am/am_space.c: waiting for the head --------------------------------------------------------------------- */

/* The sender's PE has no messages of its own. `alone`: it has no other thread that may wait. */
void wait_for(program &p, int head, bool alone, mutant m)
{
  auto is_past = [&] {
    p.load(NOW, HEAD, acquire, "wtl_am_is_past: load head (acquire)");
    p.copy(NOW, NOW, [head](int now) { return now >= head; });
  };
  if (m != mutant::no_wish) p.store(WISH, 1, relaxed, "wait_for: wish (relaxed)");
  if (m != mutant::no_waiter) p.rmw(NO_REGISTER, WAITERS, plus(1), seq_cst, "wait_for: waiters += 1 (seq_cst)");
  p.forever([&](program::loop &l) {
    is_past();
    l.leave_if(is_set(NOW));
    wtl_bell_sleep(p, SENDER_BELL, WATCH_CONTROL, is_past, m);
  });
  p.set(NOW, 0);
  if (m != mutant::no_waiter) p.rmw(NO_REGISTER, WAITERS, plus(-1), relaxed, "wait_for: waiters -= 1 (relaxed)");
  if (alone) p.store(WISH, 0, relaxed, "wait_for: no wish (relaxed)");
}

/* --- src/am/am_agent.c ------------------------------------------------------------------------------------------ */

void read_nudges(program &p)
{
  p.load(NUDGES_SEEN, NUDGES, seq_cst, "serve: nudges = a->nudges");
}

/* A rest that only a nudge ends. */
void rest(program &p, mutant m)
{
  if (m == mutant::nudges_seen_too_late) read_nudges(p);
  p.store(PARKED_LONG, 1, seq_cst, "rest: parked_long = true");
  p.store(PARKED, 1, seq_cst, "rest: parked = true");
  if (m != mutant::kernel_without_barrier) p.fence("rest: the barrier in futex(WAIT), before it compares");
  p.does(act::futex_wait, NUDGES, NUDGES_SEEN, "rest: futex(nudges, WAIT, nudges as read)");
  p.store(PARKED_LONG, 0, seq_cst, "rest: parked_long = false");
  p.store(PARKED, 0, seq_cst, "rest: parked = false");
}

void nudge(program &p, location parked, mutant m)
{
  auto look = [&] { p.load(WORD, parked, seq_cst, "nudge: does it rest?"); };
  if (m == mutant::nudge_if_seen || m == mutant::nudge_looks_first) look();
  if (m == mutant::nudge_if_seen)
    p.when(is_set(WORD), [&] { p.rmw(NO_REGISTER, NUDGES, plus(1), seq_cst, "nudge: nudges++"); });
  else
    p.rmw(NO_REGISTER, NUDGES, plus(1), seq_cst, "nudge: nudges++");
  if (m != mutant::nudge_if_seen && m != mutant::nudge_looks_first) look();
  p.when(is_set(WORD), [&] { p.does(act::futex_wake, NUDGES, NO_REGISTER, "nudge: futex(nudges, WAKE)"); });
  p.set(WORD, 0);
}

/* A rest is clamped to a short one, but where all threads that wait sleep; how long it has grown until then is left
 * open. */
void may_rest(program &p, mutant m)
{
  bool looks = m != mutant::rest_unlooked;
  if (m == mutant::rest_without_end) return rest(p, m);
  p.when([](const registers &r) { return r[VISITS_NOW] == r[VISITS_SEEN]; },
         [&] {
           p.load(WORD, LOOKING, seq_cst, "serve: load looking, for how long it rests");
           p.when(is_clear(WORD), [&] {
             if (looks) p.load(WORD, THREADS_ASLEEP, seq_cst, "serve: load asleep, for how long it rests");
             p.when(looks ? is_set(WORD) : is_clear(WORD), [&] {
               p.set(WORD, 0);
               p.unless("serve: is the rest still a short one?", [&] { rest(p, m); });
             });
           });
         });
  p.set(WORD, 0);
}

void stops(program &p)
{
  p.load(NOW, STOP, seq_cst, "serve: load stop");
}

void turn(const part &t)
{
  program &p = t.p;
  if (t.m != mutant::nudges_seen_too_late) read_nudges(p);
  p.load(VISITS_NOW, VISITS, seq_cst, "serve: visits = a->visits");
  p.load(WORD, LOOKING, seq_cst, "is_alone: load looking");
  p.when(is_clear(WORD), [&] { p.load(WORD, THREADS_ASLEEP, seq_cst, "is_alone: load asleep"); });
  p.when([](const registers &r) { return r[WORD] || r[VISITS_NOW] != r[VISITS_SEEN]; },
         [&] {
           p.set(WORD, 0);
           may_rest(p, t.m);
           p.copy(VISITS_SEEN, VISITS_NOW);
         },
         [&] {
           p.set(NUDGES_SEEN, 0);
           p.set(VISITS_NOW, 0);
           wtl_am_take(t);
           p.when(is_clear(NOW), [&] {
             auto waits = [&] {
               stops(p);
               p.when(is_clear(NOW), [&] { wtl_am_waits(t); });
             };
             if (t.m == mutant::no_look_by_agent)
               wtl_bell_sleep(
                   p, AGENT_BELL, WATCH_ALL, [&] { p.set(NOW, 0); }, t.m);
             else
               wtl_bell_sleep(p, AGENT_BELL, WATCH_ALL, waits, t.m);
           });
         });
  for (int reg : std::initializer_list<int>{WORD, NOW, NUDGES_SEEN, VISITS_NOW}) p.set(reg, 0);
}

/* Of the program's only thread. */
void add(program &p, location n, int by, const std::string &what)
{
  p.load(WORD, n, relaxed, what + " (load, relaxed)");
  p.copy(WORD, WORD, plus(by));
  p.store_reg(n, WORD, relaxed, what + " (store, relaxed)");
  p.set(WORD, 0);
}

void falls_asleep(program &p)
{
  p.rmw(NO_REGISTER, THREADS_ASLEEP, plus(1), seq_cst, "falls_asleep: asleep++");
  add(p, LOOKING, -1, "falls_asleep: looking--");
}

void leave_asleep(program &p, mutant m)
{
  add(p, VISITS, 1, "leave: visits++");
  p.rmw(WORD, THREADS_ASLEEP, plus(-1), seq_cst, "leave: asleep--");
  if (m != mutant::no_nudge_at_leaving)
    p.when([](const registers &r) { return r[WORD] == 1; }, [&] { nudge(p, PARKED_LONG, m); });
  p.set(WORD, 0);
}

void is_word_set(program &p, location word)
{
  p.load(NOW, word, acquire, "ready: load the condition's word (acquire)");
}

/* --- src/am/am_mutex.c ------------------------------------------------------------------------------------------ */

void wtl_am_mutex_lock(const part &t)
{
  program &p = t.p;
  auto is_free = [&] {
    p.load(NOW, OWNER, acquire, "is_free: load owner (acquire)");
    p.copy(NOW, NOW, [](int owner) { return !owner; });
  };
  p.forever([&](program::loop &l) {
    p.try_lock(NOW, OWNER, "try_lock: compare-exchange owner");
    l.leave_if(is_set(NOW));
    if (t.m != mutant::no_waiter)
      p.rmw(NO_REGISTER, MUTEX_WAITERS, plus(1), seq_cst, "wtl_am_mutex_lock: waiters += 1 (seq_cst)");
    sleep_until_ready(t, WATCH_CONTROL, is_free);
    if (t.m != mutant::no_waiter)
      p.rmw(NO_REGISTER, MUTEX_WAITERS, plus(-1), relaxed, "wtl_am_mutex_lock: waiters -= 1 (relaxed)");
  });
  p.set(NOW, 0);
}

void wtl_am_mutex_unlock(const part &t)
{
  program &p = t.p;
  auto look = [&] { p.load(NOW, MUTEX_WAITERS, seq_cst, "wtl_am_mutex_unlock: load waiters (seq_cst)"); };
  if (t.m == mutant::unlock_looks_first) look();
  p.store(OWNER, 0, t.m == mutant::owner_released ? release : seq_cst, "wtl_am_mutex_unlock: owner = 0");
  if (t.m != mutant::unlock_looks_first) look();
  p.when(is_set(NOW), [&] { if_has_sleeper(p, PE_BELL, [&] { wtl_bell_ring_at(p, PE_BELL, WATCH_CONTROL, t.m); }); });
  p.set(NOW, 0);
}

} // namespace

program mail_sleeper(const std::string &name, receiver r, int ends, mutant m)
{
  program p(name, true);
  sleep_until_ready({p, r, m, true}, WATCH_CONTROL, [&] { handled(p, ends); });
  p.end();
  return p;
}

program holder_asleep(const std::string &name, int ends, mutant m)
{
  program p(name, true);
  sleep_until_ready({p, TWO_SLOTS, m, false}, LINE_0, [&] { handled(p, ends); });
  p.end();
  return p;
}

program taker(receiver r, mutant m)
{
  program p("taker", false);
  p.begun = {{TAKEN, 1}};
  take_some_and_stop({p, r, m, true});
  p.end();
  return p;
}

program bearer(receiver r, int position, mutant m)
{
  program p("bearer", false);
  show(p, r, position, m);
  take_messages({p, r, m, true});
  p.end();
  return p;
}

program handlers_agent(receiver r, mutant m, bool must_end)
{
  program p("agent", must_end);
  p.load(VISITS_SEEN, VISITS, seq_cst, "serve: seen = a->visits");
  p.forever([&](program::loop &l) {
    stops(p);
    l.leave_if(is_set(NOW));
    turn({p, r, m, true});
  });
  p.end();
  return p;
}

program counted_sleeper(const std::string &name, receiver r, location word, mutant m)
{
  program p(name, true);
  p.begun = {{LOOKING, 1}, {VISITS, 1}};
  falls_asleep(p);
  sleep_until_ready({p, r, m, true}, LINE_1, [&] { is_word_set(p, word); });
  leave_asleep(p, m);
  p.end();
  return p;
}

program counted_leaver(receiver r, mutant m)
{
  program p("thread", false);
  p.begun = {{THREADS_ASLEEP, 1}, {VISITS, 1}};
  leave_asleep(p, m);
  p.end();
  return p;
}

program counted_looker(const std::string &name, receiver r, location word, mutant m)
{
  program p(name, true);
  p.begun = {{LOOKING, 1}, {VISITS, 1}};
  spin({p, r, m, true}, [&] { is_word_set(p, word); });
  add(p, LOOKING, -1, "leave: looking--");
  p.end();
  return p;
}

program handlers_stopper()
{
  program p("program", false);
  p.store(STOP, 1, seq_cst, "wtl_am_agent_stop: stop = true");
  nudge(p, PARKED, mutant::none);
  wtl_bell_ring(p, AGENT_BELL, mutant::none);
  p.end();
  return p;
}

program locker(const std::string &name, mutant m)
{
  program p(name, true);
  part t = {p, TWO_SLOTS, m, true};
  wtl_am_mutex_lock(t);
  wtl_am_mutex_unlock(t);
  p.end();
  return p;
}

program sender(const std::string &name, receiver r, const std::vector<int> &positions, mutant m)
{
  program p(name, false);
  for (int position : positions) post(p, r, position, m);
  p.end();
  return p;
}

program sender_through_one_slot(mutant m)
{
  program p("sender", true);
  post(p, ONE_SLOT, 0, m);
  p.load(NOW, HEAD, acquire, "wtl_am_claim_place: load head (acquire)");
  p.when(is_clear(NOW), [&] { wait_for(p, 1, true, m); });
  p.set(NOW, 0);
  post(p, ONE_SLOT, 1, m);
  p.end();
  return p;
}

program sender_with_quiet(const std::string &name, int position, mutant m)
{
  program p(name, true);
  post(p, HEAD_AWAITED, position, m);
  wait_for(p, position + 1, true, m);
  p.end();
  return p;
}

program in_quiet(const std::string &name, int position, mutant m)
{
  program p(name, true);
  p.begun = {{turn_of(position), 1}};
  wait_for(p, position + 1, false, m);
  p.end();
  return p;
}

program taker_of_replies(receiver r, mutant m)
{
  program p("other PE", false);
  p.store(ROOM, 1, release, "wtl_am_publish_head: head (release)");
  p.fence("wtl_am_take: wtl_fence()");
  p.load(WORD, KEPT_WAITERS, seq_cst, "wtl_am_wake_waiters: load waiters (seq_cst)");
  p.when(is_set(WORD), [&] {
    if_has_sleeper(p, PE_BELL, [&] { wtl_bell_ring_at(p, PE_BELL, WATCH_CONTROL, m); });
    if (r.has_agent) if_has_sleeper(p, AGENT_BELL, [&] { wtl_bell_ring(p, AGENT_BELL, m); });
  });
  p.set(WORD, 0);
  p.end();
  return p;
}

program observer(int ends)
{
  program p("observer", true);
  p.forever([&](program::loop &l) {
    handled(p, ends);
    l.leave_if(is_set(NOW));
    p.set(NOW, 0);
  });
  p.end();
  return p;
}

} // namespace model
