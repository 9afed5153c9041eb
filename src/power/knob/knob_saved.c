/* knob_saved.c - writes and reads the files that keep the values found by a job. */
#include "power/knob/knob_saved.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "os/os.h"

static const char format[] = "wattle clocks 2\n";

/* ---- writing ---- */

/* Returns the text of the file, or NULL without memory. */
static char *lines_of(const wtl_knob *k, size_t *length)
{
  char *text = NULL;
  FILE *f = open_memstream(&text, length);
  if (!f) return NULL;
  fprintf(f, "%ssysfs %s\n", format, k->sysfs);
  for (size_t d = 0; d < k->n_domains; d++)
    for (size_t i = 0; i < k->domain[d].n_files && k->domain[d].claimed; i++) {
      const wtl_knob_file *file = &k->domain[d].file[i];
      fprintf(f, "%s %d %s\n", wtl_knob_attribute_name(file->place.attribute), file->place.of, file->found);
    }
  fputs("end\n", f);
  bool good = !ferror(f);
  if (fclose(f) == 0 && good) return text;
  free(text);
  return NULL;
}

/* Creates a file with a random name. Returns a descriptor or -1. */
static int create(int folder, const char *start, char *name, size_t size)
{
  char first[WTL_KNOB_STATE_NAME];
  uint32_t random;
  if (!wtl_knob_state_name(start, first)) return -1;
  for (int tries = 0; tries < 100 && wtl_os_random(&random, sizeof random); tries++) {
    snprintf(name, size, "%s-%08x", first, random);
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) wtl_new_file_admit_owner(fd);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

void wtl_knob_save(wtl_knob *k)
{
  char path[WTL_KNOB_STATE_PATH], name[2 * WTL_KNOB_STATE_NAME], why[512];
  size_t length = 0;
  int folder = wtl_knob_state_open(k->state, k->kind->limits, true, path, why, sizeof why);
  char *text = folder >= 0 ? lines_of(k, &length) : NULL;
  int fd =
      text ? create(folder, k->kind->limits ? WTL_KNOB_SAVED_LIMITS : WTL_KNOB_SAVED_CLOCKS, name, sizeof name) : -1;
  bool good = fd >= 0 && fchmod(fd, 0640) == 0 && /* the group may read which clocks a job of root has left changed */
              pwrite(fd, text, length, 0) == (ssize_t)length && asprintf(&k->saved, "%s/%s", path, name) > 0;
  if (good) {
    k->saved_fd = fd;
  } else if (fd >= 0) {
    k->saved = NULL;
    unlinkat(folder, name, 0);
    close(fd);
  }
  free(text);
  if (folder >= 0) close(folder);
}

/* Empties the file first, because a member of the folder's group may have renamed it to present it again later. */
void wtl_knob_forget(wtl_knob *k)
{
  if (!k->saved) return;
  (void)!ftruncate(k->saved_fd, 0);
  unlink(k->saved);
  close(k->saved_fd);
  free(k->saved);
  k->saved = NULL;
  k->saved_fd = -1;
}

/* ---- reading ---- */

/* Six lines for each possible CPU, and their total length. */
enum { MOST_LINES = 6 * CPU_SETSIZE, MOST_BYTES = 64 * MOST_LINES };

/* Returns the whole text, which the caller frees; NULL if it is too long. */
static char *read_text(int fd)
{
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size <= 0 || st.st_size > MOST_BYTES) return NULL;
  char *text = malloc((size_t)st.st_size + 1);
  ssize_t n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
  if (n < 0) return free(text), NULL;
  text[n] = '\0';
  return text;
}

/* Returns the text after `line`; NULL if the text does not begin with it. */
static char *after(char *text, const char *line)
{
  size_t n = strlen(line);
  return text && strncmp(text, line, n) == 0 ? text + n : NULL;
}

static bool is_number(const char *text, int below, int *number)
{
  size_t n = strspn(text, "0123456789");
  *number = n && n < 6 && !text[n] ? atoi(text) : -1;
  return *number >= 0 && *number < below;
}

static bool read_line(char *line, bool limits, wtl_knob_saved *out)
{
  char *save, *name = strtok_r(line, " ", &save), *of = strtok_r(NULL, " ", &save), *value = strtok_r(NULL, "", &save);
  int a = 0;
  if (!value || !*value || strlen(value) >= sizeof out->value || !is_number(of, CPU_SETSIZE, &out->place.of))
    return false;
  while (a < WTL_KNOB_ATTRIBUTES && strcmp(name, wtl_knob_attribute_name((wtl_knob_attribute)a)) != 0) a++;
  out->place.attribute = (wtl_knob_attribute)a;
  snprintf(out->value, sizeof out->value, "%s", value);
  return a < WTL_KNOB_ATTRIBUTES && wtl_knob_attribute_is_limit(out->place.attribute) == limits;
}

/* Returns the number of lines; 0 if one of them is wrong. */
static size_t read_lines(char *at, bool limits, wtl_knob_saved *out)
{
  for (size_t n = 0; at && n < MOST_LINES;) {
    char *end = strchr(at, '\n');
    if (strcmp(at, "end\n") == 0) return n;
    if (!end) return 0;
    *end = '\0';
    if (!read_line(at, limits, &out[n++])) return 0;
    at = end + 1;
  }
  return 0;
}

wtl_knob_saved *wtl_knob_saved_read(int fd, const char *sysfs, bool limits, size_t *n)
{
  char *text = read_text(fd), *at = after(after(after(after(text, format), "sysfs "), sysfs), "\n");
  wtl_knob_saved *out = at ? calloc(MOST_LINES, sizeof *out) : NULL;
  *n = out ? read_lines(at, limits, out) : 0;
  free(text);
  if (*n) return out;
  free(out);
  return NULL;
}
