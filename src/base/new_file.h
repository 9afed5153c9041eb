/*
 * new_file.h - a file that is whole or not there, in a folder that others may write: it is written under a random name
 * beside its place and then renamed. A name that is there already, a planted link included, is never opened; a link at
 * the place itself is replaced, not followed. A FIFO, a device or a folder there, or a link to one, is refused.
 */
#ifndef WTL_BASE_NEW_FILE_H
#define WTL_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

enum { WTL_NEW_FILE_PATH = 4200 };

typedef struct wtl_new_file {
  FILE *out; /* what is written so far */
  char path[WTL_NEW_FILE_PATH], part[WTL_NEW_FILE_PATH];
} wtl_new_file;

/* Begins a file that is to lie at `path`. False where that is not possible, with errno. */
bool wtl_new_file_open(wtl_new_file *self, const char *path);

/* Closes it and puts it in its place. False where it could not be written whole, with errno: nothing is left of it. */
bool wtl_new_file_close(wtl_new_file *self);

#endif
