/* machine.cpp - implements the memory models and the futex. */
#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace model {

static void join(view &into, const view &from)
{
  for (size_t i = 0; i < into.size(); i++) into[i] = std::max(into[i], from[i]);
}

static void raise(uint8_t &to, uint8_t value)
{
  to = std::max(to, value);
}

static void demand(bool holds, const char *what)
{
  if (holds) return;
  std::fprintf(stderr, "model: %s\n", what);
  std::abort();
}

static bool is_store(const step &s)
{
  return s.what == act::store || s.what == act::rmw || s.what == act::cas || s.what == act::lock ||
         s.what == act::try_lock;
}

machine::machine(memory kind, descriptor fd, const std::vector<program> &programs, const std::vector<uint8_t> &begin)
    : kind(kind), fd(fd), programs(programs), begin(begin), n_threads((int)programs.size()),
      n_locations((int)begin.size()), changes(begin.size())
{
  uint32_t always_newest = ~0u; /* locations whose stores and loads are all sequentially consistent */
  demand(n_threads <= MOST_THREADS && n_locations <= MOST_LOCATIONS, "too many threads or locations");
  for (const program &p : programs) {
    demand(p.steps.size() < 256, "a program too long");
    for (const step &s : p.steps) {
      if (is_store(s)) changes[s.loc] = true;
      fenced_by_others |= s.what == act::fence_of;
      if (s.how != order::seq_cst && (is_store(s) || s.what == act::load || s.what == act::futex_wait))
        always_newest &= ~(1u << s.loc);
    }
  }
  for (const program &p : programs) future.push_back(look_ahead(p, always_newest));
}

/* From the last step to the first, until nothing changes. */
std::vector<machine::ahead> machine::look_ahead(const program &p, uint32_t always_newest) const
{
  std::vector<ahead> all(p.steps.size());
  bool more = true;
  auto include = [&](ahead &to, size_t from) {
    ahead both = all[from];
    both.reads_old |= to.reads_old;
    both.fences |= to.fences;
    both.stores_relaxed |= to.stores_relaxed;
    more |= both.reads_old != to.reads_old || both.fences != to.fences || both.stores_relaxed != to.stores_relaxed;
    to = both;
  };
  for (size_t i = 0; i < all.size(); i++) {
    const step &s = p.steps[i];
    bool reads = s.what == act::load || s.what == act::futex_wait;
    all[i] = {reads ? 1u << s.loc & ~always_newest : 0, fenced_by_others || s.what == act::fence,
              is_store(s) && !releases(s.how)};
  }
  while (more) {
    more = false;
    for (size_t i = all.size(); i-- > 0;) {
      const step &s = p.steps[i];
      if (s.what != act::end && s.what != act::jump) include(all[i], i + 1);
      if (s.what == act::jump || s.what == act::branch || s.what == act::choose) include(all[i], (size_t)s.target);
    }
  }
  return all;
}

state machine::start() const
{
  state s;
  std::memset((void *)&s, 0, sizeof s);
  for (size_t loc = 0; loc < begin.size(); loc++) {
    s.past[loc].n = 1;
    s.word[loc] = s.past[loc].value[0] = begin[loc];
  }
  for (int t = 0; t < n_threads; t++) settle(s, t);
  return s;
}

bool machine::is_over(const state &s) const
{
  for (int t = 0; t < n_threads; t++)
    if (programs[(size_t)t].must_end && !is_at_end(s, t)) return false;
  return true;
}

/* Does what takes no step. */
void machine::settle(state &s, int t) const
{
  thread &me = s.threads[(size_t)t];
  for (;;) {
    const step &st = step_of(s, t);
    if (st.what == act::set)
      me.reg[st.reg] = st.value;
    else if (st.what == act::load && !changes[st.loc])
      me.reg[st.reg] = begin[st.loc];
    else if (st.what == act::copy)
      me.reg[st.reg] = st.to ? (uint8_t)st.to(me.reg[st.value]) : me.reg[st.value];
    else if (st.what == act::fence_of && st.value >= n_threads)
      ; /* there is no such thread */
    else if (st.what == act::jump || (st.what == act::branch && !st.when(me.reg))) {
      me.at = (uint8_t)st.target;
      continue;
    } else if (st.what != act::branch) {
      return;
    }
    me.at++;
  }
}

uint8_t machine::newest(const state &s, int loc) const
{
  const history &h = s.past[(size_t)loc];
  return kind == memory::tso ? s.word[(size_t)loc] : h.value[h.n - 1u];
}

/* A store enters its location's history. `continues`: the view of the store that a read-modify-write took the place
 * of. */
