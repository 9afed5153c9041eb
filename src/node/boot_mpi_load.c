/*
 * boot_mpi_load.c - finds the MPI of this process and loads the module for it.
 *
 * The MPI that the program has loaded comes first, under any launcher. Otherwise the launcher's own MPI is used.
 *
 * A module is compiled for a binary interface and names no library of it. Its calls bind to symbols that are already
 * loaded. So the MPI is made visible to all (RTLD_GLOBAL) before the module is loaded. Open MPI also needs that
 * visibility for its plugins. If the program has no MPI, the launcher's MPI is loaded by libwattle-load-mpi-NAME.so,
 * which is empty and linked with the MPI that was there at build time.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/loaded_mpi.h"
#include "base/library_module.h"
#include "node/boot.h"
#include "node/boot_mpi.h"

enum { LIBRARY_TEXT = 8192 }; /* the largest MPI_MAX_LIBRARY_VERSION_STRING of all MPIs */

static char note[512];

const char *wtl_boot_mpi_note(void)
{
  return note;
}

/* --- an MPI that is loaded already --- */

typedef int flag_call(int *);
typedef int text_call(char *, int *);

/* dlsym returns a pointer to data, and C has no cast from that to a pointer to a function. */
#define FUNCTION(type, name, from) (*(type **)&(void *){dlsym(from, name)})

static bool is_initialised(void *handle)
{
  flag_call *initialised = FUNCTION(flag_call, "PMPI_Initialized", handle);
  flag_call *finalised = FUNCTION(flag_call, "PMPI_Finalized", handle);
  int up = 0, down = 0;
  if (initialised && finalised) initialised(&up), finalised(&down);
  return up && !down;
}

/* Copies the first words of "MPICH Version: 4.0.2\nMPICH Release date: ..." or "Open MPI v4.1.4, package: ...". */
static void describe(void *handle, char *out, size_t size)
{
  static char text[LIBRARY_TEXT + 1];
  text_call *get = FUNCTION(text_call, "PMPI_Get_library_version", handle);
  int length = 0;
  size_t n = 0;
  if (!get || get(text, &length) != 0) snprintf(text, sizeof text, "an MPI before version 3");
  for (const char *c = text; *c && !strchr("\n,", *c) && n + 1 < size; c++) {
    bool space = *c == ' ' || *c == '\t';
    if (!space || (n && out[n - 1] != ' ')) out[n++] = space ? ' ' : *c;
  }
  out[n] = '\0';
}

/* --- modules --- */

static bool is_served_by_pmi(void)
{
  return getenv("PMI_RANK") && (getenv("PMI_FD") || getenv("PMI_PORT"));
}

bool wtl_boot_mpi_hydra_is_nearest(void)
{
  const char *n = getenv("PMI_SIZE");
  return getenv("MPI_LOCALRANKID") && is_served_by_pmi() && n && atoi(n) > 1 && !getenv("OMPI_COMM_WORLD_RANK");
}

/* Returns the name of the module for the MPI of the launcher's variables; NULL if there are none. */
static const char *module_of_launcher(void)
{
  if (wtl_boot_mpi_hydra_is_nearest()) return "mpich";
  if (getenv("OMPI_COMM_WORLD_RANK") || getenv("PMIX_NAMESPACE")) return "openmpi";
  return is_served_by_pmi() ? "mpich" : NULL;
}

/* Prepares the environment for an MPI that only boot uses, before it is loaded. */
static void prepare_environment(void)
{
  const char *session = getenv("PMIX_SERVER_TMPDIR");
  /* UCX, on which an MPI may be built, reads these when it is loaded. It must leave signals to the program. */
  setenv("UCX_HANDLE_ERRORS", "none", 0);
  setenv("UCX_DEBUG_SIGNO", "0", 0);
  /* Open MPI's shared memory is then removed with the job's folder. It would stay in /dev/shm after a kill. */
  if (session) setenv("OMPI_MCA_btl_vader_backing_directory", session, 0);
}

/* Loads the MPI itself for a program that has none. Returns NULL with the reason in `why`. */
static void *load_library(const char *name, char *why, size_t size)
{
  char path[4200], loader[64];
  snprintf(loader, sizeof loader, "load-mpi-%s", name);
  wtl_library_module_path(loader, path, sizeof path);
  prepare_environment();
  void *handle = dlopen(path, RTLD_NOW | RTLD_NODELETE | RTLD_GLOBAL);
  if (!handle) snprintf(why, size, "%s", dlerror());
  return handle;
}

