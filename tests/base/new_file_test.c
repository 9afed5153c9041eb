/* Files in a folder that others may write: whole or not there, and never through a link that was put in the way. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "power/check.h"

static char folder[64], path[128], victim[128];

static void begin(void)
{
  strcpy(folder, "/tmp/wattle-new-XXXXXX");
  if (!mkdtemp(folder)) exit(2);
  snprintf(path, sizeof path, "%s/file", folder);
  snprintf(victim, sizeof victim, "%s/victim", folder);
}

static void end(void)
{
  remove(path);
  remove(victim);
  CHECK(rmdir(folder) == 0); /* nothing else is left in it */
}

static void write_text(const char *name, const char *text)
{
  FILE *f = fopen(name, "w");
  if (!f) exit(2);
  fputs(text, f);
  fclose(f);
}

static const char *text_of(const char *name)
{
  static char text[64];
  FILE *f = fopen(name, "r");
  text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
  if (f) fclose(f);
  return text;
}

static int files_in_folder(void)
{
  int n = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
  if (d) closedir(d);
  return n;
}

static void a_file_is_there_once_it_is_whole(void)
{
  wtl_new_file file;
  begin();
  write_text(path, "before");
  CHECK(wtl_new_file_open(&file, path));
  fputs("after", file.out);
  CHECK_TEXT(text_of(path), "before");
  CHECK(files_in_folder() == 2);
  CHECK(wtl_new_file_close(&file));
  CHECK_TEXT(text_of(path), "after");
  end();
}

static void a_link_in_its_place_is_replaced_and_not_followed(void)
{
  wtl_new_file file;
  begin();
  write_text(victim, "mine");
  if (symlink(victim, path) != 0) exit(2);
  CHECK(wtl_new_file_open(&file, path));
  fputs("profile", file.out);
  CHECK(wtl_new_file_close(&file));
  CHECK_TEXT(text_of(victim), "mine");
  CHECK_TEXT(text_of(path), "profile");
  end();
}

static void a_non_file_is_refused_and_stays(void)
{
  wtl_new_file file;
  struct stat st;
  begin();
  if (mkfifo(path, 0600) != 0 || symlink(path, victim) != 0) exit(2);
  CHECK(!wtl_new_file_open(&file, path) && errno == EEXIST);
  CHECK(!wtl_new_file_open(&file, victim) && errno == EEXIST); /* as where it is a link to /dev/null */
  CHECK(stat(path, &st) == 0 && S_ISFIFO(st.st_mode) && files_in_folder() == 2);
  remove(path);
  if (mkdir(path, 0700) != 0) exit(2);
  CHECK(!wtl_new_file_open(&file, path) && errno == EISDIR);
  remove(path);
  CHECK(wtl_new_file_open(&file, path));
  if (mkfifo(path, 0600) != 0) exit(2); /* while it is written */
  CHECK(!wtl_new_file_close(&file) && errno == EEXIST);
  CHECK(stat(path, &st) == 0 && S_ISFIFO(st.st_mode));
  end();
}

/* No user can put a link at the name under which the file is written, because this name differs each time. */
static void the_name_that_it_is_written_under_is_new_each_time(void)
{
  wtl_new_file one, other;
  begin();
  CHECK(wtl_new_file_open(&one, path));
  CHECK(wtl_new_file_open(&other, path));
  CHECK(strcmp(one.part, other.part) != 0);
  CHECK(wtl_new_file_close(&one));
  CHECK(wtl_new_file_close(&other));
  end();
}

static void nothing_is_left_of_a_file_that_cannot_be_written(void)
{
  wtl_new_file file;
  begin();
  CHECK(wtl_new_file_open(&file, path));
  fclose(file.out);
  file.out = fopen("/dev/full", "w");
  fputs("profile", file.out);
  CHECK(!wtl_new_file_close(&file));
  CHECK(errno == ENOSPC);
  CHECK(files_in_folder() == 0);
  end();
}

static void a_folder_that_is_not_there_is_an_error(void)
{
  wtl_new_file file;
  CHECK(!wtl_new_file_open(&file, "/nonexistent/folder/file"));
  CHECK(errno == ENOENT);
}

static void a_path_too_long_is_an_error(void)
{
  static char name[2 * WTL_NEW_FILE_PATH];
  wtl_new_file file;
  memset(name, 'x', sizeof name - 1);
  CHECK(!wtl_new_file_open(&file, name));
  CHECK(errno == ENAMETOOLONG);
}

TESTS(TEST(a_file_is_there_once_it_is_whole), TEST(a_link_in_its_place_is_replaced_and_not_followed),
      TEST(a_non_file_is_refused_and_stays), TEST(the_name_that_it_is_written_under_is_new_each_time),
      TEST(nothing_is_left_of_a_file_that_cannot_be_written), TEST(a_folder_that_is_not_there_is_an_error),
      TEST(a_path_too_long_is_an_error))
