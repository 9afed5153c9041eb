/* header_test.c - wattle.h is plain C99, alone and first. */
#include "wattle.h"

int main(void)
{
  return wattle_provenance_name(WATTLE_MEASURED)[0] != 'm' || wattle_scope_name(WATTLE_SCOPE_DEVICE)[0] != 'd';
}
