/* knob.c - chooses the knob, and does what all knobs have in common: files, claims, restoring. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/sigpipe.h"
#include "os/locale.h"
#include "os/os.h"
#include "power/machine/clock_domains.h"
#include "power/knob/knob_kind.h"
#include "power/knob/knob_saved.h"

static int real_open(void *arg, const char *path)
{
  (void)arg;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) fd = open(path, O_WRONLY | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

/*
 * Writes a value with one call, as an attribute of sysfs expects. In a tree made for tests the file is ordinary and
 * would keep the end of a longer text, so it is truncated.
 */
static int real_write(void *arg, int fd, const char *text)
{
  (void)arg;
  struct statfs fs;
  size_t n = strlen(text);
  if (fstatfs(fd, &fs) == 0 && fs.f_type != SYSFS_MAGIC && ftruncate(fd, 0) != 0) return -errno;
  ssize_t wrote = pwrite(fd, text, n, 0);
  return wrote < 0 ? -errno : (size_t)wrote == n ? 0 : -EIO;
}

static int real_lock(void *arg, int fd)
{
  (void)arg;
  return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno == EWOULDBLOCK ? -EBUSY : -errno;
}

const wtl_knob_sys wtl_knob_sys_real = {
    .sys = &wtl_sys_real, .open = real_open, .write = real_write, .lock = real_lock};

/* Groups the CPUs of a simulated node. The files in sysfs are those of the machine that runs the simulation. */
static cpu_set_t *simulated_domains(const cpu_set_t *cpus, bool packages, size_t *n)
{
  const size_t each = (size_t)(packages ? wtl_os_cores_of_package() : wtl_os_cores_of_clock());
  cpu_set_t *sets = calloc(CPU_SETSIZE / each + 1, sizeof *sets);
  *n = 0;
  for (size_t cpu = 0; sets && cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, cpus)) continue;
    CPU_SET(cpu, &sets[cpu / each]);
    *n = cpu / each + 1;
  }
  return sets;
}

static cpu_set_t *domains_of(const wtl_knob *k, bool packages, enum wtl_clock_domain_rule rule, const cpu_set_t *cpus,
                             size_t *n)
{
  if (!WTL_OS_IS_SIMULATED && packages) return wtl_cpu_by_package(k->os->sys, k->sysfs, cpus, n);
  if (!WTL_OS_IS_SIMULATED) return wtl_knob_clock_domains(k->os->sys, k->sysfs, rule, cpus, n);
  return simulated_domains(cpus, packages, n);
}

double wtl_knob_number(const wtl_knob *k, int cpu, const char *file)
{
  WTL_LOCALE_APART;
  char text[64], *end;
  if (wtl_cpu_file(k->os->sys, k->sysfs, cpu, file, text, sizeof text) <= 0) return NAN;
  double number = strtod(text, &end);
  return end == text || !isfinite(number) ? NAN : number;
}

int wtl_knob_add_file(wtl_knob *k, wtl_knob_unit *d, wtl_knob_attribute attribute, int of)
{
  char path[1024];
  wtl_knob_file *grown = realloc(d->file, (d->n_files + 1) * sizeof *grown), *f;
  if (!grown) return ENOMEM;
  d->file = grown;
  f = &grown[d->n_files];
  *f = (wtl_knob_file){.place = {attribute, of}, .fd = -1};
  if (!wtl_knob_place_path(k->os->sys, k->sysfs, f->place, path, sizeof path)) return ENODEV;
  int n = k->os->sys->read_file(k->os->sys->arg, path, f->found, sizeof f->found);
  if (n < 0) {
    snprintf(k->why, sizeof k->why, "cannot read %.400s: %s", path, strerror(-n));
    return -n;
  }
  f->found[strcspn(f->found, "\n")] = '\0';
  if (!(f->path = strdup(path))) return ENOMEM;
  d->n_files++;
  return 0;
}

