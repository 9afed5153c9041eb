/*
 * library_module.h - finds and loads the modules of this installation: libraries that are loaded only where they are
 * wanted.
 *
 * DESIGN. libwattle and libwattle-shmem need libc and libm alone. The code that needs another library is a module
 * beside them, libwattle-NAME.so. One table (library_module.c) lists these modules with the packages that they need. A
 * build leaves out a module whose library it does not find. The modules for an MPI are apart (node/boot_mpi_load.c,
 * mpi/preload.c): they are chosen by the MPI of the process.
 */
#ifndef WTL_BASE_LIBRARY_MODULE_H
#define WTL_BASE_LIBRARY_MODULE_H

#include <stddef.h>

/* Writes the folder of libwattle, and these three parts of a name. */
void wtl_library_path(const char *before, const char *name, const char *after, char *path, size_t size);

/* Writes the path of the module libwattle-NAME.so, which lies in the folder of libwattle. */
void wtl_library_module_path(const char *name, char *path, size_t size);

/* Loads a module of the table for as long as the process lives. Returns the address of its symbol. Returns NULL with
 * the reason and the remedy in `error` if it is missing, or if its library is. */
void *wtl_library_module_load(const char *name, char *error, size_t size);

#endif
