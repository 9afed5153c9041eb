/* boot_kinds.c - lists the kinds of boot of a build whose PEs are processes. */
#include <stddef.h>

#include "node/boot.h"

const wtl_boot_ops *const wtl_boot_kinds[] = {&wtl_boot_pmix, &wtl_boot_mpi, &wtl_boot_single, NULL};