bool wtl_knob_may_write(wtl_knob *k, const wtl_knob_unit *d)
{
  for (size_t i = 0; i < d->n_files; i++) {
    int fd = k->os->open(k->os->arg, d->file[i].path);
    if (fd < 0) {
      snprintf(k->why, sizeof k->why, "cannot open %s: %s", d->file[i].path, strerror(-fd));
      return false;
    }
    close(fd);
  }
  return d->n_files > 0;
}

int wtl_knob_first_cpu(const wtl_clock_domain *c)
{
  int cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET((size_t)cpu, &c->cpus)) cpu++;
  return cpu;
}

int wtl_knob_package(const wtl_knob *k, const wtl_knob_unit *d)
{
  return wtl_cpu_package(k->os->sys, k->sysfs, wtl_knob_first_cpu(&d->clock));
}

static void drop_domains(wtl_knob *k)
{
  for (size_t d = 0; d < k->n_domains; d++) {
    for (size_t i = 0; i < k->domain[d].n_files; i++) {
      if (k->domain[d].file[i].fd >= 0) close(k->domain[d].file[i].fd);
      free(k->domain[d].file[i].path);
    }
    free(k->domain[d].file);
  }
  free(k->domain);
  k->domain = NULL;
  k->n_domains = 0;
}

/* Finds all domains or none, because PEs with different kinds of clocks could not be compared. */
static bool find_all(wtl_knob *k, const wtl_knob_ops *kind, const cpu_set_t *set, size_t n, const wtl_machine *machine)
{
  k->kind = kind;
  k->domain = calloc(n ? n : 1, sizeof *k->domain);
  if (!k->domain) return false;
  for (k->n_domains = 0; k->n_domains < n; k->n_domains++) {
    wtl_knob_unit *d = &k->domain[k->n_domains];
    d->clock = (wtl_clock_domain){.cpus = set[k->n_domains], .latency_s = NAN, .write_s = NAN};
    if (kind->find(k, d, machine) != 0) {
      k->n_domains++; /* so that its files are freed */
      drop_domains(k);
      return false;
    }
    d->set_khz = d->clock.found_khz;
  }
  return true;
}

/* Opens a kind of knob, or `none`. Power limits and the uncore belong to packages. */
static wtl_knob *open_kind(const wtl_settings *settings, const wtl_knob_ops *wanted, const cpu_set_t *cpus,
                           const wtl_machine *machine, const wtl_knob_sys *os)
{
  enum wtl_clock_domain_rule rule = (enum wtl_clock_domain_rule)settings->clock_domain.number;
  wtl_knob *k = calloc(1, sizeof *k);
  size_t n;
  cpu_set_t *set;
  if (!k) return NULL;
  k->os = os;
  k->sysfs = settings->sysfs.text;
  k->state = settings->clock_state.text;
  k->guard = k->saved_fd = k->claims.file = -1;
  set = domains_of(k, wanted->limits || wanted->of_uncore, rule, cpus, &n);
  if (!find_all(k, wanted, set, n, machine)) find_all(k, &wtl_knob_none, set, n, machine);
  free(set);
  return k;
}

wtl_knob *wtl_knob_open_with(const wtl_settings *settings, const cpu_set_t *cpus, const wtl_machine *machine,
                             const wtl_knob_sys *os)
{
  return open_kind(settings, wtl_knob_kinds[settings->knob.number], cpus, machine, os);
}

wtl_knob *wtl_knob_open_package(const wtl_settings *settings, enum wtl_package_knob what, const cpu_set_t *cpus,
                                const wtl_knob_sys *os)
{
  return open_kind(settings, wtl_knob_package_kinds[what], cpus, NULL, os);
}

wtl_knob *wtl_knob_open(const wtl_settings *settings, const cpu_set_t *cpus, const wtl_machine *machine)
{
  return wtl_knob_open_with(settings, cpus, machine, &wtl_knob_sys_real);
}

void wtl_knob_close(wtl_knob *k)
{
  if (!k) return;
  drop_domains(k);
  if (k->guard >= 0) close(k->guard);
  if (k->saved_fd >= 0) close(k->saved_fd);
  wtl_knob_claims_close(&k->claims);
  free(k->saved);
  free(k);
}

