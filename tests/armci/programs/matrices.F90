! Global Arrays from Fortran: a product by blocks that processes take from a shared counter, checked against ga_dgemm.
program matrices
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  include 'mpif.h'
  integer, parameter :: n = 60, block = 20
  integer :: g_a, g_b, g_c, g_d, g_next, me, task, i, j, k, ierr
  integer :: dims(2), one_dim(1), chunk(2), one(1)
  double precision :: a(block, block), b(block, block), c(block, block), x(n, n)
  logical :: ok
  call mpi_init(ierr)
  call ga_initialize()
  ok = ma_init(MT_DBL, 200000, 200000)
  me = ga_nodeid()
  dims = n
  chunk = -1
  one_dim = 1
  one = 1
  ok = nga_create(MT_DBL, 2, dims, 'a', chunk, g_a)
  ok = ok .and. ga_duplicate(g_a, g_b, 'b') .and. ga_duplicate(g_a, g_c, 'c') .and. ga_duplicate(g_a, g_d, 'd')
  ok = ok .and. nga_create(MT_INT, 1, one_dim, 'next', one_dim, g_next)
  if (.not. ok) call ga_error('no arrays', 1)
  if (me == 0) then
    do j = 1, n
      do i = 1, n
        x(i, j) = mod(i * 7 + j * 3, 13) - 6
      end do
    end do
    call ga_put(g_a, 1, n, 1, n, x, n)
    call ga_put(g_b, 1, n, 1, n, transpose(x), n)
  end if
  call ga_zero(g_c)
  call ga_zero(g_next)
  call ga_sync()
  do
    task = nga_read_inc(g_next, one, 1)
    if (task >= (n / block)**2) exit
    i = mod(task, n / block) * block
    j = task / (n / block) * block
    do k = 0, n - block, block
      call ga_get(g_a, i + 1, i + block, k + 1, k + block, a, block)
      call ga_get(g_b, k + 1, k + block, j + 1, j + block, b, block)
      c = matmul(a, b)
      call ga_acc(g_c, i + 1, i + block, j + 1, j + block, c, block, 1d0)
    end do
  end do
  call ga_sync()
  call ga_dgemm('n', 'n', n, n, n, 1d0, g_a, g_b, 0d0, g_d)
  if (me == 0) print '(a,2f20.6)', 'products', ga_ddot_by_0(g_c), ga_ddot_by_0(g_d)
  call ga_sync()
  call ga_terminate()
  call mpi_finalize(ierr)
contains
  double precision function ga_ddot_by_0(g)
    integer, intent(in) :: g
    call ga_get(g, 1, n, 1, n, x, n)
    ga_ddot_by_0 = sum(x * x)
  end function
end program
