/* self.c - the PE of this process, or in the threads build of this thread; why there is none; and fatal errors. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sigpipe.h"
#include "os/locale.h"
#include "os/os.h"
#include "pgas/pe.h"

WTL_OS_OF_PE wtl_pe *wtl_self;
extern WTL_OS_OF_PE wtl_pe *wtl_self_seen __attribute__((alias("wtl_self"), visibility("default")));
static WTL_OS_OF_PE enum wtl_absence absence;
static WTL_OS_OF_PE const char *ended_by; /* the call that ended the PE, if it is not the front end's own */

void wtl_pe_vanish(enum wtl_absence why, const char *call)
{
  absence = why;
  ended_by = call;
  wtl_self = NULL;
}

bool wtl_pe_is_over(void)
{
  return absence == WTL_PE_ENDED;
}

bool wtl_pe_was_ended_by_another_call(void)
{
  return ended_by != NULL;
}

void wtl_pe_why_none(char *text, size_t size, const char *begin, const char *end)
{
  switch (absence) {
  case WTL_PE_NOT_STARTED: snprintf(text, size, "before %s", begin); break;
  case WTL_PE_ENDED:
    snprintf(text, size, "after %s%s", ended_by ? ended_by : end,
             ended_by ? ", with which the network between nodes ended (WATTLE_NETWORK)" : "");
    break;
  case WTL_PE_FORKED: snprintf(text, size, "in a forked child, which is no PE"); break;
  }
}

/* Not fflush(NULL): another thread may hold a stream's lock for as long as it waits for input. */
void wtl_pe_flush_output(void)
{
  FILE *const streams[] = {stdout, stderr};
  /* the exit status stays the program's if no process reads the output any more */
  wtl_sigpipe before = wtl_sigpipe_hold();
  for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
    if (ftrylockfile(streams[i]) != 0) continue;
    fflush_unlocked(streams[i]);
    funlockfile(streams[i]);
  }
  wtl_sigpipe_release(&before);
}

void wtl_pe_fail(int status, const char *format, ...)
{
  WTL_LOCALE_APART;
  wtl_pe *self = wtl_self;
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wtl_message_print("%s", text);
  wtl_pe_flush_output();
  wtl_message_linger();
  if (self) wtl_boot_abort(&self->boot, status, text);
  _exit(status);
}
