/*
 * wattle_clock_repair.c - the program wattle-clock-repair, which restores clocks and power limits that killed jobs of
 * its user have left changed.
 *
 * Slurm's plugin runs it as the job's user when a job has ended (src/spank/wattle_spank.c). The epilogue of another
 * batch system can do the same. It takes no argument; the settings are those of a job (WATTLE_CLOCK_STATE and others).
 * It prints what it restored, and what it may not restore. The exit code is 0 if nothing is left to restore, else 1.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/settings.h"
#include "base/sigpipe.h"
#include "power/knob/knob_repair.h"

int main(int argc, char **argv)
{
  wtl_settings settings;
  char text[4096];
  (void)argv;
  wtl_sigpipe_outlive();
  if (argc > 1) {
    fputs("usage: wattle-clock-repair\nRestores clocks and power limits that killed jobs of this user left changed.\n",
          stderr);
    return WTL_EXIT_USAGE;
  }
  if (wtl_settings_parse(&settings, text, sizeof text) != 0) {
    fprintf(stderr, "%s", text);
    return WTL_EXIT_CONFIG;
  }
  if (!wtl_knob_repair(&settings, &wtl_knob_sys_real, text, sizeof text)) return 0;
  printf("%s\n", text);
  fflush(stdout);
  return wtl_knob_repair(&settings, &wtl_knob_sys_real, text, sizeof text); /* it reports changed values again */
}
