/*
 * boot_text.h - reads the text that launchers and PEs exchange while a job starts. The text becomes indices and
 * lengths, so each function refuses values that no PE of a job of `n_pes` PEs can have sent.
 */
#ifndef WTL_NODE_BOOT_TEXT_H
#define WTL_NODE_BOOT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a list of different PEs in any order, such as "0,1,5", into out[n_pes], lowest first. Returns their number;
 * -1 if the text is no such list. */
int wtl_boot_read_peers(const char *list, int n_pes, int out[]);

/* Reads the first PE of a node and the number of its program, such as "3 1f2e". Returns false if the text has
 * another form. */
bool wtl_boot_read_leader(const char *text, int n_pes, int *leader, uint64_t *program);

/* Reads up to `size` bytes, each as two hexadecimal digits. Returns their number; -1 if the text has another form or
 * is longer. */
ptrdiff_t wtl_boot_read_bytes(const char *text, unsigned char *out, size_t size);

#endif
