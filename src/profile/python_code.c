/* python_code.c - reads line tables and names of Python code objects. */
#include "profile/python_code.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "os/sparse_memory.h"

enum { SEEN = 1 << 12, MOST_TEXT = 1024 };

/* --- memory of the interpreter --- */

static uintptr_t word_at(const void *at, size_t offset)
{
  uintptr_t word;
  memcpy(&word, (const char *)at + offset, sizeof word);
  return word;
}

static const void *pointer_at(const void *at, size_t offset)
{
  return (const void *)word_at(at, offset);
}

static int int_at(const void *at, size_t offset)
{
  int value;
  memcpy(&value, (const char *)at + offset, sizeof value);
  return value;
}

/* --- lines --- */

/* co_lnotab: pairs of bytes, how many bytes of code and how many lines further (Objects/lnotab_notes.txt of 3.9). */
static int line_of_lnotab(const unsigned char *table, size_t bytes, int line, size_t offset)
{
  size_t at = 0;
  for (size_t i = 0; i + 1 < bytes; i += 2) {
    at += table[i];
    if (at > offset) break;
    line += (signed char)table[i + 1];
  }
  return line;
}

/* co_linetable of 3.10: pairs of bytes, the bytes of a range and its distance in lines; -128: it has no line. */
static int line_of_ranges(const unsigned char *table, size_t bytes, int line, size_t offset)
{
  size_t end = 0;
  for (size_t i = 0; i + 1 < bytes; i += 2) {
    int step = (signed char)table[i + 1];
    if (step != -128) line += step;
    end += table[i];
    if (end > offset) break;
  }
  return line;
}

/* A signed number in groups of 6 bits, the lowest first. Bit 6 says that another follows; bit 0 of the number: sign. */
static int signed_number(const unsigned char *at, const unsigned char *end)
{
  unsigned value = 0, shift = 0;
  for (; at < end && shift < 32; shift += 6, at++) {
    value |= (*at & 63u) << shift;
    if (!(*at & 64)) break;
  }
  return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* co_linetable since 3.11: entries of which the first byte alone has bit 7. It has the kind of the entry in bits 3 to 6
 * and the length of its range, in code units less one, in bits 0 to 2 (Objects/locations.md). */
static int line_of_locations(const unsigned char *table, size_t bytes, int line, size_t offset)
{
  enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS, LONG };
  const unsigned char *at = table, *stop = table + bytes;
  size_t end = 0;
  while (at < stop) {
    int kind = *at >> 3 & 15;
    end += 2 * ((*at & 7u) + 1);
    if (kind == NO_COLUMNS || kind == LONG) line += signed_number(at + 1, stop);
    if (kind >= ONE_LINE_0 && kind <= ONE_LINE_2) line += kind - ONE_LINE_0;
    if (end > offset) break;
    for (at++; at < stop && !(*at & 128);) at++;
  }
  return line;
}

int wtl_python_line_read(enum wtl_python_lines kind, const unsigned char *table, size_t bytes, int first, size_t offset)
{
  if (kind == WTL_PYTHON_LNOTAB) return line_of_lnotab(table, bytes, first, offset);
  if (kind == WTL_PYTHON_LINES) return line_of_ranges(table, bytes, first, offset);
  return line_of_locations(table, bytes, first, offset);
}

static int line_of(const wtl_python_layout *l, const void *code, size_t offset)
{
  const void *table = pointer_at(code, l->code_lines);
  int first = int_at(code, l->code_line);
  return wtl_python_line_read(l->lines, (const unsigned char *)table + l->bytes_data, word_at(table, l->bytes_length),
                              first, offset);
}

/* --- names --- */

static size_t put_character(char *out, uint32_t c)
{
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 63));
  out[0] = (char)((0xf00 >> n) | c);
  return n;
}

/* Copies a str as UTF-8. Characters are of 1, 2 or 4 bytes and follow the object's head, which has two more words where
 * one is not ASCII (three before 3.12). */
