/* module_path.h - finds the modules of this installation: libraries that are loaded only where they are wanted. */
#ifndef WTL_BASE_MODULE_PATH_H
#define WTL_BASE_MODULE_PATH_H

#include <stddef.h>

/* Writes the path of the module libwattle-NAME.so, which lies in the folder of libwattle. */
void wtl_library_module_path(const char *name, char *path, size_t size);

#endif
