/* am_handlers.h - the handlers of a PE by their number, which is any int. A search takes no lock and little time,
 * however many there are. */
#ifndef WTL_AM_AM_HANDLERS_H
#define WTL_AM_AM_HANDLERS_H

#include <stdbool.h>

#include "am/am.h"

typedef struct wtl_am_handlers wtl_am_handlers;

/* Sets a handler, which must not be NULL. A number that was set stays set. Makes *h if it is NULL, and replaces it
 * if it is too small. One thread at a time. Returns false without memory. */
bool wtl_am_handlers_set(wtl_am_handlers *_Atomic *h, int id, wtl_am_handler handler);

/* Returns the handler, or NULL if there is none. `h` may be NULL. */
wtl_am_handler wtl_am_handlers_find(const wtl_am_handlers *h, int id);

void wtl_am_handlers_free(wtl_am_handlers *h);

#endif