const char *wtl_knob_name(const wtl_knob *k)
{
  return k->kind->name;
}

const char *wtl_knob_why(const wtl_knob *k)
{
  return k->why;
}

bool wtl_knob_is_none(const wtl_knob *k)
{
  return k->kind == &wtl_knob_none;
}

bool wtl_knob_is_uncore(const wtl_knob *k)
{
  return k->kind->of_uncore;
}

bool wtl_knob_acts(const wtl_knob *k)
{
  return k->kind->acts;
}

size_t wtl_knob_domains(const wtl_knob *k)
{
  return k->n_domains;
}

const wtl_clock_domain *wtl_knob_domain(const wtl_knob *k, size_t d)
{
  return &k->domain[d].clock;
}

/* PEs ask for millionths of the normal clock. A step this near to the request is taken as the requested one. */
enum { NEAR_KHZ = 5 };

uint32_t wtl_knob_clock_at_least(const wtl_clock_domain *d, double khz)
{
  if (!(khz > d->min_khz)) return d->min_khz;
  if (khz >= d->max_khz) return d->max_khz;
  for (size_t i = 0; i < d->n_steps; i++)
    if (d->step[i] + NEAR_KHZ >= khz) return d->step[i] < d->max_khz ? d->step[i] : d->max_khz;
  return (uint32_t)ceil(khz);
}

static int open_files(wtl_knob *k, wtl_knob_unit *d)
{
  for (size_t i = 0; i < d->n_files; i++) {
    if (d->file[i].fd >= 0) continue;
    int fd = k->os->open(k->os->arg, d->file[i].path);
    if (fd < 0) {
      snprintf(k->why, sizeof k->why, "cannot open %s: %s", d->file[i].path, strerror(-fd));
      return -fd;
    }
    d->file[i].fd = fd;
  }
  return 0;
}

static void close_files(wtl_knob_unit *d)
{
  for (size_t i = 0; i < d->n_files; i++) {
    if (d->file[i].fd >= 0) close(d->file[i].fd);
    d->file[i].fd = -1;
  }
  d->claimed = false;
}

static void open_claims(wtl_knob *k)
{
  char path[WTL_KNOB_STATE_PATH], why[512];
  int folder = k->claims.file < 0 ? wtl_knob_state_open(k->state, k->kind->limits, true, path, why, sizeof why) : -1;
  if (folder < 0) return;
  wtl_knob_claims_open(&k->claims, folder);
  close(folder);
}

/* Takes the claim, and in any case the lock of the file, which a job with another state folder can see. */
static int lock_file(wtl_knob *k, const wtl_knob_file *f)
{
  int claim = wtl_knob_claims_decide(&k->claims, f->fd) ? wtl_knob_claims_take(&k->claims, f->place) : ENOLCK;
  int lock = -k->os->lock(k->os->arg, f->fd);
  return claim == 0 || claim == EBUSY ? claim : lock;
}

/* Claims a file. The value read before the lock may be that of another job, which has restored the file since. */
static int claim_file(wtl_knob *k, const wtl_knob_file *f)
{
  char now[WTL_KNOB_VALUE];
  int error = lock_file(k, f);
  if (error) return error;
  if (k->os->sys->read_file(k->os->sys->arg, f->path, now, sizeof now) < 0) return EIO;
  now[strcspn(now, "\n")] = '\0';
  return strcmp(now, f->found) == 0 ? 0 : EBUSY;
}

int wtl_knob_claim(wtl_knob *k, size_t index)
{
  wtl_knob_unit *d = &k->domain[index];
  int error = open_files(k, d);
  if (!error && d->n_files) open_claims(k);
  for (size_t i = 0; i < d->n_files && !error; i++) {
    error = claim_file(k, &d->file[i]);
    if (error)
      snprintf(k->why, sizeof k->why, "%s: %s", d->file[i].path,
               error == EBUSY ? "another job has it" : strerror(error));
  }
  if (error) {
    close_files(d);
    for (size_t i = 0; i < d->n_files && k->claims.file >= 0; i++) wtl_knob_claims_drop(&k->claims, d->file[i].place);
  }
  d->claimed = !error;
  return error;
}

