/* knob_claims.c - takes and releases the locks by which jobs claim clocks. */
#include "power/knob/knob_claims.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "base/new_file.h"
#include "power/knob/knob_state.h"

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
