/*
 * settings.h - reads every environment setting, from the one table in settings.def.
 *
 * Invariants: wtl_settings_parse either fills the whole struct with values within their bounds, or reports every wrong
 * value and fills nothing. Values never change afterwards.
 */
#ifndef WTL_BASE_SETTINGS_H
#define WTL_BASE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum wtl_setting_kind {
  WTL_SET_BOOL,
  WTL_SET_FLAG,
  WTL_SET_INT,
  WTL_SET_SIZE,
  WTL_SET_SECONDS,
  WTL_SET_CHOICE,
  WTL_SET_TEXT
};

typedef union wtl_value {
  bool on;          /* BOOL, FLAG */
  long long number; /* INT, CHOICE (index of the choice) */
  size_t bytes;     /* SIZE */
  double seconds;   /* SECONDS; negative for the value "auto" */
  const char *text; /* TEXT; a copy that is never freed and never changes */
} wtl_value;

enum wtl_wait_policy { WTL_WAIT_SPIN, WTL_WAIT_YIELD, WTL_WAIT_SLEEP, WTL_WAIT_ADAPTIVE };
enum wtl_boot_kind { WTL_BOOT_AUTO, WTL_BOOT_PMIX, WTL_BOOT_MPI, WTL_BOOT_SINGLE };
enum wtl_network_kind { WTL_NETWORK_AUTO, WTL_NETWORK_UCX, WTL_NETWORK_OFI, WTL_NETWORK_MPI };
enum wtl_rma_use { WTL_RMA_AUTO, WTL_RMA_ON, WTL_RMA_OFF };
enum wtl_merge_use { WTL_MERGE_AUTO, WTL_MERGE_OFF };
enum wtl_launch_kind { WTL_LAUNCH_AUTO, WTL_LAUNCH_OPENMPI, WTL_LAUNCH_MPICH, WTL_LAUNCH_SRUN };
enum wtl_knob_setting { WTL_KNOB_AUTO, WTL_KNOB_CPUFREQ, WTL_KNOB_POWERCAP, WTL_KNOB_RECORD, WTL_KNOB_NONE };
enum wtl_clock_domain_rule { WTL_DOMAIN_AUTO, WTL_DOMAIN_PACKAGE };
enum wtl_govern_mode {
  WTL_GOVERN_OFF,
  WTL_GOVERN_BASELINE,
  WTL_GOVERN_PERFORMANCE,
  WTL_GOVERN_ENERGY,
  WTL_GOVERN_HYBRID
};
enum wtl_scaling { WTL_SCALING_REACTIVE, WTL_SCALING_PROACTIVE };
enum wtl_transfers_mode { WTL_TRANSFERS_OFF, WTL_TRANSFERS_SCALE, WTL_TRANSFERS_AWARE };
enum wtl_meter_kind {
  WTL_METER_AUTO,
  WTL_METER_POWERCAP,
  WTL_METER_PERF,
  WTL_METER_CRAY,
  WTL_METER_HWMON,
  WTL_METER_REDFISH,
  WTL_METER_NVML,
  WTL_METER_MODEL,
  WTL_METER_NONE
};

typedef struct wtl_settings {
#define X(field, name, kind, unit, def, lo, hi, choices, help) wtl_value field;
#include "settings.def"
#undef X
} wtl_settings;

typedef struct wtl_setting {
  const char *name;
  enum wtl_setting_kind kind;
  const char *unit, *def;
  double lo, hi; /* inclusive, in `unit` */
  const char *choices, *help;
} wtl_setting;

/* The rows of the table; *count receives their number. Static storage. */
const wtl_setting *wtl_settings_table(size_t *count);

/* Reads all settings from the environment into *out. Returns 0, or the number of wrong settings. Then it writes one
 * line for each (name, value, allowed values) into `errors`, cut at `size` bytes, and leaves *out unchanged. A variable
 * whose name begins with WATTLE_ but is not in the table is an error too; the line has the nearest name. */
int wtl_settings_parse(wtl_settings *out, char *errors, size_t size);

/* True for a variable whose name is close to one of the standard's (SHMEM_...) but is none; `text` then asks whether
 * that was meant. This is no error, because other libraries have names of their own. */
bool wtl_settings_near_miss(char *text, size_t size);

/* Writes the value of row i as text ("on", "512M", "spin", ...) into buf; returns buf. */
const char *wtl_settings_text(const wtl_settings *s, size_t i, char *buf, size_t size);

#endif
