#include "power/knob_saved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power/knob_kind.h"

/* One that an administrator makes for all who may set clocks (docs/governor.md). */
static const char common[] = "/run/wattle";

/* ---- where ---- */

static bool is_common_usable(void)
{
  return access(common, R_OK | W_OK | X_OK) == 0;
}

/* Empty where there is none. */
static void folder_of(const char *setting, char *path, size_t size)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  *path = '\0';
  if (strcmp(setting, "none") == 0) return;
  if (strcmp(setting, "auto") != 0) {
    if (*setting == '/') snprintf(path, size, "%s", setting);
    return;
  }
  if (is_common_usable())
    snprintf(path, size, "%s", common);
  else if (state && *state == '/')
    snprintf(path, size, "%s/wattle", state);
  else if (home && *home == '/')
    snprintf(path, size, "%s/.local/state/wattle", home);
}

static void make_folders(const char *path)
{
  char part[4096];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(part, 0700);
    *slash = '/';
  }
  mkdir(part, 0700);
}

/* "clocks-" and this boot of this node; empty where the kernel does not tell it. */
static void prefix_of_boot(char *prefix, size_t size)
{
  char id[40] = "";
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  *prefix = '\0';
  if (f && fscanf(f, "%39[0-9a-f-]", id) == 1) snprintf(prefix, size, "clocks-%s-", id);
  if (f) fclose(f);
}

/* ---- keeping ---- */

static bool write_lines(FILE *f, const wtl_knob *k)
{
  for (size_t d = 0; d < k->n_domains; d++)
    for (size_t i = 0; i < k->domain[d].n_files && k->domain[d].claimed; i++)
      fprintf(f, "%s\t%s\n", k->domain[d].file[i].found, k->domain[d].file[i].path);
  fputs("end\n", f);
  bool good = !ferror(f);
  return fclose(f) == 0 && good;
}

char *wtl_knob_save(const wtl_knob *k)
{
  char folder[3800], prefix[64], path[4000];
  folder_of(k->state, folder, sizeof folder);
  prefix_of_boot(prefix, sizeof prefix);
  if (!*folder || !*prefix) return NULL;
  make_folders(folder);
  snprintf(path, sizeof path, "%s/%sXXXXXX", folder, prefix);
  int fd = mkostemp(path, O_CLOEXEC);
  FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (f) {
    fchmod(fd, 0640); /* whose folder it is: of those who may set the same clocks */
    if (write_lines(f, k)) return strdup(path);
  } else if (fd >= 0) {
    close(fd);
  }
  if (fd >= 0) unlink(path);
  return NULL;
}

/* ---- repair ---- */

enum { MOST_LINES = 8192 };

typedef struct line {
  char found[WTL_KNOB_VALUE], path[512];
  int fd;
} line;

static bool starts_with(const char *text, const char *with)
{
  return strncmp(text, with, strlen(with)) == 0;
}

static bool is_a_clocks(const char *sysfs, const char *path)
{
  static const char *const names[] = {"scaling_setspeed",
                                      "scaling_max_freq",
                                      "scaling_min_freq",
                                      "energy_performance_preference",
                                      "constraint_0_power_limit_uw",
                                      "constraint_1_power_limit_uw"};
  const char *name = strrchr(path, '/'), *below = path + strlen(sysfs);
  if (!name || !starts_with(path, sysfs) || strstr(path, "/../")) return false;
  if (!starts_with(below, "/devices/system/cpu/cpu") && !starts_with(below, "/class/powercap/")) return false;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name + 1, names[i]) == 0) return true;
  return false;
}

/* All lines of a complete file that are as they should be. */
static size_t read_lines(FILE *f, const char *sysfs, line *lines)
{
  char text[WTL_KNOB_VALUE + 600];
  size_t n = 0;
  while (fgets(text, sizeof text, f)) {
    text[strcspn(text, "\n")] = '\0';
    if (strcmp(text, "end") == 0) return n;
    char *tab = strchr(text, '\t');
    if (!tab || n == MOST_LINES) return 0;
    *tab = '\0';
    if (strlen(text) >= WTL_KNOB_VALUE || strlen(tab + 1) >= sizeof lines->path || !is_a_clocks(sysfs, tab + 1))
      return 0;
    snprintf(lines[n].found, sizeof lines[n].found, "%s", text);
    snprintf(lines[n].path, sizeof lines[n].path, "%s", tab + 1);
    lines[n++].fd = -1;
  }
  return 0; /* it breaks off: nothing had been set yet */
}