static char *copy_text(const wtl_python *p, const void *text)
{
  const wtl_python_layout *l = &p->layout;
  char out[4 * MOST_TEXT + 1];
  size_t n = 0;
  if (!text || pointer_at(text, 8) != p->text_type) return strdup("?");
  unsigned state = (unsigned)int_at(text, l->text_state), kind = state >> 2 & 7;
  bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
  size_t length = word_at(text, l->text_length), other = l->minor < 12 ? 24 : 16;
  const unsigned char *at = (const unsigned char *)text + l->text_data + (is_ascii ? 0 : other);
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return strdup("?");
  if (length > MOST_TEXT) length = MOST_TEXT;
  for (size_t i = 0; i < length; i++, at += kind) {
    uint16_t two;
    uint32_t c = *at;
    if (kind == 2) memcpy(&two, at, sizeof two), c = two;
    if (kind == 4) memcpy(&c, at, sizeof c);
    n += put_character(out + n,
                       c >= 0xd800 && c < 0xe000 ? '?' : c); /* a file name that is not UTF-8 has half surrogates */
  }
  out[n] = '\0';
  return strdup(out);
}

/* --- places --- */

static wtl_python_place *places; /* of WTL_PYTHON_PLACES */
static _Atomic uint32_t n_places;
static uint32_t *index_of; /* open addressing, of 2 * WTL_PYTHON_PLACES: number + 1; 0: free */

/* An instruction that was looked up. The words of the code object tell whether another one is at its address now. */
typedef struct seen {
  const void *code, *file, *name, *lines;
  size_t offset;
  uint32_t place;
} seen;

static seen *instructions; /* of SEEN */

static bool start(void)
{
  if (!places) places = wtl_os_reserve(WTL_PYTHON_PLACES * sizeof *places);
  if (!index_of) index_of = wtl_os_reserve(2 * WTL_PYTHON_PLACES * sizeof *index_of);
  if (!instructions) instructions = wtl_os_reserve(SEEN * sizeof *instructions);
  return places && index_of && instructions;
}

static uint64_t hash_of(const char *text, uint64_t hash)
{
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
  return hash;
}

/* Takes over the names. */
static uint32_t number_of(char *file, char *function, int line)
{
  uint32_t mask = 2 * WTL_PYTHON_PLACES - 1, n = n_places, *at;
  uint64_t hash = file && function ? hash_of(function, hash_of(file, (uint64_t)line * 0x9e3779b97f4a7c15ull)) : 0;
  for (uint32_t i = (uint32_t)(hash ^ hash >> 32) & mask; file && function; i = (i + 1) & mask) {
    at = &index_of[i];
    const wtl_python_place *p = &places[*at ? *at - 1 : 0];
    if (!*at && n < WTL_PYTHON_PLACES) {
      places[n] = (wtl_python_place){file, function, line};
      n_places = *at = n + 1;
      return n;
    }
    if (!*at) break;
    if (p->line != line || strcmp(p->file, file) != 0 || strcmp(p->function, function) != 0) continue;
    n = *at - 1;
    free(file);
    free(function);
    return n;
  }
  free(file);
  free(function);
  return WTL_PYTHON_PLACES;
}

uint32_t wtl_python_code_place(const wtl_python *p, const void *code, size_t offset)
{
  const wtl_python_layout *l = &p->layout;
  seen now = {code,
              pointer_at(code, l->code_file),
              pointer_at(code, l->code_name),
              pointer_at(code, l->code_lines),
              offset,
              WTL_PYTHON_PLACES};
  if (!start()) return WTL_PYTHON_PLACES;
  seen *known = &instructions[((uintptr_t)code / 16 + offset) * 0x9e3779b97f4a7c15ull >> 52 & (SEEN - 1)];
  if (known->code == code && known->offset == offset && known->file == now.file && known->name == now.name &&
      known->lines == now.lines)
    return known->place;
  now.place = number_of(copy_text(p, now.file), copy_text(p, now.name), line_of(l, code, offset));
  *known = now;
  return now.place;
}

uint32_t wtl_python_places(void)
{
  return n_places;
}

const wtl_python_place *wtl_python_place_of(uint32_t number)
{
  return &places[number];
}