static int open_module(wtl_mpi *mpi, const char *name, char *error, size_t size)
{
  char path[4200], module_name[64], why[1024] = "it is of another version of Wattle";
  snprintf(module_name, sizeof module_name, "boot-mpi-%s", name);
  wtl_library_module_path(module_name, path, sizeof path);
  void *library = mpi->shared ? NULL : load_library(name, why, sizeof why), *module = NULL;
  if ((mpi->shared || library) && !(module = dlopen(path, RTLD_LAZY | RTLD_NODELETE | RTLD_LOCAL)))
    snprintf(why, sizeof why, "%s", dlerror());
  const wtl_mpi_ops *ops = module ? dlsym(module, "wtl_mpi_module") : NULL;
  if (!ops || ops->version != WTL_MPI_OPS_VERSION) {
    snprintf(error, size,
             "boot by MPI needs Wattle's module libwattle-boot-mpi-%s.so, which cannot be loaded: %s (Wattle builds it "
             "where that MPI's compiler wrapper is found: cmake -DWTL_MPICC=/path/to/mpicc)",
             name, why);
    return WTL_EXIT_UNAVAILABLE;
  }
  if (library) describe(library, mpi->library, sizeof mpi->library);
  mpi->ops = ops;
  mpi->module = module;
  return 0;
}

/* Returns whether an Open MPI program runs under MPICH's launcher. Each process would be a job of its own. */
static bool is_mismatch(const char *name, void *handle)
{
  return strcmp(name, "openmpi") == 0 && wtl_boot_mpi_hydra_is_nearest() && !is_initialised(handle);
}

static int load(wtl_mpi *mpi, char *error, size_t size)
{
  void *handle = wtl_loaded_mpi();
  const char *name;
  if (handle) {
    mpi->shared = true;
    describe(handle, mpi->library, sizeof mpi->library);
    name = wtl_loaded_mpi_interface(handle);
  } else {
    name = module_of_launcher();
  }
  if (name && handle && is_mismatch(name, handle)) {
    snprintf(error, size,
             "MPICH's mpiexec started this program, but the program is linked with %s: start it with that MPI's mpirun",
             mpi->library);
    return WTL_EXIT_UNAVAILABLE;
  }
  if (name) return open_module(mpi, name, error, size);
  if (handle)
    snprintf(error, size,
             "boot by MPI: there is no module for this program's MPI, %s (only for Open MPI, "
             "MPICH and the standard interface of MPI 5)",
             mpi->library);
  else
    snprintf(error, size,
             "WATTLE_BOOT=mpi, but the program is not linked with an MPI and no launcher of one started it (no "
             "OMPI_COMM_WORLD_RANK, no PMI_FD). Start it with MPICH's mpiexec or Open MPI's mpirun, or unset "
             "WATTLE_BOOT");
  return WTL_EXIT_UNAVAILABLE;
}

static wtl_mpi found; /* one for a process, because MPI starts once */

int wtl_boot_mpi_load(wtl_mpi *mpi, char *error, size_t size)
{
  int rc = found.ops ? 0 : load(&found, error, size);
  if (rc == 0)
    snprintf(note, sizeof note, "%s", found.library);
  else
    snprintf(note, sizeof note, "%s", error);
  *mpi = found;
  return rc;
}

bool wtl_boot_mpi_of_program(wtl_mpi *mpi)
{
  char error[512];
  return wtl_loaded_mpi() && wtl_boot_mpi_load(mpi, error, sizeof error) == 0;
}

bool wtl_boot_mpi_is_confined(void)
{
  return found.ops && found.ops->is_confined();
}

/* --- number of processes --- */

static int number_in(const char *variable)
{
  const char *text = getenv(variable);
  return text ? atoi(text) : 0;
}

/* Returns whether a launcher that serves PMIx started several processes. Boot by PMIx comes first, so boot by MPI is
 * asked only where that is unavailable. */
static bool is_started_by_pmix(void)
{
  return getenv("PMIX_NAMESPACE") && (number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("SLURM_STEP_NUM_TASKS") > 1);
}

bool wtl_boot_mpi_is_offered(void)
{
  char error[512];
  wtl_mpi mpi;
  void *handle = wtl_loaded_mpi();
  if (handle && is_initialised(handle))
    return wtl_boot_mpi_load(&mpi, error, sizeof error) == 0 && mpi.ops->in_use() > 1;
  return is_served_by_pmi() ? number_in("PMI_SIZE") > 1 : is_started_by_pmix();
}
