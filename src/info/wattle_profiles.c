/*
 * wattle_profiles.c - the program wattle-profiles, which reads the counts that processes keep in the node's memory
 * (profile/kept.h).
 *
 *   wattle-profiles collect DIR [now] [PID=SIGNAL:EXIT:NS]...
 *   wattle-profiles live [PID=CPU:FILE]...
 *
 * `collect` writes the profile of each process that has ended without it, and whose WATTLE_PROFILE_DIR is DIR, into
 * the folder of its job, and removes its file. It also removes files that no command will read any more. It prints one
 * JSON object: `written` and `failed` (numbers of PEs), `running` (processes that still run). PID=SIGNAL:EXIT:NS says
 * how a process ended: its signal and exit code, -1 for unknown ones, and the moment on CLOCK_MONOTONIC in nanoseconds.
 * `now`: the job has just ended, and with it all processes of an unknown end.
 *
 * `live` prints the present profiles of running processes as a JSON list. CPU: the CPU seconds that the process has
 * used; FILE: its file, such as /proc/PID/fd/N.
 *
 * Exit codes: 0; 64 for wrong arguments; 74 if a profile could not be written, whose file then stays.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "node/process.h"
#include "os/locale.h"
#include "os/os.h"
#include "power/meter.h"
#include "record/profile_file.h"
#include "record/recall.h"

enum { IO_ERROR = 74 };

/* A file of counts. `name`: in WTL_KEPT_FOLDER. */
typedef struct kept_file {
  char name[256];
  wtl_recalled *of;
  wtl_share share;
  wattle_joules_t mine[WTL_MAX_DOMAINS];
  wtl_node_joules *node; /* on the node's reader, if its joules are known */
} kept_file;

typedef struct kept_files {
  kept_file *at;
  size_t n;
} kept_files;

/* --- files --- */

static kept_file *add_file(kept_files *files)
{
  kept_file *grown = realloc(files->at, (files->n + 1) * sizeof *grown);
  if (!grown) return NULL;
  files->at = grown;
  memset(&grown[files->n], 0, sizeof *grown);
  return &grown[files->n++];
}

/* Opens a file of this user; -1 for any other. A name in a folder that all may write to may lead to anything. */
static int open_ours(const char *path)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()) return fd;
  close(fd);
  return -1;
}

static wtl_recalled *recall(const char *path, const char **why)
{
  *why = "it is no file of this user";
  int fd = open_ours(path);
  wtl_recalled *r = fd >= 0 ? wtl_recall(fd, why) : NULL;
  if (fd >= 0) close(fd);
  return r;
}

static bool has_ended(const wtl_kept_head *h)
{
  return wtl_process_is_gone((int)h->pid) || wtl_process_start_of((long)h->pid) != h->pid_start;
}

/* Whether a process with the folder `of` belongs to a job with this WATTLE_PROFILE_DIR (record/job_folder.h). */
static bool is_in(const char *of, const char *folder)
{
  size_t n = strlen(folder);
  return strncmp(of, folder, n) == 0 && (!of[n] || strncmp(of + n, "/job-", 5) == 0);
}

/* Finds the files of ended processes with this folder. Returns the number of those that still run. */
static int find_files(kept_files *files, const char *folder)
{
  char prefix[64], path[512];
  int running = 0;
  snprintf(prefix, sizeof prefix, WTL_KEPT_PREFIX "%ld.", (long)geteuid());
  DIR *all = opendir(WTL_KEPT_FOLDER);
  for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
    const char *why;
    if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
    snprintf(path, sizeof path, WTL_KEPT_FOLDER "%.250s", entry->d_name);
    wtl_recalled *r = recall(path, &why);
    bool ours = r && is_in(r->head->folder, folder), ended = ours && has_ended(r->head);
    kept_file *file = ended ? add_file(files) : NULL;
    running += ours && !ended;
    if (file) {
      snprintf(file->name, sizeof file->name, "%.250s", entry->d_name);
      file->of = r;
    } else {
      wtl_recall_free(r);
    }
  }
  if (all) closedir(all);
  return running;
}

/* --- joules --- */

static double clock_of(void *arg)
{
  return *(double *)arg;
}

/*
 * Opens the model as the meter of a past interval. A job that asked for a sensor, or for no meter, gets none: the
 * sensor was not read at the end.
 */
