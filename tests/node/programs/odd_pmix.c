/*
 * odd_pmix.c - preloaded library: a PMIx that answers as its interface allows, but not as the usual one does.
 *
 * ODD_PMIX=refuse: no handler is registered, and no callback is made. =handled: handlers are registered at once.
 * =fence: a fence ends at once. =peers: the PEs of the node are listed in falling order. =beyond: one of them does not
 * belong to the job. =crowd: leaving takes a while, and a PE that leaves reports how many do so (files in
 * $ODD_PMIX_PLACE). =mute: no answer comes to a request to end the job.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool odd(const char *kind)
{
  const char *asked = getenv("ODD_PMIX");
  if (!asked || strcmp(asked, kind) != 0) return false;
  fprintf(stderr, "odd: %s\n", kind);
  return true;
}

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[], size_t ninfo,
                                          pmix_notification_fn_t handler, pmix_hdlr_reg_cbfunc_t done, void *arg)
{
  pmix_status_t (*next)(pmix_status_t *, size_t, pmix_info_t *, size_t, pmix_notification_fn_t, pmix_hdlr_reg_cbfunc_t,
                        void *) = dlsym(RTLD_NEXT, "PMIx_Register_event_handler");
  if (odd("refuse")) return PMIX_ERR_NOT_SUPPORTED;
  if (odd("handled")) return PMIX_OPERATION_SUCCEEDED;
  return next(codes, ncodes, info, ninfo, handler, done, arg);
}

pmix_status_t PMIx_Abort(int status, const char message[], pmix_proc_t procs[], size_t nprocs)
{
  pmix_status_t (*next)(int, const char *, pmix_proc_t *, size_t) = dlsym(RTLD_NEXT, "PMIx_Abort");
  while (odd("mute")) pause();
  return next(status, message, procs, nprocs);
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t done, void *arg)
{
  pmix_status_t (*next)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t, pmix_op_cbfunc_t, void *) =
      dlsym(RTLD_NEXT, "PMIx_Fence_nb");
  static bool inside; /* PMIx_Fence is made of this one */
  if (inside || !odd("fence")) return next(procs, nprocs, info, ninfo, done, arg);
  inside = true;
  pmix_status_t rc = PMIx_Fence(procs, nprocs, info, ninfo);
  inside = false;
  return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[], size_t ninfo,
                       pmix_value_t **value)
{
  pmix_status_t (*next)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **) =
      dlsym(RTLD_NEXT, "PMIx_Get");
  pmix_status_t rc = next(proc, key, info, ninfo, value);
  if (rc == PMIX_SUCCESS && strcmp(key, PMIX_LOCAL_PEERS) == 0 && odd("peers")) {
    char *list = (*value)->data.string;
    for (char *a = list, *b = list + strlen(list); a < b; a++) { /* of one digit each */
      char c = *a;
      *a = *--b;
      *b = c;
    }
  }
  if (rc == PMIX_SUCCESS && strcmp(key, PMIX_LOCAL_PEERS) == 0 && odd("beyond")) (*value)->data.string[0] = '9';
  return rc;
}

static int entries(const char *folder)
{
  int n = 0;
  DIR *all = opendir(folder);
  while (all && readdir(all)) n++;
  if (all) closedir(all);
  return n - 2;
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
  pmix_status_t (*next)(const pmix_info_t *, size_t) = dlsym(RTLD_NEXT, "PMIx_Finalize");
  char path[4096];
  if (!odd("crowd")) return next(info, ninfo);
  snprintf(path, sizeof path, "%s/%d", getenv("ODD_PMIX_PLACE"), (int)getpid());
  close(open(path, O_CREAT | O_WRONLY, 0600));
  usleep(100000);
  fprintf(stderr, "leaving: %d\n", entries(getenv("ODD_PMIX_PLACE")));
  unlink(path);
  return next(info, ninfo);
}
