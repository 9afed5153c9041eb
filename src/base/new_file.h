/*
 * new_file.h - writes a file that is either complete or absent, in a folder that others may write.
 *
 * The file is written under a random name in the same folder and then renamed. An existing name, such as a planted
 * link, is never opened. A link at the final path is replaced, not followed. A FIFO, a device or a folder there, or a
 * link to one, is refused.
 */
#ifndef WTL_BASE_NEW_FILE_H
#define WTL_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/sigpipe.h"

enum { WTL_NEW_FILE_PATH = 4200 };

typedef struct wtl_new_file {
  FILE *out; /* the data written so far */
  char path[WTL_NEW_FILE_PATH], part[WTL_NEW_FILE_PATH];
  wtl_sigpipe signals; /* those of writes are held until the file is closed */
} wtl_new_file;

/* Lets the owner read and write a new file of this library, which the program's umask may forbid. */
static inline void wtl_new_file_admit_owner(int fd)
{
  struct stat st;
  if (fstat(fd, &st) == 0 && (st.st_mode & (S_IRUSR | S_IWUSR)) != (S_IRUSR | S_IWUSR))
    (void)!fchmod(fd, (st.st_mode & ACCESSPERMS) | S_IRUSR | S_IWUSR);
}

/* Begins a file for `path`, which the calling thread writes and closes. False with errno if that is not possible. */
bool wtl_new_file_open(wtl_new_file *self, const char *path);

/* Closes the file and renames it to its path. If it could not be written completely, it is removed: false with
 * errno. */
bool wtl_new_file_close(wtl_new_file *self);

#endif
