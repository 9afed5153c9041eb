/* knob_state.c - finds and checks the state folders, and takes the locks by which jobs claim clocks. */
#include "power/knob/knob_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/new_file.h"

/* An administrator creates this folder for all users that may set clocks (docs/governor.md). */
static const char common[] = "/run/wattle";

/* Root keeps no state in a home folder, because HOME may be that of the user who became root. */
static void path_of_auto(bool limits, char *path, size_t size)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  *path = '\0';
  if (geteuid() == 0 || (!limits && access(common, R_OK | W_OK | X_OK) == 0))
    snprintf(path, size, "%s", common);
  else if (state && *state == '/')
    snprintf(path, size, "%s/wattle", state);
  else if (home && *home == '/')
    snprintf(path, size, "%s/.local/state/wattle", home);
}

static void make_folders(const char *path)
{
  char part[WTL_KNOB_STATE_PATH];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(part, 0700);
    *slash = '/';
  }
  mkdir(part, 0700);
}

static bool is_safe(int folder, const char *path, char *why, size_t size)
{
  struct stat st;
  if (fstat(folder, &st) != 0) return false;
  bool foreign = st.st_uid != 0 && st.st_uid != geteuid(), open_to_all = st.st_mode & S_IWOTH;
  if (foreign)
    snprintf(why, size, "WATTLE_CLOCK_STATE: %s is not used: it belongs to user %ld, not to root or to user %ld", path,
             (long)st.st_uid, (long)geteuid());
  else if (open_to_all)
    snprintf(why, size, "WATTLE_CLOCK_STATE: %s is not used: all users may write to it (mode %03o; 2770 at most)", path,
             (unsigned)st.st_mode & 07777);
  return !foreign && !open_to_all;
}

/*
 * May another user rename the folder? A user that may write to a folder above can rename its entries, unless that
 * folder has the sticky bit.
 */
static bool may_be_renamed(int folder)
{
  struct stat here, above;
  int at = dup(folder);
  bool movable = at < 0, top = false;
  while (!movable && !top) {
    int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool known = up >= 0 && fstat(at, &here) == 0 && fstat(up, &above) == 0;
    top = known && here.st_dev == above.st_dev && here.st_ino == above.st_ino;
    movable = !known || (above.st_uid != 0 && above.st_uid != geteuid()) ||
              (above.st_mode & (S_IWGRP | S_IWOTH) && !(above.st_mode & S_ISVTX));
    close(at);
    at = up;
  }
  if (at >= 0) close(at);
  return movable;
}

/* Only this user may write to the folder or rename it. */
static bool is_private(int folder, const char *path, char *why, size_t size)
{
  char reason[160] = "";
  struct stat st;
  if (fstat(folder, &st) != 0) return false;
  if (st.st_uid != geteuid())
    snprintf(reason, sizeof reason, "it belongs to user %ld, not to user %ld", (long)st.st_uid, (long)geteuid());
  else if (st.st_mode & (S_IWGRP | S_IWOTH))
    snprintf(reason, sizeof reason, "others may write to it (mode %03o; 755 at most)", (unsigned)st.st_mode & 07777);
  else if (may_be_renamed(folder))
    snprintf(reason, sizeof reason, "others may rename it, because they may write to a folder above it");
  if (*reason) snprintf(why, size, "WATTLE_CLOCK_STATE: %s is not used for power limits: %s", path, reason);
  return !*reason;
}

static void add_limits(char *path)
{
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  snprintf(path + n, WTL_KNOB_STATE_PATH - n, "-limits");
}

int wtl_knob_state_open(const char *setting, bool limits, bool make, char *path, char *why, size_t size)
{
  *why = *path = '\0';
  if (strcmp(setting, "none") == 0) return -1;
  if (strcmp(setting, "auto") == 0)
    path_of_auto(limits, path, WTL_KNOB_STATE_PATH);
  else if (*setting == '/' && strlen(setting) < WTL_KNOB_STATE_PATH - 8)
    snprintf(path, WTL_KNOB_STATE_PATH, "%s", setting);
  else
    snprintf(why, size, "WATTLE_CLOCK_STATE=%.100s is not used: it must be auto, none or an absolute path", setting);
  if (!*path) return -1;
  if (limits) add_limits(path);
  if (make) make_folders(path);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 && errno != ENOENT && (limits || errno != EACCES))
    snprintf(why, size, "WATTLE_CLOCK_STATE: %s is not used: %s", path, strerror(errno));
  if (folder < 0 || (limits ? is_private : is_safe)(folder, path, why, size)) return folder;
  close(folder);
  return -1;
}

bool wtl_knob_state_name(const char *start, char name[WTL_KNOB_STATE_NAME])
{
  char id[40] = "";
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  bool known = f && fscanf(f, "%39[0-9a-f-]", id) == 1;
  if (f) fclose(f);
  snprintf(name, WTL_KNOB_STATE_NAME, "%s-%s", start, id);
  return known;
}

/*
 * Opens a file on the folder's own file system. A member of the group could mount another one on the name, on which an
 * open never returns. Kernels and containers without openat2 do without this check.
 */
static int open_within(int folder, const char *name, int flags)
{
  struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
  int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
  return fd < 0 && (errno == ENOSYS || errno == EPERM) ? openat(folder, name, flags) : fd;
}

int wtl_knob_state_open_file(int folder, const char *name, int flags)
{
  struct stat st;
  int fd = open_within(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -errno;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
  close(fd);
  return -EINVAL;
}

/* ---- claims ---- */

/*
 * Opens the file of claims, and creates it for the group if the folder is a group's. The file is never removed, because
 * a job may have just opened it.
 */
void wtl_knob_claims_open(wtl_knob_claims *c, int folder)
{
  char name[WTL_KNOB_STATE_NAME];
  if (c->file >= 0 || fstat(folder, &c->folder) != 0 || !wtl_knob_state_name(".claims", name)) return;
  int made = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made >= 0) wtl_new_file_admit_owner(made);
  if (made >= 0 && c->folder.st_mode & S_IWGRP) fchmod(made, 0660);
  if (made >= 0) close(made);
  c->file = wtl_knob_state_open_file(folder, name, O_RDWR);
  if (c->file < 0) c->file = -1;
}

void wtl_knob_claims_close(wtl_knob_claims *c)
{
  if (c->file >= 0) close(c->file);
  c->file = -1;
}

bool wtl_knob_claims_decide(const wtl_knob_claims *c, int clock_fd)
{
  struct stat st;
  if (c->file < 0 || fstat(clock_fd, &st) != 0 || st.st_mode & S_IWOTH) return false;
  if (st.st_uid != 0 && st.st_uid != geteuid()) return false;
  return !(st.st_mode & S_IWGRP) || (c->folder.st_mode & S_IWGRP && st.st_gid == c->folder.st_gid);
}

static struct flock lock_of(wtl_knob_place p, short type)
{
  int byte = p.attribute == WTL_KNOB_UNCORE ? CPU_SETSIZE + p.of : p.of;
  return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

int wtl_knob_claims_take(const wtl_knob_claims *c, wtl_knob_place p)
{
  struct flock lock = lock_of(p, F_WRLCK);
  if (fcntl(c->file, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? EBUSY : errno;
}

void wtl_knob_claims_drop(const wtl_knob_claims *c, wtl_knob_place p)
{
  struct flock lock = lock_of(p, F_UNLCK);
  fcntl(c->file, F_OFD_SETLK, &lock);
}