static wtl_meter *open_model(wtl_settings *settings, wtl_sys *sys, double *now)
{
  char error[4096];
  enum wtl_meter_kind kind;
  *now = 0;
  *sys = wtl_sys_real;
  sys->now = clock_of;
  sys->arg = now;
  sys->background = false;
  if (wtl_settings_parse(settings, error, sizeof error) != 0) return NULL;
  kind = (enum wtl_meter_kind)settings->meter.number;
  if (kind != WTL_METER_AUTO && kind != WTL_METER_MODEL) return NULL;
  settings->meter.number = WTL_METER_MODEL;
  wtl_meter *m = wtl_meter_open_with(settings, sys, error, sizeof error);
  if (m) wtl_meter_start(m);
  return m;
}

/* Models the joules of the n processes of one node. */
static void model_node(kept_file *const *file, size_t n, wtl_meter *meter, double *now)
{
  wtl_activity *all = calloc(n, sizeof *all);
  wattle_joules_t *part = calloc(n * WTL_MAX_DOMAINS, sizeof *part);
  wtl_node_joules *node = calloc(1, sizeof *node);
  double start_machine_s = NAN;
  size_t domains = 0;
  for (size_t i = 0; all && i < n; i++) {
    all[i] = file[i]->of->past.states;
    if (isfinite(file[i]->of->past.cpu_s)) wtl_record_put_on_core(&all[i], file[i]->of->past.cpu_s);
    *now = fmax(*now, all[i].wall_s);
    if (file[i]->of->head->is_reader) start_machine_s = file[i]->of->head->start_machine_s;
  }
  if (all && part && node) domains = wtl_split_node(meter, start_machine_s, all, n, node, part);
  for (size_t i = 0; i < n && domains; i++) {
    kept_file *f = file[i];
    memcpy(f->mine, part + i * domains, domains * sizeof *part);
    f->share = (wtl_share){.n_domains = domains, .mine = f->mine, .wake_s = all[i].wake_s, .second_s = all[i].second_s};
    wtl_record_rates(wtl_meter_machine(meter), &all[i], f->share.rate);
    if (f->of->head->is_reader && !f->node) {
      f->node = node;
      node = NULL;
    }
  }
  free(all);
  free(part);
  free(node);
}

static bool same_node(const kept_file *a, const kept_file *b)
{
  return strcmp(a->of->head->host, b->of->head->host) == 0 && strcmp(a->of->head->folder, b->of->head->folder) == 0;
}

/* Models the joules of all files, those of each node and job together. */
static void model_all(kept_files *files)
{
  bool *done = calloc(files->n + 1, sizeof *done);
  kept_file **group = calloc(files->n + 1, sizeof *group);
  for (size_t i = 0; done && group && i < files->n; i++) {
    wtl_settings settings;
    wtl_sys sys;
    double now;
    size_t n = 0;
    if (done[i]) continue;
    for (size_t k = i; k < files->n; k++) {
      if (done[k] || !same_node(&files->at[i], &files->at[k])) continue;
      done[k] = true;
      group[n++] = &files->at[k];
    }
    wtl_meter *meter = open_model(&settings, &sys, &now);
    if (meter && wtl_meter_machine(meter)) model_node(group, n, meter, &now);
    if (meter) wtl_meter_close(meter);
  }
  free(done);
  free(group);
}

static const wtl_share *share_of(const kept_file *f)
{
  return f->share.n_domains ? &f->share : NULL;
}

static void free_files(kept_files *files)
{
  for (size_t i = 0; i < files->n; i++) {
    wtl_recall_free(files->at[i].of);
    free(files->at[i].node);
  }
  free(files->at);
}

/* --- collect --- */

/* Sets the end that the arguments state. */
static void set_end(kept_file *f, char **args, uint64_t job_end_ns)
{
  uint64_t end_ns = job_end_ns;
  const char *time = "job";
  wtl_end *e = &f->of->past.end;
  for (; *args; args++) {
    long pid;
    int signal, code;
    uint64_t ns;
    if (sscanf(*args, "%ld=%d:%d:%" SCNu64, &pid, &signal, &code, &ns) != 4 || pid != f->of->past.pid) continue;
    e->signal = signal;
    e->exit_code = code;
    end_ns = ns;
    time = "seen";
  }
  wtl_recall_until(f->of, end_ns, time, NAN);
}

