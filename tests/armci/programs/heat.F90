! Global Arrays from Fortran: heat in a plate by Jacobi's method, elements gathered and scattered, sums under a lock and over groups. What it
! prints does not depend on the number of processes.
program heat
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  include 'mpif.h'
  integer :: me, n, ierr
  logical :: ok
  call mpi_init(ierr)
  call ga_initialize()
  ok = ma_init(MT_DBL, 200000, 200000)
  me = ga_nodeid()
  n = ga_nnodes()
  call plate()
  call elements()
  call locked_sum()
  call groups()
  call ghosts()
  call ga_terminate()
  call mpi_finalize(ierr)
contains
  integer function matrix(name, rows, columns)
    character(*), intent(in) :: name
    integer, intent(in) :: rows, columns
    integer :: dims(2), chunk(2)
    dims = [rows, columns]
    chunk = -1
    if (.not. nga_create(MT_DBL, 2, dims, name, chunk, matrix)) call ga_error('no array', 1)
    call ga_zero(matrix)
  end function

  subroutine say(what, value)
    character(*), intent(in) :: what
    double precision, intent(in) :: value
    if (me == 0) print '(a,f20.8)', what, value
  end subroutine

  subroutine plate()
    integer, parameter :: side = 40
    integer :: old, new, other, first, last, i, j, steps
    double precision :: x(side, side), y(side, side), change(1)
    old = matrix('old', side, side)
    new = matrix('new', side, side)
    x = 0
    x(:, 1) = 100
    if (me == 0) then
      call ga_put(old, 1, side, 1, side, x, side)
      call ga_put(new, 1, side, 1, side, x, side)
    end if
    call ga_sync()
    first = 2 + (side - 2) * me / n
    last = 1 + (side - 2) * (me + 1) / n
    steps = 0
    do
      change = 0
      if (last >= first) then
        call ga_get(old, 1, side, first - 1, last + 1, x(1, first - 1), side)
        do j = first, last
          do i = 2, side - 1
            y(i, j) = (x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1)) / 4
            change = max(change, abs(y(i, j) - x(i, j)))
          end do
        end do
        call ga_put(new, 2, side - 1, first, last, y(2, first), side)
      end if
      call ga_sync()
      call ga_dgop(17, change, 1, 'max')
      steps = steps + 1
      other = old
      old = new
      new = other
      if (change(1) < 0.05d0) exit
    end do
    call say('steps', dble(steps))
    call ga_get(old, 1, side, 1, side, x, side)
    call say('heat', sum(x))
    call ga_sync()
    ok = ga_destroy(old) .and. ga_destroy(new)
  end subroutine

  subroutine elements()
    integer, parameter :: many = 150, side = 50
    integer :: a, i, rows(many), columns(many)
    double precision :: values(many), got(many)
    a = matrix('elements', side, side)
    do i = 1, many
      rows(i) = 1 + mod(i * 7, side)
      columns(i) = 1 + mod(i / 3 + i, side)
      values(i) = i
    end do
    if (me == n - 1) call ga_scatter(a, values, rows, columns, many)
    call ga_sync()
    call ga_scatter_acc(a, values, rows, columns, many, 1d0)
    call ga_sync()
    call ga_gather(a, got, rows, columns, many)
    call say('gathered', sum((got - values * (1 + n))**2))
    call ga_sync()
    ok = ga_destroy(a)
  end subroutine

  subroutine locked_sum()
    integer :: a, i
    double precision :: v(1)
    a = matrix('sum', 3, 3)
    ok = ga_create_mutexes(2)
    do i = 1, 20
      call ga_lock(1)
      call ga_get(a, 2, 2, 3, 3, v, 1)
      v = v + 1
      call ga_init_fence()
      call ga_put(a, 2, 2, 3, 3, v, 1)
      call ga_fence()
      call ga_unlock(1)
    end do
    call ga_sync()
    call ga_get(a, 2, 2, 3, 3, v, 1)
    call say('under a lock', v(1) / n)
    ok = ga_destroy_mutexes()
    ok = ga_destroy(a)
  end subroutine

  subroutine groups()
    integer :: list(n), i, k, group
    double precision :: x(2), want
    k = 0
    want = 0
    do i = mod(me, 2), n - 1, 2
      k = k + 1
      list(k) = i
      want = want + i + 1
    end do
    group = ga_pgroup_create(list, k)
    x = me + 1
    call ga_pgroup_dgop(group, MT_DBL, x, 2, '+')
    call say('over a group', x(2) - want)
    x = me
    call ga_pgroup_brdcst(group, MT_DBL, x, 16, 0)
    call say('from its first one', x(1) - mod(me, 2))
    call ga_pgroup_sync(group)
    ok = ga_pgroup_destroy(group)
    call ga_sync()
  end subroutine

  subroutine ghosts()
    integer, parameter :: rows = 30, columns = 24
    integer :: a, dims(2), width(2), chunk(2), lo(2), hi(2), i, j
    double precision :: x(rows, columns), y(rows + 2, columns + 4), wrong(1)
    dims = [rows, columns]
    width = [1, 2]
    chunk = -1
    if (.not. nga_create_ghosts(MT_DBL, 2, dims, width, 'ghosts', chunk, a)) call ga_error('no array', 2)
    do j = 1, columns
      do i = 1, rows
        x(i, j) = i * 100 + j
      end do
    end do
    if (me == 0) call ga_put(a, 1, rows, 1, columns, x, rows)
    call ga_sync()
    call ga_update_ghosts(a)
    wrong = 0
    call nga_distribution(a, me, lo, hi)
    if (hi(1) >= lo(1) .and. lo(1) > 0) then
      lo = lo - width
      hi = hi + width
      y = -1
      call nga_periodic_get(a, lo, hi, y, [rows + 2])
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          if (y(i - lo(1) + 1, j - lo(2) + 1) /= x(1 + modulo(i - 1, rows), 1 + modulo(j - 1, columns))) wrong = wrong + 1
        end do
      end do
    end if
    call ga_dgop(18, wrong, 1, '+')
    call say('wrong around the patches', wrong(1))
    ok = ga_destroy(a)
  end subroutine
end program