typedef struct repair {
  const wtl_settings *settings;
  const wtl_knob_sys *os;
  size_t files, failed;
  int error;
  char path[512]; /* of the first failure, else of the first that was put back */
} repair;

static void fails(repair *r, const char *path, int error)
{
  if (!r->failed++) {
    r->error = error;
    snprintf(r->path, sizeof r->path, "%s", path);
  }
}

/* False: somebody has one of them, so it is not ours to touch any. */
static bool lock_all(repair *r, line *lines, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    int fd = r->os->open(r->os->arg, lines[i].path);
    if (fd == -ENOENT) continue; /* a core that was taken off */
    if (fd < 0) {
      fails(r, lines[i].path, -fd);
      continue;
    }
    lines[i].fd = fd;
    if (r->os->lock(r->os->arg, fd) != 0) return false;
  }
  return true;
}

static bool is_as_found(const repair *r, const line *l)
{
  char now[WTL_KNOB_VALUE];
  if (r->os->sys->read_file(r->os->sys->arg, l->path, now, sizeof now) < 0) return false;
  now[strcspn(now, "\n")] = '\0';
  return strcmp(now, l->found) == 0;
}

/* Twice: the first round may find a lower limit still above the upper one. */
static void put_back(repair *r, line *lines, size_t n)
{
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < n; i++) {
      if (lines[i].fd < 0 || is_as_found(r, &lines[i])) continue;
      int error = -r->os->write(r->os->arg, lines[i].fd, lines[i].found);
      if (error && round == 1) fails(r, lines[i].path, error);
      if (error) continue;
      if (!r->failed && !r->files++) snprintf(r->path, sizeof r->path, "%s", lines[i].path);
    }
}

static void repair_one(repair *r, int folder, const char *name)
{
  struct stat st;
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  FILE *f = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
  line *lines = f ? calloc(MOST_LINES, sizeof *lines) : NULL;
  size_t n = lines ? read_lines(f, r->settings->sysfs.text, lines) : 0, failed = r->failed;
  if (n && lock_all(r, lines, n)) {
    if (r->failed == failed) put_back(r, lines, n);
    if (r->failed == failed) unlinkat(folder, name, 0);
  }
  for (size_t i = 0; i < n; i++)
    if (lines[i].fd >= 0) close(lines[i].fd);
  free(lines);
  if (f)
    fclose(f);
  else if (fd >= 0)
    close(fd);
}

static void repair_all(repair *r, DIR *folder, const char *prefix)
{
  for (const struct dirent *e; (e = readdir(folder));)
    if (starts_with(e->d_name, prefix)) repair_one(r, dirfd(folder), e->d_name);
}

bool wtl_knob_repair(const wtl_settings *settings, const wtl_knob_sys *os, char *said, size_t size)
{
  char path[3800], prefix[64];
  struct stat st;
  repair r = {.settings = settings, .os = os};
  folder_of(settings->clock_state.text, path, sizeof path);
  DIR *folder = *path ? opendir(path) : NULL;
  if (!folder) return false;
  bool is_safe = fstat(dirfd(folder), &st) == 0 && !(st.st_mode & S_IWOTH);
  prefix_of_boot(prefix, sizeof prefix);
  if (is_safe && *prefix) repair_all(&r, folder, prefix);
  closedir(folder);
  if (r.failed)
    snprintf(said, size, "a job that was killed has left clocks changed, and they cannot be put back: %s: %s", r.path,
             strerror(r.error));
  else if (r.files)
    snprintf(said, size, "clocks that a killed job had left changed are put back: %zu files, %s the first", r.files,
             r.path);
  return r.failed || r.files;
}
