/* frame_rule.c - reads the table of .eh_frame_hdr and runs the instructions of .eh_frame for one address. */
#include "profile/frame_rule.h"

#include <stddef.h>
#include <string.h>

/* Numbers of x86-64's registers in DWARF; the return address has one, too. */
enum { FP = 6, SP = 7, ADDRESS = 16 };

/* Encodings of pointers (LSB, "DWARF Extensions"): the low half is the form, the high half the base. */
enum { FORM = 0x0f, BASE = 0x70, ABSOLUTE = 0x00, UDATA2 = 0x02, UDATA4 = 0x03, UDATA8 = 0x04, SDATA2 = 0x0a };
enum { SDATA4 = 0x0b, SDATA8 = 0x0c, FROM_HERE = 0x10, FROM_HEADER = 0x30, OMITTED = 0xff };
enum { SORTED_TABLE = FROM_HEADER | SDATA4 };

/* Instructions of .eh_frame (DWARF 5, section 7.24). The first three hold an operand in their low six bits. */
enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0 };
enum { NOP, SET_LOC, ADVANCE1, ADVANCE2, ADVANCE4, OFFSET_EXTENDED, RESTORE_EXTENDED, UNDEFINED, SAME_VALUE, REGISTER };
enum { REMEMBER = 0x0a, RECALL, DEF_CFA, DEF_CFA_REGISTER, DEF_CFA_OFFSET, DEF_CFA_EXPRESSION, EXPRESSION };
enum { OFFSET_SF = 0x11, DEF_CFA_SF, DEF_CFA_OFFSET_SF, VAL_OFFSET, VAL_OFFSET_SF, VAL_EXPRESSION };
enum { GNU_ARGS_SIZE = 0x2e };
enum { OP_DEREF = 0x06, OP_BREG_FP = 0x70 + FP };

enum { REMEMBERED = 8 };

typedef const unsigned char *bytes;

typedef struct reader {
  bytes at, end;
  bool bad; /* the data ended or have a form that is not read here */
} reader;

static uint64_t take(reader *r, size_t n)
{
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) < n) {
    r->bad = true;
    r->at = r->end;
    return 0;
  }
  memcpy(&value, r->at, n); /* x86-64 is little-endian */
  r->at += n;
  return value;
}

static uint64_t take_uleb(reader *r)
{
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint64_t byte = take(r, 1);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if (r->bad || !(byte & 0x80)) return value;
  }
}

static int64_t take_sleb(reader *r)
{
  uint64_t value = 0, byte;
  unsigned shift = 0;
  do {
    byte = take(r, 1);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    shift += 7;
  } while (!r->bad && (byte & 0x80));
  if (shift < 64 && (byte & 0x40)) value |= ~(uint64_t)0 << shift;
  return (int64_t)value;
}

static uint64_t take_form(reader *r, unsigned form)
{
  switch (form) {
  case ABSOLUTE:
  case UDATA8:
  case SDATA8: return take(r, 8);
  case UDATA4: return take(r, 4);
  case SDATA4: return (uint64_t)(int64_t)(int32_t)take(r, 4);
  case UDATA2: return take(r, 2);
  case SDATA2: return (uint64_t)(int64_t)(int16_t)take(r, 2);
  default: r->bad = true; return 0;
  }
}

static uintptr_t take_pointer(reader *r, unsigned encoding)
{
  uintptr_t here = (uintptr_t)r->at;
  if (encoding == OMITTED) return 0;
  uintptr_t value = take_form(r, encoding & FORM);
  if ((encoding & BASE) == FROM_HERE) return value + here;
  if ((encoding & BASE) != 0) r->bad = true;
  return value;
}

