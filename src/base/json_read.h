/*
 * json_read.h - reads JSON that may be broken, nested without end, or of another program.
 *
 * It builds no tree. The caller receives each value except objects and lists with its path, such as
 * "prices.fence.idle.median_s". List elements are named by their number, from 0. A value with a path longer than
 * WTL_JSON_PATH is checked but not reported. Text longer than WTL_JSON_TEXT bytes is cut. Numbers have a point in any
 * locale.
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
  const char *text; /* of a text; otherwise "". A NUL in it ends it. */
  double number;    /* of a number; of true 1, of false 0 */
} wtl_json_leaf;

/* Reports every leaf of the one value in `text`. Returns NULL, or the error; leaves before it were reported. */
const char *wtl_json_read(const char *text, size_t length, void (*show)(void *arg, const wtl_json_leaf *leaf),
                          void *arg);

#endif
