/* hosts.c - reads lists and files of hosts. */
#include "launch/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular_file.h"

#define MOST_SLOTS 65536
#define MOST_HOSTS 65536
#define TEXT_OF_(number) #number
#define TEXT_OF(number) TEXT_OF_(number)

static bool parse_slots(const char *text, int *slots)
{
  char *end;
  long n = strtol(text, &end, 10);
  if (end == text || *end || n < 1 || n > MOST_SLOTS) return false;
  *slots = (int)n;
  return true;
}

/*
 * Adds a host. A host that is named again gets the sum of its slots, as in Open MPI. Returns NULL, or the reason of a
 * failure.
 */
static const char *add(wtl_hosts *h, const char *name, size_t length, int slots)
{
  for (int i = 0; i < h->n; i++)
    if (strncmp(h->at[i].name, name, length) == 0 && h->at[i].name[length] == '\0') {
      h->at[i].slots = (h->at[i].slots ? h->at[i].slots : 1) + (slots ? slots : 1);
      h->slots = true;
      return h->at[i].slots <= MOST_SLOTS ? NULL : "a host has more than " TEXT_OF(MOST_SLOTS) " slots in total";
    }
  if (h->n == MOST_HOSTS) return "more than " TEXT_OF(MOST_HOSTS) " hosts";
  wtl_host *grown = realloc(h->at, (size_t)(h->n + 1) * sizeof *grown);
  if (!grown) return "no memory";
  h->at = grown;
  if (!(h->at[h->n].name = strndup(name, length))) return "no memory";
  h->at[h->n++].slots = slots;
  h->slots = h->slots || slots;
  h->ranges = h->ranges || memchr(name, '[', length);
  return NULL;
}

/*
 * Is this a name that can be passed on in a list of hosts? It contains nothing that ends a word or a name in that list.
 * Commas are allowed in brackets only.
 */
static bool is_name(const char *name, size_t length)
{
  bool in_brackets = false;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)name[i];
    if (c <= ' ' || c >= 0x7f || (c == ',' && !in_brackets)) return false;
    if (c == (in_brackets ? '[' : ']')) return false;
    if (c == '[' || c == ']') in_brackets = c == '[';
  }
  return !in_brackets;
}

/* Reads one host, NAME or NAME:SLOTS. Several colons belong to an address. *length becomes the length of the name. */
static bool parse_host(const char *word, size_t *length, int *slots, char *error, size_t size)
{
  const char *colon = memchr(word, ':', *length);
  size_t whole = *length;
  char number[16];
  if (colon && memchr(colon + 1, ':', whole - (size_t)(colon - word) - 1)) colon = NULL;
  *slots = 0;
  if (colon) *length = (size_t)(colon - word);
  if (*length == 0) return snprintf(error, size, "a host's name is empty"), false;
  const char *bracket = *word == '[' ? memchr(word, ']', whole) : NULL;
  if (bracket && memchr(word, ':', (size_t)(bracket - word))) {
    snprintf(error, size, "%.*s: an IPv6 address is written without brackets", (int)whole, word);
    return false;
  }
  if (!is_name(word, *length)) {
    snprintf(error, size,
             "\"%.*s\" is no host's name: it contains a space, a control character, a comma outside brackets, or a "
             "bracket without the other one",
             (int)*length, word);
    return false;
  }
  if (!colon) return true;
  snprintf(number, sizeof number, "%.*s", (int)(whole - *length - 1), colon + 1);
  if (parse_slots(number, slots)) return true;
  snprintf(error, size, "%.*s: the number of slots after the colon must be 1 to %d", (int)whole, word, MOST_SLOTS);
  return false;
}

bool wtl_hosts_of_list(wtl_hosts *h, const char *list, char *error, size_t size)
{
  *h = (wtl_hosts){0};
  for (const char *start = list, *at = list;; at++) {
    if (*at == '[') at += strcspn(at, "]"); /* commas in brackets do not end the name */
    if (*at && *at != ',') continue;
    size_t length = (size_t)(at - start);
    int slots;
    char why[256];
    const char *wrong = parse_host(start, &length, &slots, why, sizeof why) ? add(h, start, length, slots) : why;
    if (wrong) return snprintf(error, size, "--host %s: %s", list, wrong), false;
    if (!*at) return true;
    start = at + 1;
  }
}

/* Reads the part of a line after the name. Other words of the form NAME=VALUE are options of the launcher. */
static bool read_rest(char *rest, int *slots, const char **wrong)
{
  char *save = NULL;
  for (char *word = strtok_r(rest, " \t\r\n", &save); word; word = strtok_r(NULL, " \t\r\n", &save)) {
    *wrong = word;
    if (strncmp(word, "slots=", 6) == 0 ? !parse_slots(word + 6, slots) : !strchr(word, '=')) return false;
  }
  return true;
}

static bool read_line(wtl_hosts *h, char *line, char *error, size_t size)
{
  int slots;
  const char *wrong = "";
  line[strcspn(line, "#\r\n")] = '\0';
  line += strspn(line, " \t");
  size_t length = strcspn(line, " \t");
  char *rest = line + length;
  if (length == 0) return true;
  if (!parse_host(line, &length, &slots, error, size)) return false;
  h->slot_colons = h->slot_colons || slots;
  int before = slots;
  if (!read_rest(rest, &slots, &wrong)) {
    snprintf(error, size, "\"%s\" is not understood; a line is NAME, NAME:SLOTS or NAME slots=N, 1 to %d slots", wrong,
             MOST_SLOTS);
    return false;
  }
  h->slot_words = h->slot_words || slots != before;
  if (!(wrong = add(h, line, length, slots))) return true;
  snprintf(error, size, "%s", wrong);
  return false;
}

bool wtl_hosts_of_file(wtl_hosts *h, const char *path, char *error, size_t size)
{
  char *line = NULL, why[256];
  size_t capacity = 0;
  bool good = true;
  *h = (wtl_hosts){0};
  const char *reason;
  int fd = wtl_regular_file_open(path, &reason);
  FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
  if (!f) return snprintf(error, size, "--hostfile %s: %s", path, fd < 0 ? reason : strerror(errno)), false;
  for (int number = 1; good && getline(&line, &capacity, f) >= 0; number++)
    if (!(good = read_line(h, line, why, sizeof why)))
      snprintf(error, size, "--hostfile %s, line %d: %s", path, number, why);
  if (good && (ferror(f) || h->n == 0)) {
    snprintf(error, size, "--hostfile %s: %s", path, ferror(f) ? "cannot be read" : "names no host");
    good = false;
  }
  free(line);
  fclose(f);
  return good;
}

char *wtl_hosts_text(const wtl_hosts *h)
{
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  for (int i = 0; f && i < h->n; i++) {
    fprintf(f, "%s%s", i ? "," : "", h->at[i].name);
    if (h->slots) fprintf(f, ":%d", h->at[i].slots ? h->at[i].slots : 1);
  }
  if (f) fclose(f);
  return text;
}

void wtl_hosts_free(wtl_hosts *h)
{
  for (int i = 0; i < h->n; i++) free(h->at[i].name);
  free(h->at);
  *h = (wtl_hosts){0};
}