/* The entry of .eh_frame for `pc`; NULL if the sorted table has none, or if the table has another form. */
static bytes find_entry(bytes header, uintptr_t n, uintptr_t pc)
{
  reader r = {header + 4, header + n, n < 4};
  if (r.bad || header[0] != 1 || header[3] != SORTED_TABLE) return NULL;
  take_pointer(&r, header[1]); /* where .eh_frame begins */
  uint64_t count = take_form(&r, header[2] & FORM);
  int32_t first[2];
  if (r.bad || !count || count > (uint64_t)(r.end - r.at) / sizeof first) return NULL;
  size_t low = 0, high = count; /* the entry is the last that begins at or before pc */
  while (low < high) {
    size_t middle = (low + high) / 2;
    memcpy(first, r.at + middle * sizeof first, sizeof first);
    if ((uintptr_t)header + (uintptr_t)(intptr_t)first[0] <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low) return NULL;
  memcpy(first, r.at + (low - 1) * sizeof first, sizeof first);
  return header + first[1];
}

/* Opens an entry of .eh_frame: after its length. */
static reader open_entry(bytes entry)
{
  uint32_t length;
  memcpy(&length, entry, sizeof length);
  if (length == UINT32_MAX) return (reader){entry, entry, true}; /* no compiler writes 64-bit entries */
  return (reader){entry + 4, entry + 4 + length, length < 4};
}

/* The part that the entries of many functions share. */
typedef struct common {
  uint64_t code_unit;
  int64_t data_unit;
  unsigned encoding;
  bool is_signal, has_extra;
  reader code; /* its instructions */
} common;

static bool read_common(bytes entry, common *c)
{
  reader r = open_entry(entry);
  take(&r, 4); /* 0: it is no function's entry */
  uint64_t version = take(&r, 1);
  const char *words = (const char *)r.at;
  size_t n = strnlen(words, (size_t)(r.end - r.at));
  take(&r, n + 1);
  if (r.bad || (version != 1 && version != 3)) return false;
  *c = (common){.encoding = ABSOLUTE};
  c->code_unit = take_uleb(&r);
  c->data_unit = take_sleb(&r);
  if ((version == 1 ? take(&r, 1) : take_uleb(&r)) != ADDRESS) return false;
  if (*words == 'z') {
    uint64_t extra = take_uleb(&r);
    reader more = r;
    c->has_extra = true;
    take(&r, extra);
    for (const char *w = words + 1; *w && !more.bad; w++) {
      if (*w == 'R')
        c->encoding = (unsigned)take(&more, 1);
      else if (*w == 'P')
        take_pointer(&more, (unsigned)take(&more, 1) & ~0x80u); /* bit 7: the address of a pointer */
      else if (*w == 'L')
        take(&more, 1);
      else if (*w == 'S')
        c->is_signal = true;
      else
        break;
    }
  } else if (*words) {
    return false;
  }
  c->code = r;
  return !r.bad;
}

/* The rules at one place of a function. */
typedef struct row {
  wtl_frame_rule rule;
  uint64_t cfa_register;
  bool address_known, address_undefined;
} row;

typedef struct machine {
  row now, first, kept[REMEMBERED];
  int n_kept;
  bool unknown;
} machine;

static void set_offset(machine *m, uint64_t reg, int64_t offset)
{
  if (reg == FP) {
    m->now.rule.fp_kind = WTL_FP_AT_END;
    m->now.rule.fp = (int32_t)offset;
  } else if (reg == ADDRESS) {
    m->now.rule.address = (int32_t)offset;
    m->now.address_known = true;
    m->now.address_undefined = false;
  }
}

static void set_unknown(machine *m, uint64_t reg)
{
  if (reg == FP) m->now.rule.fp_kind = WTL_FP_UNKNOWN;
  if (reg == ADDRESS) m->now.address_known = false;
}

static void restore(machine *m, uint64_t reg)
{
  if (reg == FP) {
    m->now.rule.fp_kind = m->first.rule.fp_kind;
    m->now.rule.fp = m->first.rule.fp;
  } else if (reg == ADDRESS) {
    m->now.rule.address = m->first.rule.address;
    m->now.address_known = m->first.address_known;
    m->now.address_undefined = m->first.address_undefined;
  }
}

/* The offset in an expression "frame pointer + offset", with a load after it or not. */
static bool read_expression(reader *r, bool loads, int32_t *offset)
{
  uint64_t length = take_uleb(r);
  reader e = {r->at, r->at + length, false};
  take(r, length);
  if (r->bad || take(&e, 1) != OP_BREG_FP) return false;
  *offset = (int32_t)take_sleb(&e);
  if (loads && take(&e, 1) != OP_DEREF) return false;
  return !e.bad && e.at == e.end;
}

static void set_cfa_expression(machine *m, reader *r)
{
  m->now.cfa_register = FP;
  m->now.rule.end_kind = read_expression(r, true, &m->now.rule.end) ? WTL_FRAME_AT_FP : WTL_FRAME_UNKNOWN;
}

static void set_expression(machine *m, reader *r)
{
  uint64_t reg = take_uleb(r);
  int32_t offset;
  bool known = read_expression(r, false, &offset);
  set_unknown(m, reg);
  if (reg != FP || !known) return;
  m->now.rule.fp_kind = WTL_FP_AT_FP;
  m->now.rule.fp = offset;
}

static void set_cfa(machine *m, uint64_t reg, int64_t offset)
{
  m->now.cfa_register = reg;
  m->now.rule.end = (int32_t)offset;
  m->now.rule.end_kind = reg == SP ? WTL_FRAME_FROM_SP : reg == FP ? WTL_FRAME_FROM_FP : WTL_FRAME_UNKNOWN;
}

/* Runs one instruction that is not an advance. */
static void run_one(machine *m, const common *c, reader *r, unsigned op)
{
  uint64_t reg;
  switch (op) {
  case NOP: break;
  case OFFSET_EXTENDED: reg = take_uleb(r), set_offset(m, reg, (int64_t)take_uleb(r) * c->data_unit); break;
  case OFFSET_SF: reg = take_uleb(r), set_offset(m, reg, take_sleb(r) * c->data_unit); break;
  case RESTORE_EXTENDED: restore(m, take_uleb(r)); break;
  case UNDEFINED:
    reg = take_uleb(r), set_unknown(m, reg);
    if (reg == ADDRESS) m->now.address_undefined = true;
    break;
  case SAME_VALUE:
    reg = take_uleb(r);
    if (reg == FP) m->now.rule.fp_kind = WTL_FP_SAME;
    break;
  case REGISTER: set_unknown(m, take_uleb(r)), take_uleb(r); break;
  case VAL_OFFSET:
  case VAL_OFFSET_SF: set_unknown(m, take_uleb(r)), take_uleb(r); break;
  case REMEMBER:
    if (m->n_kept == REMEMBERED)
      m->unknown = true;
    else
      m->kept[m->n_kept++] = m->now;
    break;
  case RECALL:
    if (m->n_kept == 0)
      m->unknown = true;
    else
      m->now = m->kept[--m->n_kept];
    break;
  case DEF_CFA: reg = take_uleb(r), set_cfa(m, reg, (int64_t)take_uleb(r)); break;
  case DEF_CFA_SF: reg = take_uleb(r), set_cfa(m, reg, take_sleb(r) * c->data_unit); break;
  case DEF_CFA_REGISTER: set_cfa(m, take_uleb(r), m->now.rule.end); break;
  case DEF_CFA_OFFSET: set_cfa(m, m->now.cfa_register, (int64_t)take_uleb(r)); break;
  case DEF_CFA_OFFSET_SF: set_cfa(m, m->now.cfa_register, take_sleb(r) * c->data_unit); break;
  case DEF_CFA_EXPRESSION: set_cfa_expression(m, r); break;
  case EXPRESSION: set_expression(m, r); break;
  case VAL_EXPRESSION: set_unknown(m, take_uleb(r)), take(r, take_uleb(r)); break;
  case GNU_ARGS_SIZE: take_uleb(r); break;
  default: m->unknown = true; break;
  }
}

/* Runs instructions as far as they concern addresses up to `pc`. `at`: the address at which they begin. */
static void run(machine *m, const common *c, reader r, uintptr_t at, uintptr_t pc)
{
  while (r.at < r.end && !r.bad && !m->unknown) {
    unsigned op = (unsigned)take(&r, 1), operand = op & 0x3f;
    uint64_t step = 0;
    switch (op & 0xc0) {
    case ADVANCE: step = operand; break;
    case OFFSET: set_offset(m, operand, (int64_t)take_uleb(&r) * c->data_unit); continue;
    case RESTORE: restore(m, operand); continue;
    default:
      if (op == SET_LOC) {
        at = take_pointer(&r, c->encoding);
        if (at > pc) return;
        continue;
      }
      if (op != ADVANCE1 && op != ADVANCE2 && op != ADVANCE4) {
        run_one(m, c, &r, op);
        continue;
      }
      step = take(&r, op == ADVANCE1 ? 1 : op == ADVANCE2 ? 2 : 4);
    }
    at += step * c->code_unit;
    if (at > pc) return;
  }
  m->unknown |= r.bad;
}

wtl_frame_rule wtl_frame_rule_read(const void *header, uintptr_t n, uintptr_t pc)
{
  wtl_frame_rule unknown = {.end_kind = WTL_FRAME_UNKNOWN};
  bytes entry = find_entry(header, n, pc);
  common c;
  if (!entry) return unknown;
  reader r = open_entry(entry);
  bytes here = r.at;
  uint32_t back = (uint32_t)take(&r, 4);
  if (r.bad || !back || !read_common(here - back, &c)) return unknown;
  uintptr_t first = take_pointer(&r, c.encoding), length = take_form(&r, c.encoding & FORM);
  if (c.has_extra) take(&r, take_uleb(&r));
  if (r.bad || pc < first || pc - first >= length) return unknown;
  machine m = {.now = {.rule = {.end_kind = WTL_FRAME_UNKNOWN, .fp_kind = WTL_FP_SAME}}};
  run(&m, &c, c.code, first, UINTPTR_MAX);
  m.first = m.now;
  run(&m, &c, r, first, pc);
  if (m.unknown) return unknown;
  if (c.is_signal) return (wtl_frame_rule){.end_kind = WTL_FRAME_OF_SIGNAL};
  if (m.now.address_undefined) return (wtl_frame_rule){.end_kind = WTL_FRAME_OUTERMOST};
  return m.now.address_known ? m.now.rule : unknown;
}
