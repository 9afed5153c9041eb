/* ucx_paths.h - names the transports and devices by which an endpoint of UCX reaches its PE. */
#ifndef WTL_FABRIC_UCX_PATHS_H
#define WTL_FABRIC_UCX_PATHS_H

#include <ucp/api/ucp.h>

/* Gets one path, such as "tcp/eth0" or "rc_mlx5/mlx5_0:1", valid during the call. */
typedef void wtl_ucx_path_fn(void *arg, const char *path);

/* Calls `take` for each path of the endpoint. A path may come several times. There is none if memory is short. */
void wtl_ucx_paths_each(ucp_ep_h ep, wtl_ucx_path_fn *take, void *arg);

#endif
