/*
 * json_read.h - reads JSON that may be anything: broken, nested without end, of another program.
 *
 * No tree is built. Each value that is no object and no list is shown with its path, "prices.fence.idle.median_s";
 * elements of a list are named by their number, from 0. What has a path longer than WTL_JSON_PATH is checked but not
 * shown. Text longer than WTL_JSON_TEXT bytes is cut. Numbers have a point in any locale.
 */
#ifndef WTL_BASE_JSON_READ_H
#define WTL_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

enum { WTL_JSON_PATH = 128, WTL_JSON_TEXT = 256, WTL_JSON_DEPTH = 16 };

enum wtl_json_kind { WTL_JSON_IS_NULL, WTL_JSON_IS_BOOL, WTL_JSON_IS_NUMBER, WTL_JSON_IS_TEXT };

typedef struct wtl_json_leaf {
  const char *path;
  enum wtl_json_kind kind;
  const char *text; /* of a text; "" else. A zero character in it ends it. */
  double number;    /* of a number; of true 1, of false 0 */
} wtl_json_leaf;

/* Shows every leaf of the one value that `text` is. Returns NULL, or what is wrong; leaves before that were shown. */
const char *wtl_json_read(const char *text, size_t length, void (*show)(void *arg, const wtl_json_leaf *leaf),
                          void *arg);

#endif