void machine::append(state &s, int t, int loc, uint8_t value, order how, const view *continues) const
{
  thread &me = s.threads[(size_t)t];
  history &h = s.past[(size_t)loc];
  demand(h.n < MOST_STORES, "a history too long");
  uint8_t at = h.n++;
  me.current[(size_t)loc] = at;
  raise(me.acquired[(size_t)loc], at);
  view carried = releases(how) ? me.current : me.released;
  if (continues) join(carried, *continues);
  carried[(size_t)loc] = at;
  h.value[at] = value;
  h.carried[at] = carried;
  if (how == order::seq_cst) raise(s.sc[(size_t)loc], at);
}

void machine::load(const state &s, int t, const step &st, const emit &out) const
{
  const thread &me = s.threads[(size_t)t];
  size_t loc = st.loc;
  if (kind == memory::tso) {
    state to = s;
    uint8_t value = s.word[loc];
    for (size_t i = 0; i < me.buffer.n; i++)
      if (me.buffer.loc[i] == loc) value = me.buffer.value[i];
    to.threads[(size_t)t].reg[st.reg] = value;
    out({(uint8_t)t, 0, false, false, st.loc, value}, to);
    return;
  }
  const history &h = s.past[loc];
  uint8_t first = st.how == order::seq_cst ? std::max(me.current[loc], s.sc[loc]) : me.current[loc];
  for (uint8_t at = first; at < h.n; at++) {
    state to = s;
    thread &it = to.threads[(size_t)t];
    it.reg[st.reg] = h.value[at];
    it.current[loc] = at;
    join(it.acquired, h.carried[at]);
    raise(it.acquired[loc], at);
    if (acquires(st.how)) join(it.current, h.carried[at]);
    out({(uint8_t)t, 0, false, false, st.loc, h.value[at]}, to);
  }
}

void machine::store(const state &s, int t, const step &st, const emit &out) const
{
  state to = s;
  thread &it = to.threads[(size_t)t];
  store_buffer &b = it.buffer;
  uint8_t value = st.reg == NO_REGISTER ? st.value : it.reg[st.reg];
  if (kind == memory::c11) {
    append(to, t, st.loc, value, st.how, nullptr);
  } else if (st.how == order::seq_cst) {
    if (b.n) return;
    to.word[st.loc] = value;
  } else {
    demand(b.n < MOST_BUFFERED, "a store buffer too short");
    b.loc[b.n] = st.loc;
    b.value[b.n++] = value;
  }
  out({(uint8_t)t, 0, false, false, st.loc, value}, to);
}

void machine::rmw(const state &s, int t, const step &st, const change &change_to, const emit &out) const
{
  if (!drained(s, t)) return;
  state to = s;
  thread &it = to.threads[(size_t)t];
  uint8_t old = newest(s, st.loc), value = (uint8_t)change_to(old);
  if (st.reg != NO_REGISTER) it.reg[st.reg] = old;
  if (kind == memory::tso) {
    to.word[st.loc] = value;
  } else {
    const history &h = s.past[st.loc];
    const view &carried = h.carried[h.n - 1u];
    join(it.acquired, carried);
    if (acquires(st.how)) join(it.current, carried);
    append(to, t, st.loc, value, st.how, &carried);
  }
  out({(uint8_t)t, 0, false, false, st.loc, old}, to);
}

void machine::fence(state &s, int t) const
{
  thread &me = s.threads[(size_t)t];
  join(me.current, me.acquired);
  join(me.current, s.sc);
  s.sc = me.acquired = me.released = me.current;
}

void machine::futex_wait(const state &s, int t, const step &st, const emit &out) const
{
  size_t loc = st.loc;
  const thread &me = s.threads[(size_t)t];
  const history &h = s.past[loc];
  bool views = kind == memory::c11;
  uint8_t first = views ? std::max(me.current[loc], s.woken[loc]) : 0, end = views ? h.n : 1;
  for (uint8_t at = first; at < end; at++) {
    state to = s;
    thread &it = to.threads[(size_t)t];
    uint8_t value = views ? h.value[at] : s.word[loc];
    if (views) it.current[loc] = at;
    if (views) raise(it.acquired[loc], at);
    if (value == me.reg[st.reg]) it.sleeps_on = (uint8_t)(loc + 1);
    out({(uint8_t)t, 0, false, false, st.loc, value}, to);
  }
}

void machine::futex_wake(state &s, int t, const step &st) const
{
  raise(s.woken[st.loc], s.threads[(size_t)t].current[st.loc]);
  for (int other = 0; other < n_threads; other++)
    if (s.threads[(size_t)other].sleeps_on == st.loc + 1) s.threads[(size_t)other].sleeps_on = 0;
}

