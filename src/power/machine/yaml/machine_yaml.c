/* machine_yaml.c - parses the text of a profile: first by a schema, then by checks that a schema cannot express. */
#include <ctype.h>
#include <cyaml/cyaml.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"
#include "power/machine/machine.h"
#include "power/machine/yaml/yaml_words.h"

static const cyaml_strval_t tags[] = {
    {"cited", WTL_TAG_CITED}, {"derived", WTL_TAG_DERIVED}, {"assumed", WTL_TAG_ASSUMED}};

#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, flags, type, member) CYAML_FIELD_STRING_PTR(key, flags, type, member, 1, CYAML_UNLIMITED)

static const cyaml_schema_field_t number_fields[] = {
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, wtl_number, value),
    CYAML_FIELD_FLOAT("plus_minus", CYAML_FLAG_DEFAULT, wtl_number, plus_minus),
    TEXT("unit", CYAML_FLAG_POINTER, wtl_number, unit),
    CYAML_FIELD_ENUM("tag", CYAML_FLAG_STRICT, wtl_number, tag, tags, CYAML_ARRAY_LEN(tags)),
    TEXT("source", OPTIONAL, wtl_number, source),
    TEXT("how", OPTIONAL, wtl_number, how),
    CYAML_FIELD_IGNORE("rows", CYAML_FLAG_OPTIONAL), /* the lab reads it: rows of studies that state the figure */
    CYAML_FIELD_END,
};
#define NUMBER(key, type, member) CYAML_FIELD_MAPPING(key, CYAML_FLAG_DEFAULT, type, member, number_fields)

static const cyaml_schema_field_t clock_fields[] = {
    CYAML_FIELD_FLOAT("ghz", CYAML_FLAG_DEFAULT, wtl_clock, ghz),
    CYAML_FIELD_BOOL("base", CYAML_FLAG_OPTIONAL, wtl_clock, base),
    NUMBER("active", wtl_clock, active),
    NUMBER("spin", wtl_clock, spin),
    NUMBER("yield", wtl_clock, yield),
    NUMBER("asleep", wtl_clock, asleep),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t clock_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, wtl_clock, clock_fields)};

static const cyaml_schema_field_t match_fields[] = {
    TEXT("vendor", OPTIONAL, wtl_match, vendor),
    CYAML_FIELD_INT_PTR("family", OPTIONAL, wtl_match, family),
    CYAML_FIELD_INT_PTR("model", OPTIONAL, wtl_match, model),
    TEXT("name", OPTIONAL, wtl_match, name),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t match_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, wtl_match, match_fields)};

static const cyaml_schema_field_t idle_fields[] = {
    NUMBER("cpu", wtl_idle, cpu),
    NUMBER("dram", wtl_idle, dram),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t dram_fields[] = {
    NUMBER("per_byte", wtl_dram, per_byte),
    CYAML_FIELD_END,
};

/* libcyaml moves all rules for each new one. Without a limit, a file of 1 MiB takes minutes. */
enum { MOST_RULES = 1024 };

static const cyaml_schema_field_t machine_fields[] = {
    TEXT("name", CYAML_FLAG_POINTER, struct wtl_machine, name),
    TEXT("title", OPTIONAL, struct wtl_machine, title),
    TEXT("about", OPTIONAL, struct wtl_machine, about),
    CYAML_FIELD_UINT("sockets", CYAML_FLAG_DEFAULT, struct wtl_machine, sockets),
    CYAML_FIELD_UINT("cores_per_socket", CYAML_FLAG_OPTIONAL, struct wtl_machine, cores_per_socket),
    CYAML_FIELD_SEQUENCE_COUNT("match", OPTIONAL, struct wtl_machine, match, n_match, &match_schema, 0, MOST_RULES),
    CYAML_FIELD_MAPPING_PTR("tdp", OPTIONAL, struct wtl_machine, tdp, number_fields),
    CYAML_FIELD_MAPPING_PTR("wake", OPTIONAL, struct wtl_machine, wake, number_fields),
    CYAML_FIELD_MAPPING_PTR("second", OPTIONAL, struct wtl_machine, second, number_fields),
    CYAML_FIELD_MAPPING("idle", CYAML_FLAG_DEFAULT, struct wtl_machine, idle, idle_fields),
    CYAML_FIELD_MAPPING("dram", CYAML_FLAG_DEFAULT, struct wtl_machine, dram, dram_fields),
    CYAML_FIELD_SEQUENCE_COUNT("clocks", CYAML_FLAG_POINTER, struct wtl_machine, clocks, n_clocks, &clock_schema, 1,
                               64),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t machine_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct wtl_machine, machine_fields)};

/* libcyaml reports errors and their place by log lines. They are joined to one message. */
typedef struct yaml_errors {
  char text[1024];
  size_t used;
} yaml_errors;

static void take_log(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
  WTL_LOCALE_APART;
  (void)level;
  yaml_errors *c = ctx;
  if (c->used + 1 >= sizeof c->text) return;
  int n = vsnprintf(c->text + c->used, sizeof c->text - c->used, format, args);
  if (n < 0) return;
  c->used = c->used + (size_t)n < sizeof c->text ? c->used + (size_t)n : sizeof c->text - 1;
  for (char *p = c->text; *p; p++)
    if (*p == '\n') *p = ' ';
}

static cyaml_config_t config(yaml_errors *c)
{
  return (cyaml_config_t){
      .log_fn = take_log, .log_ctx = c, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_DEFAULT};
}

