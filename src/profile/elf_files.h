/*
 * elf_files.h - the files that the process has loaded or had loaded, each with a number that it keeps.
 *
 * A file that is unloaded keeps its number and its name. If it is loaded again at the same address, it has the same
 * number. All functions but wtl_elf_file_is_at are called by one thread at a time (call_path.c).
 */
#ifndef WTL_PROFILE_ELF_FILES_H
#define WTL_PROFILE_ELF_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/frame_rule.h"
#include "profile/modules.h"

enum { WTL_MOST_ELF_FILES = 4096 };

/* Finds the files that were loaded or unloaded since the last call. Returns whether there were any. */
bool wtl_elf_files_update(void);

/* The number of the file that contains `addr` at present; -1: none. */
int32_t wtl_elf_file_of(uintptr_t addr);

/* Returns the file's path, build id and addresses. Valid until the process ends. */
const wtl_module *wtl_elf_file(int32_t file);

/* The rule for the frames of the code at `addr` in that file (-1: no rule). */
wtl_frame_rule wtl_elf_file_rule(int32_t file, uintptr_t addr);

/* Returns whether the file is the C library or the dynamic linker. */
bool wtl_elf_file_is_libc(int32_t file);

/* Returns whether the file was loaded with the program, so that it is never unloaded. */
bool wtl_elf_file_stays(int32_t file);

/* Returns whether `addr` is still in that file. Any thread may call it, with the number of a file that it has seen. */
bool wtl_elf_file_is_at(int32_t file, uintptr_t addr);

#endif
