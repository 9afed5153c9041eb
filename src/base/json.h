/*
 * json.h - writes the few forms of JSON that profiles and wattle-info need.
 *
 * A number that is not finite and a text that is NULL become null, never 0.
 */
#ifndef WTL_BASE_JSON_H
#define WTL_BASE_JSON_H

#include <stdio.h>

void wtl_json_text(FILE *f, const char *text);
void wtl_json_number(FILE *f, double value);

/*
 * Writes a form such as "{'name':%s,'wall_s':%g,'good':%i}". Each ' becomes a quotation mark. %s is a text, %g a number
 * and %i true or false. %d, %ld, %zu and %ju are whole numbers, %jx is one in hexadecimal. There are no others.
 */
void wtl_json(FILE *f, const char *form, ...) __attribute__((format(printf, 2, 3)));

/* Writes "key": and the value, with a comma before it unless `first`. */
void wtl_json_key(FILE *f, const char *key, int first);
void wtl_json_number_field(FILE *f, const char *key, double value, int first);
void wtl_json_text_field(FILE *f, const char *key, const char *value, int first);

#endif
