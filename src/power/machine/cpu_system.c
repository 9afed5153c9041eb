/*
 * cpu_system.c - reads below /sys what /proc/cpuinfo does not show of this machine: TDP, sleep states, and on Arm the
 * processor's name, its sockets, and whether a hypervisor runs below.
 *
 * DESIGN. On x86 the flag `hypervisor` of CPUID decides. Arm has none, so the firmware's tables (DMI) and the device
 * tree decide there. Makers of hypervisors write themselves into sys_vendor or product_name, which any user may read.
 * The words are those by which systemd knows hypervisors and cloud-init knows clouds.
 */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular_file.h"
#include "os/locale.h"
#include "power/machine/cpu_here.h"

static bool read_text(const char *sysfs, const char *file, char *text, size_t size)
{
  char path[4200];
  size_t length;
  const char *why;
  snprintf(path, sizeof path, "%s/%s", sysfs, file);
  char *whole = wtl_regular_file_read(path, size - 1, &length, &why);
  text[0] = '\0';
  if (!whole) return false;
  snprintf(text, size, "%.*s", (int)strcspn(whole, "\n"), whole);
  free(whole);
  return true;
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

/* TDP in W, as powercap shows it for the long-term limit; 0 if it does not, or shows no plausible watts. */
static double stated_tdp(const char *sysfs)
{
  WTL_LOCALE_APART;
  static const char *const zone = "class/powercap/intel-rapl:0";
  char file[256], text[64];
  snprintf(file, sizeof file, "%s/constraint_0_name", zone);
  if (!read_text(sysfs, file, text, sizeof text) || strcmp(text, "long_term") != 0) return 0;
  snprintf(file, sizeof file, "%s/constraint_0_max_power_uw", zone);
  double watts = read_text(sysfs, file, text, sizeof text) ? strtod(text, NULL) * 1e-6 : 0;
  return watts >= 4 && watts <= 1000 ? watts : 0;
}

/* The limit of a zone; 0 W if it is none. */
static wtl_power_limit limit_of_zone(const char *sysfs, const char *zone, int constraint)
{
  WTL_LOCALE_APART;
  char file[256], text[64];
  snprintf(file, sizeof file, "%s/constraint_%d_power_limit_uw", zone, constraint);
  double watts = read_text(sysfs, file, text, sizeof text) ? strtod(text, NULL) * 1e-6 : 0;
  snprintf(file, sizeof file, "%s/constraint_%d_time_window_us", zone, constraint);
  double window_s = read_text(sysfs, file, text, sizeof text) ? strtod(text, NULL) * 1e-6 : NAN;
  bool is_limit = watts >= 4 && watts <= 2000 && window_s >= 0 && window_s < 1000;
  return is_limit ? (wtl_power_limit){watts, window_s} : (wtl_power_limit){0};
}

void wtl_cpu_here_power_limits(const char *sysfs, wtl_power_limit limit[WTL_POWER_LIMITS])
{
  enum { MOST_PACKAGES = 64 };
  bool is_missing[WTL_POWER_LIMITS] = {false};
  for (int i = 0; i < WTL_POWER_LIMITS; i++) limit[i] = (wtl_power_limit){0};
  for (int package = 0; package < MOST_PACKAGES; package++) {
    char zone[64], file[128], text[64];
    snprintf(zone, sizeof zone, "class/powercap/intel-rapl:%d", package);
    snprintf(file, sizeof file, "%s/name", zone);
    if (!read_text(sysfs, file, text, sizeof text)) break;
    if (strncmp(text, "package-", 8) != 0) continue; /* psys */
    snprintf(file, sizeof file, "%s/enabled", zone);
    bool is_enabled = read_text(sysfs, file, text, sizeof text) && strcmp(text, "1") == 0;
    for (int i = 0; i < WTL_POWER_LIMITS; i++) {
      wtl_power_limit l = is_enabled ? limit_of_zone(sysfs, zone, i) : (wtl_power_limit){0};
      if (l.watts == 0) is_missing[i] = true;
      if (l.watts > limit[i].watts) limit[i].watts = l.watts;
      if (l.window_s > limit[i].window_s) limit[i].window_s = l.window_s;
    }
  }
  for (int i = 0; i < WTL_POWER_LIMITS; i++)
    if (is_missing[i]) limit[i] = (wtl_power_limit){0};
}

/* The longest target residency of the sleep states that are in use, in seconds; 0 if the kernel lists none. */
static double longest_residency(const char *sysfs)
{
  WTL_LOCALE_APART;
  enum { MOST_STATES = 16 };
  double longest = 0;
  for (int state = 0; state < MOST_STATES; state++) {
    char file[256], residency[32], disabled[16];
    snprintf(file, sizeof file, "devices/system/cpu/cpu0/cpuidle/state%d/residency", state);
    if (!read_text(sysfs, file, residency, sizeof residency)) break;
    snprintf(file, sizeof file, "devices/system/cpu/cpu0/cpuidle/state%d/disable", state);
    bool is_off = read_text(sysfs, file, disabled, sizeof disabled) && strcmp(disabled, "0") != 0;
    double s = strtod(residency, NULL) * 1e-6;
    if (!is_off && s > longest && s < 0.1) longest = s;
  }
  return longest;
}

/* --- the hypervisor ----------------------------------------------------------------------------------------------- */

typedef struct firmware {
  char vendor[128], product[128]; /* of the system, by DMI */
} firmware;

static firmware firmware_of(const char *sysfs)
{
  firmware f;
  read_text(sysfs, "class/dmi/id/sys_vendor", f.vendor, sizeof f.vendor);
  read_text(sysfs, "class/dmi/id/product_name", f.product, sizeof f.product);
  return f;
}

/* Does either text contain one of the words? */
static bool names(const firmware *f, const char *const *words)
{
  for (; *words; words++)
    if (strcasestr(f->vendor, *words) || strcasestr(f->product, *words)) return true;
  return false;
}

static bool is_guest_by_dmi(const firmware *f)
{
  static const char *const guests[] = {
      "KVM",      "QEMU",     "VMware",    "VirtualBox", "innotek",         "Xen",
      "Bochs",    "BHYVE",    "Parallels", "Hyper-V",    "Virtual Machine", "Apple Virtualization",
      "KubeVirt", "Nutanix",  "oVirt",     "OpenStack",  "Amazon EC2",      "Google Compute Engine",
      "Hetzner",  "Scaleway", "Droplet",   "vServer",    "Tencent Cloud",   "Alibaba Cloud ECS",
      NULL};
  return !strcasestr(f->product, "metal") && names(f, guests); /* "c7g.metal" is a whole machine */
}

/* Devicetrees of guests have a node of the hypervisor, or QEMU's fw-cfg device, or QEMU's name for its machine. */
static bool is_guest_by_devicetree(const char *sysfs)
{
  char text[128], path[4200];
  if (read_text(sysfs, "firmware/devicetree/base/hypervisor/compatible", text, sizeof text)) return true;
  if (read_text(sysfs, "firmware/devicetree/base/compatible", text, sizeof text) &&
      strcmp(text, "linux,dummy-virt") == 0)
    return true;
  snprintf(path, sizeof path, "%s/firmware/devicetree/base", sysfs);
  DIR *base = opendir(path);
  bool found = false;
  for (struct dirent *e; base && !found && (e = readdir(base));) found = strncmp(e->d_name, "fw-cfg@", 7) == 0;
  if (base) closedir(base);
  return found;
}

static bool is_guest(const char *sysfs, const firmware *f)
{
  char type[64];
  return read_text(sysfs, "hypervisor/type", type, sizeof type) || is_guest_by_dmi(f) || is_guest_by_devicetree(sysfs);
}

/* --- the chassis -------------------------------------------------------------------------------------------------- */

static bool has_battery(const char *sysfs)
{
  static const char *const supplies[] = {"BAT0", "BAT1", "CMB0", "macsmc-battery"};
  char file[64], type[32];
  for (size_t i = 0; i < sizeof supplies / sizeof *supplies; i++) {
    snprintf(file, sizeof file, "class/power_supply/%s/type", supplies[i]);
    if (read_text(sysfs, file, type, sizeof type) && strcmp(type, "Battery") == 0) return true;
  }
  return false;
}

/* The class by the type of chassis of DMI (SMBIOS specification 3.7, 7.4.1), which any user may read. */
static const char *chassis_of(const char *sysfs)
{
  char text[32];
  switch (read_text(sysfs, "class/dmi/id/chassis_type", text, sizeof text) ? strtol(text, NULL, 10) : 0) {
  case 3:
  case 4:
  case 5:
  case 6:
  case 7:
  case 13:
  case 15:
  case 16:
  case 24:
  case 35:
  case 36: return "desktop";
  case 8:
  case 9:
  case 10:
  case 11:
  case 14:
  case 30:
  case 31:
  case 32: return "notebook";
  case 17:
  case 23:
  case 25:
  case 28:
  case 29: return "server";
  default: return has_battery(sysfs) ? "notebook" : "";
  }
}

/* --- Arm processors ----------------------------------------------------------------------------------------------- */

enum { NEOVERSE_N1 = 0xd0c, NEOVERSE_V1 = 0xd40, NEOVERSE_V2 = 0xd4f };

static bool is_arm(const wtl_cpu_here *here)
{
  return strncmp(here->vendor, "0x", 2) == 0;
}

/*
 * Joins the texts of the first processor in the table of the firmware, which only root may read: "Ampere(R) Altra(R)
 * Processor Q80-30". A structure of DMI has its type, its length with this header, and texts that end with NUL; an
 * empty text ends them.
 */
static void name_by_table(const char *sysfs, char *name, size_t size)
{
  enum { MOST = 1 << 20, PROCESSOR = 4, HEADER = 4 };
  char path[4200];
  size_t length;
  const char *why;
  snprintf(path, sizeof path, "%s/firmware/dmi/tables/DMI", sysfs);
  char *table = wtl_regular_file_read(path, MOST, &length, &why);
  if (!table) return;
  for (const char *p = table, *end = table + length; end - p > HEADER;) {
    size_t own = (unsigned char)p[1];
    bool is_processor = p[0] == PROCESSOR;
    if (own < HEADER || own >= (size_t)(end - p)) break;
    const char *text = p + own;
    for (size_t n; text < end && (n = strnlen(text, (size_t)(end - text))) > 0; text += n + 1)
      if (is_processor && strlen(name) + n + 2 < size)
        snprintf(name + strlen(name), size - strlen(name), "%s%.*s", *name ? " " : "", (int)n, text);
    if (is_processor) break;
    p = text + (text == p + own ? 2 : 1); /* without texts there are two NUL bytes */
  }
  free(table);
  for (char *c = name; *c; c++)
    if (!isprint((unsigned char)*c)) *c = ' ';
}

/* The name of the processor by its part number and the maker of the machine. */
static const char *name_by_part(const wtl_cpu_here *here, const firmware *f)
{
  bool is_amazon = strstr(f->vendor, "Amazon EC2") != NULL;
  switch (here->model) {
  case NEOVERSE_N1: return is_amazon ? "AWS Graviton2" : "Ampere Altra";
  case NEOVERSE_V1: return is_amazon ? "AWS Graviton3" : "";
  case NEOVERSE_V2: /* Google's are virtual machines, or have Google as their vendor */
    if (is_amazon) return "AWS Graviton4";
    return here->is_virtual || strstr(f->vendor, "Google") ? "" : "NVIDIA Grace";
  default: return "";
  }
}

static int is_cpu(const struct dirent *e)
{
  return strncmp(e->d_name, "cpu", 3) == 0 && isdigit((unsigned char)e->d_name[3]);
}

/* Different packages of the CPUs that are online. With ACPI their numbers are arbitrary. 0: not shown. */
static int packages_of(const char *sysfs)
{
  enum { MOST = 64 };
  long seen[MOST];
  int n = 0;
  char path[4200];
  struct dirent **list = NULL;
  snprintf(path, sizeof path, "%s/devices/system/cpu", sysfs);
  int cpus = scandir(path, &list, is_cpu, NULL);
  for (int i = 0; i < cpus; i++) {
    char file[512], text[32];
    snprintf(file, sizeof file, "devices/system/cpu/%.64s/topology/physical_package_id", list[i]->d_name);
    long package = read_text(sysfs, file, text, sizeof text) ? strtol(text, NULL, 10) : -1;
    int k = 0;
    while (k < n && seen[k] != package) k++;
    if (package >= 0 && k == n && n < MOST) seen[n++] = package;
    free(list[i]);
  }
  if (cpus >= 0) free(list);
  return n;
}

void wtl_cpu_here_system(const char *sysfs, wtl_cpu_here *out)
{
  out->tdp_w = stated_tdp(sysfs);
  out->residency_s = longest_residency(sysfs);
  snprintf(out->chassis, sizeof out->chassis, "%s", chassis_of(sysfs));
  if (!is_arm(out)) return;
  firmware f = firmware_of(sysfs);
  out->is_virtual = is_guest(sysfs, &f);
  int packages = packages_of(sysfs);
  if (packages > 0 && packages <= out->cores) out->sockets = packages;
  if (*out->name) return;
  snprintf(out->name, sizeof out->name, "%s", name_by_part(out, &f));
  char name[sizeof out->name] = "";
  if (!strstr(f.vendor, "Amazon EC2")) name_by_table(sysfs, name, sizeof name);
  if (*name) memcpy(out->name, name, sizeof name);
  if (!*out->name) read_text(sysfs, "firmware/devicetree/base/model", out->name, sizeof out->name);
}
