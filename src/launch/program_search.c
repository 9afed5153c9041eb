/* program_search.c - finds programs in PATH and examines their output. */
#include "launch/program_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char wtl_default_path[] = "/usr/local/bin:/usr/bin:/bin";

bool wtl_program_is_executable(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool wtl_program_in_path(const char *name, char *out, size_t size)
{
  char *path = strdup(getenv("PATH") ? getenv("PATH") : wtl_default_path), *save = NULL;
  bool found = false;
  for (char *dir = path ? strtok_r(path, ":", &save) : NULL; dir && !found; dir = strtok_r(NULL, ":", &save)) {
    snprintf(out, size, "%s/%s", dir, name);
    found = wtl_program_is_executable(out);
  }
  free(path);
  return found;
}

bool wtl_program_prints(const char *program, const char *arguments, const char *text)
{
  char command[4200], line[256];
  bool found = false;
  FILE *f;
  if (strchr(program, '\'')) return false; /* cannot be quoted for the shell */
  snprintf(command, sizeof command, "'%s' %s 2>&1 </dev/null", program, arguments);
  if (!(f = popen(command, "re"))) return false;
  while (fgets(line, sizeof line, f))
    found = found || strstr(line, text); /* read all, so that its writes do not fail */
  pclose(f);
  return found;
}

bool wtl_program_in_list(const char *list, const char *word)
{
  size_t n = strlen(word);
  for (const char *at = list; n && (at = strstr(at, word)) != NULL; at += n)
    if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
  return false;
}