/* The mailbox has a mutex of its own, so it is as one step, and who comes later sees what who came before saw. */
void machine::mailbox(const state &s, int t, const step &st, const emit &out) const
{
  if (!drained(s, t)) return;
  state to = s;
  thread &it = to.threads[(size_t)t];
  bool empty = s.delivered == s.taken;
  uint8_t result = 0;
  join(it.current, s.box);
  join(it.acquired, s.box);
  join(to.box, it.current);
  if (st.what == act::deliver) {
    to.delivered++;
    to.readable = fd == descriptor::eventfd;
  } else if (st.what == act::take) {
    result = empty ? 0 : ++to.taken;
  } else {
    result = empty || st.what == act::arm_blind;
    if (result) to.readable = 0;
  }
  if (st.reg != NO_REGISTER) it.reg[st.reg] = result;
  out({(uint8_t)t, 0, false, false, st.loc, result}, to);
}

void machine::drain(const state &s, int t, const emit &out) const
{
  const store_buffer &b = s.threads[(size_t)t].buffer;
  if (b.n == 0) return;
  state to = s;
  store_buffer &rest = to.threads[(size_t)t].buffer;
  to.word[b.loc[0]] = b.value[0];
  rest.n--;
  for (size_t i = 0; i < MOST_BUFFERED; i++) {
    rest.loc[i] = i < rest.n ? b.loc[i + 1] : (uint8_t)0;
    rest.value[i] = i < rest.n ? b.value[i + 1] : (uint8_t)0;
  }
  out({(uint8_t)t, 0, true, false, b.loc[0], b.value[0]}, to);
}

/* The next step of a thread that is awake. */
void machine::perform(const state &s, int t, const emit &out) const
{
  const step &st = step_of(s, t);
  state to = s;
  event e = {(uint8_t)t, 0, false, false, st.loc, 0};
  switch (st.what) {
  case act::load: return load(s, t, st, out);
  case act::store: return store(s, t, st, out);
  case act::rmw: return rmw(s, t, st, st.to, out);
  case act::futex_wait: return futex_wait(s, t, st, out);
  case act::deliver:
  case act::take:
  case act::arm:
  case act::arm_blind: return mailbox(s, t, st, out);
  case act::fence:
    if (!drained(s, t)) return;
    fence(to, t);
    return out(e, to);
  case act::fence_of:
    if (!drained(s, st.value)) return;
    fence(to, st.value);
    return out(e, to);
  case act::cas: {
    uint8_t old = newest(s, st.loc);
    if (!drained(s, t)) return;
    to.threads[(size_t)t].reg[st.value] = old == s.threads[(size_t)t].reg[st.reg];
    e.value = old;
    if (old != s.threads[(size_t)t].reg[st.reg]) return out(e, to);
    step swap = st;
    swap.reg = NO_REGISTER;
    return rmw(s, t, swap, st.to, [&](event got, state &changed) {
      changed.threads[(size_t)t].reg[st.value] = 1;
      out(got, changed);
    });
  }
  case act::lock:
    if (newest(s, st.loc) != 0) return;
    return rmw(
        s, t, st, [](int) { return 1; }, out);
  case act::try_lock:
    if (newest(s, st.loc) == 0)
      return rmw(
          s, t, st, [](int) { return 1; },
          [&](event got, state &locked) {
            locked.threads[(size_t)t].reg[st.reg] = 1;
            out(got, locked);
          });
    to.threads[(size_t)t].reg[st.reg] = 0;
    if (kind == memory::c11) { /* it has read the newest, relaxed */
      const history &h = s.past[st.loc];
      to.threads[(size_t)t].current[st.loc] = (uint8_t)(h.n - 1u);
      join(to.threads[(size_t)t].acquired, h.carried[h.n - 1u]);
    }
    e.value = 1;
    return out(e, to);
  case act::futex_wake: futex_wake(to, t, st); return out(e, to);
  case act::poll:
    if (!(fd == descriptor::eventfd ? s.readable : s.delivered != s.taken) && newest(s, st.loc) == 0) return;
    return out(e, to);
  case act::choose: {
    state gone = s;
    out(e, to);
    gone.threads[(size_t)t].at = (uint8_t)(st.target - 1); /* the step after it is the target */
    e.chose = true;
    return out(e, gone);
  }
  default: return;
  }
}

void machine::next(const state &s, const std::function<void(const event &, const state &)> &found) const
{
  for (int t = 0; t < n_threads; t++) {
    const thread &me = s.threads[(size_t)t];
    if (kind == memory::tso)
      drain(s, t, [&](event e, state &to) {
        e.step = me.at;
        found(e, to);
      });
    if (me.sleeps_on || is_at_end(s, t)) continue;
    perform(s, t, [&](event e, state &to) {
      e.step = me.at;
      to.threads[(size_t)t].at++;
      settle(to, t);
      forget(to);
      found(e, to);
    });
  }
}

