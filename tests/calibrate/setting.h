/* setting.h - the settings of a program that is started with one of them given. */
#ifndef WTL_TESTS_CALIBRATE_SETTING_H
#define WTL_TESTS_CALIBRATE_SETTING_H

#include <stdlib.h>

#include "base/settings.h"
#include "power/check.h"

static inline wtl_settings with_setting(const char *name, const char *value)
{
  wtl_settings s;
  char errors[512];
  setenv(name, value, 1);
  CHECK(wtl_settings_parse(&s, errors, sizeof errors) == 0);
  unsetenv(name);
  return s;
}

#endif