/* Does the line, without indent and "- ", begin with `word:`? */
static bool line_has_key(const char *line, const char *word, size_t length)
{
  while (*line == ' ') line++;
  if (line[0] == '-' && line[1] == ' ') line += 2;
  while (*line == ' ' || *line == '{') line++;
  return strncmp(line, word, length) == 0 && line[length] == ':';
}

/*
 * Returns the line of a key such as "clocks[1].spin"; 0 if it is not found. It finds the words one after the other; a
 * number N skips N entries "- ghz". libcyaml does not keep line numbers.
 */
static int line_of(const char *text, const char *key)
{
  int line = 0, found = 0;
  const char *at = text;
  for (const char *word = key; *word;) {
    size_t length = strcspn(word, ".[");
    int skip = word[length] == '[' ? atoi(word + length + 1) + 1 : 0;
    const char *want = word;
    size_t want_length = length;
    for (found = 0; *at;) {
      line++;
      const char *here = at;
      at += strcspn(at, "\n");
      if (*at) at++;
      if (!line_has_key(here, want, want_length)) continue;
      found = line;
      if (skip == 0) break;
      skip--; /* the key of the sequence, then the entries before ours, then ours */
      want = "ghz";
      want_length = 3;
    }
    if (!found) return 0;
    word += length;
    word += strcspn(word, ".");
    if (*word == '.') word++;
  }
  return found;
}

typedef struct check {
  const char *file, *text;
  char *error;
  size_t size;
} check;

static int bad(const check *c, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int bad(const check *c, const char *key, const char *format, ...)
{
  WTL_LOCALE_APART;
  char what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  snprintf(c->error, c->size, "machine profile %s, line %d, key %s: %s", c->file, line_of(c->text, key), key, what);
  return 1;
}

static int check_number(void *arg, const char *key, const wtl_number *n)
{
  const check *c = arg;
  const char *unit = strcmp(key, "dram.per_byte") == 0 ? "J/B" : "W";
  if (strcmp(n->unit, unit) != 0) return bad(c, key, "unit is \"%s\", must be \"%s\"", n->unit, unit);
  if (!isfinite(n->value) || n->value < 0) return bad(c, key, "value is %g, must be finite and not negative", n->value);
  if (!isfinite(n->plus_minus) || n->plus_minus < 0)
    return bad(c, key, "plus_minus is %g, must be finite and not negative", n->plus_minus);
  if (n->tag == WTL_TAG_CITED && !n->source) return bad(c, key, "tag is cited, so source must say where it is printed");
  if (n->tag != WTL_TAG_CITED && !n->how)
    return bad(c, key, "tag is %s, so how must say how it was found", wtl_tag_name(n->tag));
  return 0;
}

static int check_clocks(const check *c, const wtl_machine *m)
{
  int base = 0;
  for (unsigned i = 0; i < m->n_clocks; i++) {
    char key[32];
    snprintf(key, sizeof key, "clocks[%u]", i);
    double ghz = m->clocks[i].ghz;
    if (!(ghz > 0 && ghz < 100)) return bad(c, key, "ghz is %g, must be above 0 and below 100", ghz);
    for (unsigned j = 0; j < i; j++)
      if (m->clocks[j].ghz == ghz) return bad(c, key, "%g GHz is listed twice", ghz);
    base += m->clocks[i].base;
  }
  if (base != 1) return bad(c, "clocks", "%d clocks have base: true, must be exactly one", base);
  return 0;
}

static int check_machine(const check *c, wtl_machine *m)
{
  if (m->sockets < 1 || m->sockets > 1024) return bad(c, "sockets", "%u sockets, must be 1 to 1024", m->sockets);
  if (m->second && m->cores_per_socket == 0) return bad(c, "second", "needs cores_per_socket");
  return check_clocks(c, m) || wtl_machine_numbers(m, check_number, (void *)c);
}

/*
 * Returns the line of an error of libcyaml, which is the first one that it names. For an unknown key it names an
 * earlier line, from which the key is searched.
 */
static int error_line(const char *errors, const char *text)
{
  const char *at = strstr(errors, "(line: "), *key = strstr(errors, "Unexpected key: ");
  int line = at ? atoi(at + 7) : 0;
  if (!key) return line;
  key += strlen("Unexpected key: ");
  int n = 1;
  for (const char *here = text; *here; here += strcspn(here, "\n"), here += *here == '\n', n++)
    if (n >= line && line_has_key(here, key, strcspn(key, " "))) return n;
  return line;
}

bool wtl_machine_has_parser(void)
{
  return true;
}

wtl_machine *wtl_machine_parse(const char *file, const char *text, size_t length, char *error, size_t size)
{
  WTL_LOCALE_APART;
  yaml_errors errors = {.used = 0};
  cyaml_config_t cfg = config(&errors);
  cyaml_data_t *data = NULL;
  cyaml_err_t e = cyaml_load_data((const uint8_t *)text, length, &cfg, &machine_schema, &data, NULL);
  if (e != CYAML_OK || !data) {
    char said[512] = "has no keys";
    if (errors.used) wtl_yaml_words(errors.text, said, sizeof said);
    if (e == CYAML_ERR_OOM) snprintf(said, sizeof said, "out of memory");
    int line = error_line(errors.text, text);
    snprintf(error, size, "machine profile %s, line %d: %s", file, line ? line : 1, said);
    return NULL;
  }
  wtl_machine *m = data;
  m->file = strdup(file);
  check c = {.file = file, .text = text, .error = error, .size = size};
  if (!m->file) snprintf(error, size, "machine profile %s: out of memory", file);
  if (!m->file || check_machine(&c, m) != 0) {
    wtl_machine_free(m);
    return NULL;
  }
  return m;
}
