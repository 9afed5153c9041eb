/*
 * boot_text.h - what launchers and PEs tell each other as text while a job starts. It becomes indices and lengths, so
 * that none of it is taken which no PE of a job of `n_pes` PEs could have said.
 */
#ifndef WTL_NODE_BOOT_TEXT_H
#define WTL_NODE_BOOT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of different PEs, "0,1,5", in any order: fills in out[n_pes], lowest first, and returns their number; -1 where
 * it is none. */
int wtl_boot_read_peers(const char *list, int n_pes, int out[]);

/* "3 1f2e": the first PE of a node, and which program a PE of it runs. */
bool wtl_boot_read_leader(const char *text, int n_pes, int *leader, uint64_t *program);

/* Bytes, each as two hexadecimal digits: fills in up to `size` of them, and returns their number; -1 where the text is
 * none, or longer. */
ptrdiff_t wtl_boot_read_bytes(const char *text, unsigned char *out, size_t size);

#endif
