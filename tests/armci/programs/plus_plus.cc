// ARMCI's headers from C++, plain and within a linkage specification, as programs have them.
extern "C" {
#include <mp3.h>
}
extern "C" {
#include <armci.h>
}
#include <armcix.h>
#include <message.h>

#include <vector>

static_assert(ARMCI_ACC_DBL == 3 && ARMCI_SWAP_LONG == 3 && SCOPE_NODE == 1 && ARMCI_DOUBLE == 4,
              "numbers of ARMCI-MPI");

int main(int argc, char **argv)
{
  ARMCI_Init_args(&argc, &argv);
  int me = armci_msg_me(), n = armci_msg_nproc(), wrong = 0;
  std::vector<void *> memory(static_cast<size_t>(n));
  armci_hdl_t handle;
  ARMCI_Group world;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_Group_get_world(&world);
  ARMCI_Malloc(memory.data(), sizeof(double));
  double one = 1, value = me, sum = 0;
  *static_cast<double *>(memory[static_cast<size_t>(me)]) = 0;
  ARMCI_Barrier();
  for (int p = 0; p < n; p++)
    ARMCI_NbAcc(ARMCI_ACC_DBL, &one, &value, memory[static_cast<size_t>(p)], sizeof value, p, &handle);
  ARMCI_Wait(&handle);
  ARMCI_Barrier();
  ARMCI_Get(memory[0], &sum, sizeof sum, 0);
  wrong += sum != n * (n - 1) / 2;
  armci_msg_group_igop(&wrong, 1, const_cast<char *>("+"), &world);
  ARMCI_Free(memory[static_cast<size_t>(me)]);
  ARMCI_Finalize();
  return wrong;
}