static int write_file(wtl_knob *k, wtl_knob_unit *d, wtl_knob_file *f, uint32_t khz)
{
  char text[WTL_KNOB_VALUE];
  if (khz == d->clock.found_khz)
    snprintf(text, sizeof text, "%s", f->found);
  else
    k->kind->value(d, f, khz, text);
  return -k->os->write(k->os->arg, f->fd, text);
}

/*
 * Writes all files. The list has upper limits first. It is written in this order for a higher clock and in reverse for
 * a lower one, so a lower limit is never above an upper one.
 */
static int write_files(wtl_knob *k, wtl_knob_unit *d, uint32_t khz)
{
  bool up = khz >= d->set_khz;
  int error = 0;
  for (size_t i = 0; i < d->n_files && !error; i++) {
    wtl_knob_file *f = &d->file[up ? i : d->n_files - 1 - i];
    error = write_file(k, d, f, khz);
    if (error) snprintf(k->why, sizeof k->why, "cannot write %s: %s", f->path, strerror(error));
  }
  return error;
}

static void note(wtl_knob *k, size_t d, uint32_t khz)
{
  k->note[k->notes++ % WTL_KNOB_NOTES] = (wtl_clock_change){wtl_ticks(), (uint32_t)d, khz};
}

int wtl_knob_set(wtl_knob *k, size_t index, uint32_t khz)
{
  wtl_knob_unit *d = &k->domain[index];
  int error = d->lost ? ENODEV : open_files(k, d);
  if (!error) error = k->kind->set ? k->kind->set(d, khz) : write_files(k, d, khz);
  if (error) {
    d->lost = true;
    return error;
  }
  d->set_khz = khz;
  note(k, index, khz);
  return 0;
}

/* Restores the files in two rounds. In the first round a lower limit may still be above the upper one. */
static bool restore_files(wtl_knob *k, wtl_knob_unit *d)
{
  bool failed = false;
  for (int round = 0; round < 2 && d->claimed; round++)
    for (size_t i = 0; i < d->n_files; i++)
      failed |= k->os->write(k->os->arg, d->file[i].fd, d->file[i].found) != 0 && round == 1;
  return !failed;
}

/* Releases the claims. The guard has the same files open and may end only after the next job of this node has begun. */
static void release_claims(const wtl_knob *k, const wtl_knob_unit *d)
{
  for (size_t i = 0; i < d->n_files && d->claimed; i++) {
    if (d->file[i].fd >= 0) flock(d->file[i].fd, LOCK_UN);
    if (k->claims.file >= 0) wtl_knob_claims_drop(&k->claims, d->file[i].place);
  }
}

void wtl_knob_restore(wtl_knob *k)
{
  bool good = true;
  for (size_t i = 0; i < k->n_domains; i++) good &= restore_files(k, &k->domain[i]);
  if (good) wtl_knob_forget(k); /* otherwise the next job tries again */
  /*
   * If the guard has ended, there is nothing to release. A guard that gets no message restores everything again at its
   * end.
   */
  if (k->guard >= 0 && good) (void)!wtl_write(k->guard, "done", 4);
  if (k->guard >= 0) close(k->guard);
  k->guard = -1;
  for (size_t i = 0; i < k->n_domains; i++) {
    if (good) release_claims(k, &k->domain[i]); /* otherwise the guard keeps them */
    close_files(&k->domain[i]);
  }
  wtl_knob_claims_close(&k->claims);
}

size_t wtl_knob_notes(const wtl_knob *k, wtl_clock_change out[WTL_KNOB_NOTES], uint64_t *all)
{
  size_t n = k->notes < WTL_KNOB_NOTES ? (size_t)k->notes : WTL_KNOB_NOTES;
  for (size_t i = 0; i < n; i++) out[i] = k->note[(k->notes - n + i) % WTL_KNOB_NOTES];
  *all = k->notes;
  return n;
}