/* Drops stores that no thread can read any more and numbers the others from 0, so that indistinguishable states are
 * equal. */
void machine::forget(state &s) const
{
  if (kind != memory::c11) return;
  for (int t = 0; t < n_threads; t++) {
    thread &me = s.threads[(size_t)t];
    if (is_at_end(s, t)) me.current = {};
    if (!ahead_of(s, t).fences) me.acquired = {};
    if (!ahead_of(s, t).stores_relaxed) me.released = {};
  }
  for (size_t loc = 0; loc < (size_t)n_locations; loc++) {
    history &h = s.past[loc];
    uint8_t base = (uint8_t)(h.n - 1);
    for (int t = 0; t < n_threads; t++)
      if (ahead_of(s, t).reads_old >> loc & 1) base = std::min(base, s.threads[(size_t)t].current[loc]);
    if (base == 0) continue;
    auto lower = [&](view &v) { v[loc] = (uint8_t)(v[loc] > base ? v[loc] - base : 0); };
    for (size_t i = 0; i + base < h.n; i++) {
      h.value[i] = h.value[i + base];
      h.carried[i] = h.carried[i + base];
    }
    h.n = (uint8_t)(h.n - base);
    for (int t = 0; t < n_threads; t++) {
      lower(s.threads[(size_t)t].current);
      lower(s.threads[(size_t)t].acquired);
      lower(s.threads[(size_t)t].released);
    }
    for (size_t other = 0; other < (size_t)n_locations; other++)
      for (size_t i = 0; i < s.past[other].n; i++) lower(s.past[other].carried[i]);
    lower(s.sc);
    lower(s.woken);
    lower(s.box);
  }
}

/* Goes over all bytes of a state that matter, to save them or to restore them. */
void machine::visit(const state &from, uint8_t *bytes, size_t &n, bool save, state *to) const
{
  const auto *begin = (const uint8_t *)&from;
  auto part = [&](const void *field, size_t length) {
    size_t offset = (size_t)((const uint8_t *)field - begin);
    if (save)
      std::memcpy(bytes + n, field, length);
    else
      std::memcpy((uint8_t *)(void *)to + offset, bytes + n, length);
    n += length;
  };
  auto locations = (size_t)n_locations;
  for (int t = 0; t < n_threads; t++) {
    const thread &th = from.threads[(size_t)t];
    part(&th.at, 2 + sizeof th.reg);
    if (kind == memory::tso) {
      part(&th.buffer.n, 1);
      part(th.buffer.loc.data(), th.buffer.n);
      part(th.buffer.value.data(), th.buffer.n);
    } else {
      part(th.current.data(), locations);
      part(th.acquired.data(), locations);
      part(th.released.data(), locations);
    }
  }
  part(&from.delivered, 3);
  if (kind == memory::tso) return part(from.word.data(), locations);
  part(from.sc.data(), locations);
  part(from.woken.data(), locations);
  part(from.box.data(), locations);
  for (size_t loc = 0; loc < locations; loc++) {
    const history &h = from.past[loc];
    part(&h.n, 1);
    part(h.value.data(), h.n);
    for (size_t i = 0; i < h.n; i++) part(h.carried[i].data(), locations);
  }
}

std::string machine::packed(const state &s) const
{
  uint8_t bytes[sizeof(state)];
  size_t n = 0;
  visit(s, bytes, n, true, nullptr);
  return std::string((const char *)bytes, n);
}

state machine::unpacked(const std::string &bytes) const
{
  state s;
  size_t n = 0;
  std::memset((void *)&s, 0, sizeof s);
  visit(s, (uint8_t *)(void *)const_cast<char *>(bytes.data()), n, false, &s);
  return s;
}

std::string machine::words(const event &e, const std::vector<std::string> &locations) const
{
  const program &p = programs[e.thread];
  const step &st = p.steps[e.step];
  std::string value = std::to_string(e.value), name = st.what == act::choose ? "" : locations[e.loc];
  if (e.drained) return p.name + ": (its store buffer: " + locations[e.loc] + " = " + value + " reaches memory)";
  if (st.what == act::choose) return p.name + ": " + st.text + (e.chose ? ": yes" : ": no");
  std::string line = p.name + ": " + st.text;
  if (st.what == act::load || st.what == act::rmw || st.what == act::futex_wait)
    line += "   [" + name + " was " + value + "]";
  if (st.reg != NO_REGISTER && (st.what == act::take || st.what == act::arm || st.what == act::arm_blind))
    line += "   [" + value + "]";
  if (st.what == act::try_lock) line += e.value ? "   [taken by another]" : "   [got it]";
  return line;
}

} // namespace model
