/*
 * boot_pmix.h - the interface between boot and the module that calls PMIx (libwattle-boot-pmix.so).
 *
 * DESIGN. boot_pmix.c is the kind: it loads the module where a launcher offers PMIx, and gives the boot the module's
 * operations. boot_pmix_module.c alone calls PMIx. A program without a launcher, or on a system without PMIx, loads
 * neither.
 */
#ifndef WTL_NODE_BOOT_PMIX_H
#define WTL_NODE_BOOT_PMIX_H

#include "node/boot.h"

/* Exported by the module as wtl_pmix_module. */
typedef struct wtl_pmix_entry {
  const char *version; /* of Wattle; both sides must have the same */
  const wtl_boot_ops *ops;
  void (*on_launcher_lost)(void (*lost)(void)); /* sets the function that PMIx's own thread calls; before the start */
} wtl_pmix_entry;

#endif
