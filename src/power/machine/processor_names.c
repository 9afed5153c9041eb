/* processor_names.c - TDP and class of a processor by its name. */
#include "power/machine/processor_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/locale.h"

bool wtl_cpu_name_has(const char *cpu, const char *processor)
{
  size_t length = strlen(processor);
  for (const char *p = cpu; (p = strcasestr(p, processor)); p++) {
    char before = p == cpu ? ' ' : p[-1], after = p[length];
    if (isalnum((unsigned char)before) || strchr("+.-", before)) continue;
    /* P: for one socket; F: without graphics. They have the same TDP. */
    bool is_one_socket = after == 'P' && strncmp(processor, "EPYC ", 5) == 0 && isdigit((unsigned char)p[length - 1]);
    bool is_without_graphics = after == 'F' && (strncmp(processor, "Ultra ", 6) == 0 || processor[0] == 'i');
    if (is_one_socket || is_without_graphics) after = p[length + 1];
    if (isalnum((unsigned char)after) || after == '+') continue;
    if (after == ' ' && tolower((unsigned char)p[length + 1]) == 'v' && isdigit((unsigned char)p[length + 2])) continue;
    return true;
  }
  return false;
}

/* The CPU's name without marks of ownership and the word for it: "Intel(R) Core(TM) 5 120U" is "Intel Core 5 120U". */
static void without_marks(const char *cpu, char *out, size_t size)
{
  static const char *const marks[] = {"(R)", "(TM)", " CPU", " Processor"};
  size_t n = 0;
  for (const char *p = cpu; *p && n + 1 < size;) {
    size_t skipped = 0;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !skipped; i++)
      if (strncasecmp(p, marks[i], strlen(marks[i])) == 0) skipped = strlen(marks[i]);
    if (skipped)
      p += skipped;
    else if (*p == ' ' && n && out[n - 1] == ' ')
      p++;
    else
      out[n++] = *p++;
  }
  out[n] = '\0';
}

/* Reads a line of wtl_processor_names. Returns its part number, or -1 for a line that is none. */
static int read_line(const char *line, wtl_named *out)
{
  WTL_LOCALE_APART;
  int part = -1, n = sscanf(line, "%63[^|]|%15[^|]|%lf|%lf|%d|%i", out->name, out->class, &out->tdp_w, &out->limit_w,
                            &out->cores, &part);
  return n == 6 ? part : -1;
}

bool wtl_processor_named(const char *cpu, int part, wtl_named *out)
{
  char plain[256], name[64];
  const char *by_name = NULL, *by_part = NULL, *end;
  size_t longest = 0;
  without_marks(cpu, plain, sizeof plain);
  for (const char *line = wtl_processor_names; (end = strchr(line, '\n')); line = end + 1) {
    size_t length = strcspn(line, "|");
    if (length > longest && length < sizeof name && *plain) {
      memcpy(name, line, length);
      name[length] = '\0';
      if (wtl_cpu_name_has(plain, name)) {
        by_name = line;
        longest = length;
      }
    }
    if (part > 0 && !by_part && strncmp(end - 2, "|0", 2) != 0) {
      const char *last = memrchr(line, '|', (size_t)(end - line));
      if (last && strtol(last + 1, NULL, 0) == part) by_part = line;
    }
  }
  const char *found = by_name ? by_name : by_part;
  return found && read_line(found, out) >= 0;
}

const wtl_machine_class *wtl_machine_class_named(const char *name)
{
  for (size_t i = 0; i < wtl_n_machine_classes; i++)
    if (strcmp(wtl_machine_classes[i].name, name) == 0) return &wtl_machine_classes[i];
  return NULL;
}
