#include "launch/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/remains.h"

/* As Open MPI looks for it. */
static const char *temporary_directory(void)
{
  static const char *const names[] = {"TMPDIR", "TEMP", "TMP"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (getenv(names[i])) return getenv(names[i]);
  return "/tmp";
}

typedef struct sessions {
  char all[4096], one[4128];
} sessions;

static bool sessions_of(sessions *s, pid_t pid)
{
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) return false;
  host[strcspn(host, ".")] = '\0'; /* as Open MPI shortens it */
  snprintf(s->all, sizeof s->all, "%s/ompi.%s.%u", temporary_directory(), host, (unsigned)geteuid());
  snprintf(s->one, sizeof s->one, "%s/pid.%ld", s->all, (long)pid);
  return true;
}

static pid_t keeper;

static void make(const sessions *s)
{
  for (int tries = 0; tries < 1000; tries++) { /* the first part may go again before the second is made */
    if (mkdir(s->all, S_IRWXU) != 0 && errno != EEXIST) return;
    if (mkdir(s->one, S_IRWXU) == 0 || errno != ENOENT) return;
  }
}

/* And those of other keepers that were killed: they are empty. */
static void drop(const sessions *s)
{
  char pattern[4128];
  glob_t found;
  rmdir(s->one);
  snprintf(pattern, sizeof pattern, "%s/pid.*", s->all);
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (wtl_remains_orphaned(found.gl_pathv[i])) rmdir(found.gl_pathv[i]);
  globfree(&found);
  rmdir(s->all);
}

/* Its directory is there when `ready` is closed, until SIGTERM comes: from oshrun, or from its death. */
__attribute__((noreturn)) static void keep(pid_t oshrun, int ready)
{
  sessions s;
  sigset_t end, all;
  int number;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  sigfillset(&all); /* Ctrl-C is oshrun's to answer */
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!sessions_of(&s, getpid())) _exit(0);
  make(&s);
  close(ready);
  if (getppid() == oshrun) sigwait(&end, &number);
  drop(&s);
  _exit(0);
}

void wtl_sessions_keep(void)
{
  pid_t me = getpid();
  int ends[2];
  char none;
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  keeper = fork();
  if (keeper == 0) {
    close(ends[0]);
    keep(me, ends[1]);
  }
  close(ends[1]);
  if (keeper > 0) (void)!read(ends[0], &none, 1);
  close(ends[0]);
}

static void end_keeper(void)
{
  sessions s;
  if (keeper <= 0) return;
  kill(keeper, SIGTERM);
  while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) continue;
  if (sessions_of(&s, keeper)) drop(&s); /* it may have been killed */
  keeper = 0;
}

bool wtl_sessions_settled(pid_t launcher)
{
  sessions s;
  bool settled = !sessions_of(&s, launcher) || access(s.one, F_OK) == 0;
  if (settled) end_keeper();
  return settled;
}

void wtl_sessions_remove(pid_t launcher)
{
  sessions s;
  end_keeper();
  if (sessions_of(&s, launcher)) wtl_remains_remove(s.one);
}