/* Whether the process, or another front end of it, has already written its profile. */
static bool is_written(const kept_file *f)
{
  char path[WTL_KEPT_TEXT + 32], head[8192] = "", mine[32];
  snprintf(path, sizeof path, "%s/pe-%05d.json", f->of->head->folder, f->of->head->pe);
  snprintf(mine, sizeof mine, "\"pid\":%ld,", f->of->past.pid);
  int fd = open_ours(path);
  if (fd < 0) return false;
  ssize_t n = read(fd, head, sizeof head - 1);
  close(fd);
  head[n > 0 ? n : 0] = '\0';
  return strstr(head, mine) != NULL;
}

static void print_numbers(const char *key, const kept_files *files, const bool *good, bool wanted, int first)
{
  bool any = false;
  wtl_json_key(stdout, key, first);
  putchar('[');
  for (size_t i = 0; i < files->n; i++) {
    if (good[i] != wanted) continue;
    printf(any ? ",%d" : "%d", files->at[i].of->head->pe);
    any = true;
  }
  putchar(']');
}

static int collect(char **args)
{
  char folder[WTL_KEPT_TEXT], path[512];
  kept_files files = {0};
  int failed = 0;
  wtl_kept_remove_stale();
  int running = realpath(args[0], folder) ? find_files(&files, folder) : 0; /* it may be removed while a job runs */
  bool is_now = args[1] && strcmp(args[1], "now") == 0, *good = calloc(files.n + 1, sizeof *good);
  if (!good) return WTL_EXIT_OSERR;
  for (size_t i = 0; i < files.n; i++) set_end(&files.at[i], args + 1 + is_now, is_now ? wtl_clock_ns() : 0);
  model_all(&files);
  for (size_t i = 0; i < files.n; i++) {
    kept_file *f = &files.at[i];
    good[i] = is_written(f) || wtl_record_write_past(&f->of->record, share_of(f), f->node);
    failed += !good[i];
    snprintf(path, sizeof path, WTL_KEPT_FOLDER "%s", f->name);
    if (good[i]) unlink(path);
  }
  putchar('{');
  print_numbers("written", &files, good, true, 1);
  print_numbers("failed", &files, good, false, 0);
  wtl_json_number_field(stdout, "running", running, 0);
  puts("}");
  free(good);
  free_files(&files);
  return failed ? IO_ERROR : 0;
}

/* --- live --- */

/* `wattle top` takes the present figure from /proc, for the kept one is that of the last long wait. */
static void leave_out_no_core(wtl_past *past)
{
  past->states.active_s += past->states.no_core_s;
  past->states.no_core_s = 0;
  past->no_core.until_s = past->no_core.in_waits_s = NAN;
}

static int live(char **args)
{
  WTL_LOCALE_APART;
  kept_files files = {0};
  for (; *args; args++) {
    const char *why;
    double cpu_s;
    long pid;
    int length = 0;
    if (sscanf(*args, "%ld=%lf:%n", &pid, &cpu_s, &length) < 2 || !length) {
      wtl_message_print("wattle-profiles: %s: expected PID=CPU:FILE", *args);
      return WTL_EXIT_USAGE;
    }
    wtl_recalled *r = recall(*args + length, &why);
    kept_file *f = r && r->past.pid == pid ? add_file(&files) : NULL;
    if (!f) {
      wtl_recall_free(r);
      continue; /* it has ended, or has no such file */
    }
    f->of = r;
    wtl_recall_until(r, wtl_clock_ns(), "seen", cpu_s);
    leave_out_no_core(&r->past);
  }
  model_all(&files);
  putchar('[');
  for (size_t i = 0; i < files.n; i++) {
    if (i) putchar(',');
    wtl_record_print_past(stdout, &files.at[i].of->record, share_of(&files.at[i]), files.at[i].node);
  }
  puts("]");
  free_files(&files);
  return 0;
}

int main(int argc, char **argv)
{
  if (argc >= 3 && strcmp(argv[1], "collect") == 0) return collect(argv + 2);
  if (argc >= 2 && strcmp(argv[1], "live") == 0) return live(argv + 2);
  fputs("usage: wattle-profiles collect DIR [now] [PID=SIGNAL:EXIT:NS]... | live [PID=CPU:FILE]...\n", stderr);
  return WTL_EXIT_USAGE;
}
