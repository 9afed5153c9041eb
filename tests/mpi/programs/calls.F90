! Every MPI call that the preload library has a Fortran entry for, with its result checked. Compiled three times: with
! mpif.h (USE_MPIF), the module mpi (USE_MPI) and the module mpi_f08 (USE_F08). On 3 processes or more; usage: calls FILE
#ifdef USE_F08
#define H(kind) type(kind)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define TAG_OF(s) s%MPI_TAG
#define SOURCE_OF(s) s%MPI_SOURCE
#else
#define H(kind) integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define TAG_OF(s) s(MPI_TAG)
#define SOURCE_OF(s) s(MPI_SOURCE)
#endif

program calls
#ifdef USE_MPI
  use mpi
#elif defined(USE_F08)
  use mpi_f08
#endif
  implicit none
#ifdef USE_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: most = 64
  integer :: me, n, e, before, after, asked
  integer :: buffer(16384)
  H(MPI_Comm) :: comm, ring
  character(len=500) :: file_name
  integer(kind=MPI_ADDRESS_KIND) :: address
#ifdef USE_F08
  call MPI_Init()
#else
  call MPI_Init(e)
#endif
  call get_command_argument(1, file_name)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
  call MPI_Comm_rank(comm, me, e)
  call MPI_Comm_size(comm, n, e)
  call check(n >= 3 .and. n <= most, 'processes')
  before = mod(me + n - 1, n)
  after = mod(me + 1, n)
  call MPI_Buffer_attach(buffer, 65536, e)
  call MPI_Dist_graph_create_adjacent(comm, 2, [before, after], [1, 1], 2, [before, after], [1, 1], &
                                      MPI_INFO_NULL, .false., ring, e)
  call between_two()
  call collectives(.false.)
  call collectives(.true.)
  call requests()
  call communicators()
  call windows()
  call files()
  call general_requests()
  call detach()
  call MPI_Comm_free(ring, e)
  call MPI_Comm_free(comm, e)
  if (me == 0) print '(a)', 'all as it should be'
  call MPI_Finalize(e)

contains

  subroutine check(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    integer :: error
    if (good) return
    print *, 'rank ', me, ': not so: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  subroutine finish(r)
    H(MPI_Request), intent(inout) :: r
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call check(e == MPI_SUCCESS, 'MPI_Wait')
  end subroutine

  subroutine between_two()
    integer :: in(8), out(8), i
    H(MPI_Request) :: r, ready(2)
    H(MPI_Message) :: m
    STATUS(s)
    in = 0
    do i = 1, 8
      out(i) = 100 * me + i
    end do
    if (me == 0) then
      call MPI_Send(out, 8, MPI_INTEGER, after, 1, comm, e)
      call MPI_Ssend(out, 8, MPI_INTEGER, after, 2, comm, e)
      call MPI_Bsend(out, 8, MPI_INTEGER, after, 3, comm, e)
      call MPI_Ibsend(out, 8, MPI_INTEGER, after, 4, comm, r, e)
      call finish(r)
      call MPI_Isend(out, 8, MPI_INTEGER, after, 5, comm, r, e)
      call finish(r)
      call MPI_Issend(out, 8, MPI_INTEGER, after, 6, comm, r, e)
      call finish(r)
      call MPI_Barrier(comm, e)
      call MPI_Rsend(out, 8, MPI_INTEGER, after, 7, comm, e)
      call MPI_Irsend(out, 8, MPI_INTEGER, after, 8, comm, r, e)
      call finish(r)
    else if (me == 1) then
      do i = 1, 4
        in = 0
        call MPI_Recv(in, 8, MPI_INTEGER, before, i, comm, s, e)
        call check(e == MPI_SUCCESS .and. in(8) == 8 .and. TAG_OF(s) == i .and. SOURCE_OF(s) == 0, 'MPI_Recv')
      end do
      call MPI_Mprobe(before, 5, comm, m, s, e)
      call check(TAG_OF(s) == 5, 'MPI_Mprobe')
      call MPI_Mrecv(in, 8, MPI_INTEGER, m, MPI_STATUS_IGNORE, e)
      call MPI_Mprobe(before, 6, comm, m, s, e)
      call MPI_Imrecv(in, 8, MPI_INTEGER, m, r, e)
      call finish(r)
      call MPI_Irecv(in, 8, MPI_INTEGER, before, 7, comm, ready(1), e)
      call MPI_Irecv(out, 8, MPI_INTEGER, before, 8, comm, ready(2), e)
      call MPI_Barrier(comm, e)
      call MPI_Waitall(2, ready, MPI_STATUSES_IGNORE, e)
      call check(in(8) == 8 .and. out(8) == 8, 'ready sends')
    else
      call MPI_Barrier(comm, e)
    end if
    do i = 1, 8
      out(i) = 100 * me + i
    end do
    call MPI_Sendrecv(out, 8, MPI_INTEGER, after, 9, in, 8, MPI_INTEGER, before, 9, comm, s, e)
    call check(in(3) == 100 * before + 3 .and. SOURCE_OF(s) == before, 'MPI_Sendrecv')
    call MPI_Sendrecv(out(1:8:2), 4, MPI_INTEGER, after, 9, in(2:8:2), 4, MPI_INTEGER, before, 9, comm, s, e)
    call check(in(2) == 100 * before + 1 .and. in(8) == 100 * before + 7, 'MPI_Sendrecv of sections')
    call MPI_Sendrecv(out, 8, MPI_INTEGER, MPI_PROC_NULL, 9, in, 8, MPI_INTEGER, MPI_PROC_NULL, 9, comm, s, e)
    call check(SOURCE_OF(s) == MPI_PROC_NULL, 'MPI_Sendrecv with nobody')
    call MPI_Sendrecv_replace(out, 8, MPI_INTEGER, after, 10, before, 10, comm, s, e)
    call check(out(3) == 100 * before + 3, 'MPI_Sendrecv_replace')
#if defined(MPI4)
    call MPI_Isendrecv(out, 8, MPI_INTEGER, after, 11, in, 8, MPI_INTEGER, before, 11, comm, r, e)
    call finish(r)
    call MPI_Isendrecv_replace(out, 8, MPI_INTEGER, after, 12, before, 12, comm, r, e)
    call finish(r)
#endif
  end subroutine


  subroutine collectives(own)
    logical, intent(in) :: own
    integer :: total, i
    ! A wait changes these, and not only the call that names them.
    integer, asynchronous :: one, all(most), parts(most), got, many(2), mine(2)
    integer :: counts(most), at(most), bytes(most)
    integer(kind=MPI_ADDRESS_KIND) :: near(2)
    H(MPI_Datatype) :: types(most)
    H(MPI_Request) :: r
    double precision :: half, halves
    one = me + 1
    total = n * (n + 1) / 2
    do i = 1, n
      counts(i) = 1
      at(i) = i - 1
      bytes(i) = 4 * (i - 1)
      types(i) = MPI_INTEGER
      parts(i) = 10 * me + i - 1
    end do
    near = [0, 4]
    got = merge(77, 0, me == 1)
    if (own) then
      call MPI_Ibarrier(comm, r, e)
      call finish(r)
      call MPI_Ibcast(got, 1, MPI_INTEGER, 1, comm, r, e)
      call finish(r)
    else
      call MPI_Barrier(comm, e)
      call MPI_Bcast(got, 1, MPI_INTEGER, 1, comm, e)
    end if
    call check(got == 77, 'MPI_Bcast')
    if (own) then
      call MPI_Igather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm, r, e)
      call finish(r)
    else
      call MPI_Gather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm, e)
    end if
    call check(me /= 0 .or. all(n) == n, 'MPI_Gather')
    if (own) then
      call MPI_Igatherv(one, 1, MPI_INTEGER, all, counts, at, MPI_INTEGER, 0, comm, r, e)
      call finish(r)
    else
      call MPI_Gatherv(one, 1, MPI_INTEGER, all, counts, at, MPI_INTEGER, 0, comm, e)
    end if
    call check(me /= 0 .or. all(n) == n, 'MPI_Gatherv')
    if (own) then
      call MPI_Iscatter(parts, 1, MPI_INTEGER, got, 1, MPI_INTEGER, 0, comm, r, e)
      call finish(r)
    else
      call MPI_Scatter(parts, 1, MPI_INTEGER, got, 1, MPI_INTEGER, 0, comm, e)
    end if
    call check(got == me, 'MPI_Scatter')
    if (own) then
      call MPI_Iscatterv(parts, counts, at, MPI_INTEGER, got, 1, MPI_INTEGER, 1, comm, r, e)
      call finish(r)
    else
      call MPI_Scatterv(parts, counts, at, MPI_INTEGER, got, 1, MPI_INTEGER, 1, comm, e)
    end if
    call check(got == 10 + me, 'MPI_Scatterv')
    if (own) then
      call MPI_Iallgather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, r, e)
      call finish(r)
    else
      call MPI_Allgather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, e)
    end if
    call check(all(1) == 1 .and. all(n) == n, 'MPI_Allgather')
    all(me + 1) = 5 * me
    if (own) then
      call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 1, MPI_INTEGER, comm, r, e)
      call finish(r)
    else
      call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 1, MPI_INTEGER, comm, e)
    end if
    call check(all(1) == 0 .and. all(n) == 5 * (n - 1), 'MPI_Allgather in place')
    if (own) then
      call MPI_Iallgatherv(one, 1, MPI_INTEGER, all, counts, at, MPI_INTEGER, comm, r, e)
      call finish(r)
    else
      call MPI_Allgatherv(one, 1, MPI_INTEGER, all, counts, at, MPI_INTEGER, comm, e)
    end if
    call check(all(1) == 1 .and. all(n) == n, 'MPI_Allgatherv')
    if (own) then
      call MPI_Ialltoall(parts, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, r, e)
      call finish(r)
    else
      call MPI_Alltoall(parts, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, e)
    end if
    call check(all(1) == me .and. all(n) == 10 * (n - 1) + me, 'MPI_Alltoall')
    if (own) then
      call MPI_Ialltoallv(parts, counts, at, MPI_INTEGER, all, counts, at, MPI_INTEGER, comm, r, e)
      call finish(r)
    else
      call MPI_Alltoallv(parts, counts, at, MPI_INTEGER, all, counts, at, MPI_INTEGER, comm, e)
    end if
    call check(all(1) == me .and. all(n) == 10 * (n - 1) + me, 'MPI_Alltoallv')
    if (own) then
      call MPI_Ialltoallw(parts, counts, bytes, types, all, counts, bytes, types, comm, r, e)
      call finish(r)
    else
      call MPI_Alltoallw(parts, counts, bytes, types, all, counts, bytes, types, comm, e)
    end if
    call check(all(1) == me .and. all(n) == 10 * (n - 1) + me, 'MPI_Alltoallw')
    if (own) then
      call MPI_Ireduce(one, got, 1, MPI_INTEGER, MPI_SUM, 0, comm, r, e)
      call finish(r)
    else
      call MPI_Reduce(one, got, 1, MPI_INTEGER, MPI_SUM, 0, comm, e)
    end if
    call check(me /= 0 .or. got == total, 'MPI_Reduce')
    got = one
    if (own) then
      call MPI_Iallreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, comm, r, e)
      call finish(r)
    else
      call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, comm, e)
    end if
    call check(got == total, 'MPI_Allreduce')
    half = 0.5d0 * one
    call MPI_Allreduce(half, halves, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, e)
    call check(halves == 0.5d0 * total, 'MPI_Allreduce of floating-point numbers')
    if (own) then
      call MPI_Ireduce_scatter(parts, got, counts, MPI_INTEGER, MPI_SUM, comm, r, e)
      call finish(r)
    else
      call MPI_Reduce_scatter(parts, got, counts, MPI_INTEGER, MPI_SUM, comm, e)
    end if
    call check(got == 10 * (total - n) + n * me, 'MPI_Reduce_scatter')
    if (own) then
      call MPI_Ireduce_scatter_block(parts, got, 1, MPI_INTEGER, MPI_SUM, comm, r, e)
      call finish(r)
    else
      call MPI_Reduce_scatter_block(parts, got, 1, MPI_INTEGER, MPI_SUM, comm, e)
    end if
    call check(got == 10 * (total - n) + n * me, 'MPI_Reduce_scatter_block')
    if (own) then
      call MPI_Iscan(one, got, 1, MPI_INTEGER, MPI_SUM, comm, r, e)
      call finish(r)
    else
      call MPI_Scan(one, got, 1, MPI_INTEGER, MPI_SUM, comm, e)
    end if
    call check(got == one * (one + 1) / 2, 'MPI_Scan')
    got = 0
    if (own) then
      call MPI_Iexscan(one, got, 1, MPI_INTEGER, MPI_SUM, comm, r, e)
      call finish(r)
    else
      call MPI_Exscan(one, got, 1, MPI_INTEGER, MPI_SUM, comm, e)
    end if
    call check(me == 0 .or. got == me * (me + 1) / 2, 'MPI_Exscan')
    mine = [10 * me + 1, 10 * me + 2]
    if (own) then
      call MPI_Ineighbor_allgather(one, 1, MPI_INTEGER, many, 1, MPI_INTEGER, ring, r, e)
      call finish(r)
    else
      call MPI_Neighbor_allgather(one, 1, MPI_INTEGER, many, 1, MPI_INTEGER, ring, e)
    end if
    call check(many(1) == before + 1 .and. many(2) == after + 1, 'MPI_Neighbor_allgather')
    if (own) then
      call MPI_Ineighbor_allgatherv(one, 1, MPI_INTEGER, many, counts, at, MPI_INTEGER, ring, r, e)
      call finish(r)
    else
      call MPI_Neighbor_allgatherv(one, 1, MPI_INTEGER, many, counts, at, MPI_INTEGER, ring, e)
    end if
    call check(many(1) == before + 1 .and. many(2) == after + 1, 'MPI_Neighbor_allgatherv')
    if (own) then
      call MPI_Ineighbor_alltoall(mine, 1, MPI_INTEGER, many, 1, MPI_INTEGER, ring, r, e)
      call finish(r)
    else
      call MPI_Neighbor_alltoall(mine, 1, MPI_INTEGER, many, 1, MPI_INTEGER, ring, e)
    end if
    call check(many(1) == 10 * before + 2 .and. many(2) == 10 * after + 1, 'MPI_Neighbor_alltoall')
    if (own) then
      call MPI_Ineighbor_alltoallv(mine, counts, at, MPI_INTEGER, many, counts, at, MPI_INTEGER, ring, r, e)
      call finish(r)
    else
      call MPI_Neighbor_alltoallv(mine, counts, at, MPI_INTEGER, many, counts, at, MPI_INTEGER, ring, e)
    end if
    call check(many(1) == 10 * before + 2 .and. many(2) == 10 * after + 1, 'MPI_Neighbor_alltoallv')
    if (own) then
      call MPI_Ineighbor_alltoallw(mine, counts, near, types, many, counts, near, types, ring, r, e)
      call finish(r)
    else
      call MPI_Neighbor_alltoallw(mine, counts, near, types, many, counts, near, types, ring, e)
    end if
    call check(many(1) == 10 * before + 2 .and. many(2) == 10 * after + 1, 'MPI_Neighbor_alltoallw')
  end subroutine

  subroutine requests()
    integer :: in(4), out(4), index, done, at(4), i
    logical :: flag
    H(MPI_Request) :: r(4), t(4)
    H(MPI_Message) :: m
    STATUS(s)
    STATUSES(several, 4)
    out = [1, 2, 3, 4]
    in = 0
    do i = 1, 4
      call MPI_Irecv(in(i), 1, MPI_INTEGER, before, i, comm, r(i), e)
    end do
    if (me == 0) call execute_command_line('sleep 0.02')
    do i = 1, 4
      call MPI_Isend(out(i), 1, MPI_INTEGER, after, i, comm, t(i), e)
    end do
    call MPI_Wait(r(1), s, e)
    call check(in(1) == 1 .and. TAG_OF(s) == 1 .and. r(1) == MPI_REQUEST_NULL, 'MPI_Wait')
    call MPI_Waitany(4, r, index, s, e)
    call check(TAG_OF(s) >= 2 .and. TAG_OF(s) <= 4, 'MPI_Waitany') ! MPICH 4.0's index counts from 0 in mpi_f08
    call MPI_Waitsome(4, r, done, at, several, e)
    call check(done >= 1 .and. done <= 2, 'MPI_Waitsome')
    call MPI_Waitall(4, r, several, e)
    call check(all(in == out), 'MPI_Waitall')
    call MPI_Waitsome(4, r, done, at, MPI_STATUSES_IGNORE, e)
    call check(done == MPI_UNDEFINED, 'MPI_Waitsome of nothing')
    call MPI_Waitall(4, t, MPI_STATUSES_IGNORE, e)
    do i = 1, 4
      call MPI_Irecv(in(i), 1, MPI_INTEGER, before, 10 + i, comm, r(i), e)
    end do
    call MPI_Barrier(comm, e)
    do i = 1, 4
      call MPI_Isend(out(i), 1, MPI_INTEGER, after, 10 + i, comm, t(i), e)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(r(1), flag, s, e)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Test(r(1), flag, s, e)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(4, r, index, flag, s, e)
    end do
    done = 0
    do while (done == 0)
      call MPI_Testsome(4, r, done, at, several, e)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(4, r, flag, several, e)
    end do
    call MPI_Waitall(4, t, MPI_STATUSES_IGNORE, e)
    call MPI_Isend(out, 1, MPI_INTEGER, after, 20, comm, t(1), e)
    call MPI_Probe(MPI_ANY_SOURCE, 20, comm, s, e)
    call check(SOURCE_OF(s) == before, 'MPI_Probe')
    call MPI_Recv(in, 1, MPI_INTEGER, before, 20, comm, MPI_STATUS_IGNORE, e)
    call MPI_Wait(t(1), MPI_STATUS_IGNORE, e)
    call MPI_Isend(out, 1, MPI_INTEGER, after, 21, comm, t(1), e)
    flag = .false.
    do while (.not. flag)
      call MPI_Iprobe(before, 21, comm, flag, s, e)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(before, 21, comm, flag, m, s, e)
    end do
    call MPI_Mrecv(in, 1, MPI_INTEGER, m, s, e)
    call MPI_Wait(t(1), MPI_STATUS_IGNORE, e)
    call MPI_Recv_init(in, 1, MPI_INTEGER, before, 30, comm, r(1), e)
    call MPI_Send_init(out, 1, MPI_INTEGER, after, 30, comm, r(2), e)
    call MPI_Start(r(1), e)
    call MPI_Startall(1, r(2:2), e)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
    call check(in(1) == out(1), 'persistent requests')
    call MPI_Request_free(r(1), e)
    call MPI_Request_free(r(2), e)
  end subroutine

  subroutine communicators()
    H(MPI_Comm) :: a, b, c
    H(MPI_Group) :: world, few
    H(MPI_Request) :: r
    integer :: size, expected, total, i, index(most), edges(2 * most), in(2)
    call MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, a, e)
    call MPI_Comm_free(a, e)
    call MPI_Comm_idup(comm, a, r, e)
    call finish(r)
    call MPI_Comm_disconnect(a, e)
#if defined(MPI4)
    call MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, a, r, e)
    call finish(r)
    call MPI_Comm_free(a, e)
#endif
    call MPI_Comm_split(comm, mod(me, 2), me, a, e)
    call MPI_Intercomm_create(a, 0, comm, 1 - mod(me, 2), 5, b, e)
    call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, b, e)
    expected = 0
    do i = 1 - mod(me, 2), n - 1, 2
      expected = expected + i
    end do
    call check(total == expected, 'MPI_Allreduce between two groups')
    call MPI_Intercomm_merge(b, mod(me, 2) == 1, c, e)
    call MPI_Comm_size(c, size, e)
    call check(size == n, 'MPI_Intercomm_merge')
    call MPI_Comm_free(c, e)
    call MPI_Comm_free(b, e)
    call MPI_Comm_free(a, e)
    call MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, a, e)
    call MPI_Comm_free(a, e)
    call MPI_Comm_group(comm, world, e)
    call MPI_Group_incl(world, 2, [0, 1], few, e)
    call MPI_Comm_create(comm, few, a, e)
    call check((a /= MPI_COMM_NULL) .eqv. (me < 2), 'MPI_Comm_create')
    if (me < 2) call MPI_Comm_free(a, e)
    if (me < 2) then
      call MPI_Comm_create_group(comm, few, 3, a, e)
      call MPI_Comm_free(a, e)
    end if
    call MPI_Group_free(few, e)
    call MPI_Group_free(world, e)
    call MPI_Cart_create(comm, 1, [n], [.true.], .false., a, e)
    call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, in, 1, MPI_INTEGER, a, e)
    call check(in(1) == before .and. in(2) == after, 'MPI_Cart_create')
    call MPI_Cart_sub(a, [.true.], b, e)
    call MPI_Comm_free(b, e)
    call MPI_Comm_free(a, e)
    call MPI_Dist_graph_create(comm, 1, [me], [1], [after], [1], MPI_INFO_NULL, .false., a, e)
    call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, in, 1, MPI_INTEGER, a, e)
    call check(in(1) == before, 'MPI_Dist_graph_create')
    call MPI_Comm_free(a, e)
    do i = 1, n
      index(i) = 2 * i
      edges(2 * i - 1) = mod(i + n - 2, n)
      edges(2 * i) = mod(i, n)
    end do
    call MPI_Graph_create(comm, n, index, edges, .false., a, e)
    call MPI_Neighbor_allgather(me, 1, MPI_INTEGER, in, 1, MPI_INTEGER, a, e)
    call check(in(1) == before .and. in(2) == after, 'MPI_Graph_create')
    call MPI_Comm_free(a, e)
  end subroutine

  subroutine windows()
#ifdef USE_F08
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr) :: base
#else
    integer(kind=MPI_ADDRESS_KIND) :: base
#endif
    H(MPI_Win) :: win
    H(MPI_Group) :: world, from, to
    H(MPI_Request) :: r
    integer, asynchronous :: data(4)
    integer :: value, one, zero, got, i
    logical :: flag
    integer(kind=MPI_ADDRESS_KIND) :: at0, at1, at2, at3
    at0 = 0; at1 = 1; at2 = 2; at3 = 3
    address = 16
    data = 0
    value = 100 + me
    one = 1
    zero = 0
    got = -1
    call MPI_Win_create(data, address, 4, MPI_INFO_NULL, comm, win, e)
    call MPI_Win_fence(0, win, e)
    call MPI_Put(value, 1, MPI_INTEGER, after, at0, 1, MPI_INTEGER, win, e)
    call MPI_Win_fence(0, win, e)
    call check(data(1) == 100 + before, 'MPI_Put')
    call MPI_Get(got, 1, MPI_INTEGER, after, at0, 1, MPI_INTEGER, win, e)
    call MPI_Win_fence(0, win, e)
    call check(got == 100 + me, 'MPI_Get')
    call MPI_Accumulate(one, 1, MPI_INTEGER, after, at1, 1, MPI_INTEGER, MPI_SUM, win, e)
    call MPI_Win_fence(0, win, e)
    call check(data(2) == 1, 'MPI_Accumulate')
    call MPI_Barrier(comm, e)
    call MPI_Win_lock_all(0, win, e)
    call MPI_Get_accumulate(one, 1, MPI_INTEGER, got, 1, MPI_INTEGER, after, at1, 1, MPI_INTEGER, MPI_SUM, win, e)
    call MPI_Win_flush(after, win, e)
    call check(got == 1, 'MPI_Get_accumulate')
    call MPI_Rget_accumulate(one, 1, MPI_INTEGER, got, 1, MPI_INTEGER, after, at1, 1, MPI_INTEGER, MPI_SUM, win, r, e)
    call finish(r)
    call check(got == 2, 'MPI_Rget_accumulate')
    call MPI_Raccumulate(one, 1, MPI_INTEGER, after, at2, 1, MPI_INTEGER, MPI_SUM, win, r, e)
    call finish(r)
    call MPI_Rput(value, 1, MPI_INTEGER, after, at3, 1, MPI_INTEGER, win, r, e)
    call finish(r)
    call MPI_Win_flush_all(win, e)
    call MPI_Rget(got, 1, MPI_INTEGER, after, at3, 1, MPI_INTEGER, win, r, e)
    call finish(r)
    call check(got == value, 'MPI_Rget')
    call MPI_Fetch_and_op(one, got, MPI_INTEGER, after, at2, MPI_SUM, win, e)
    call MPI_Win_flush_local(after, win, e)
    call MPI_Win_flush_local_all(win, e)
    call check(got == 1, 'MPI_Fetch_and_op')
    call MPI_Compare_and_swap(zero, value, got, MPI_INTEGER, after, at3, win, e)
    call MPI_Win_flush(after, win, e)
    call check(got == value, 'MPI_Compare_and_swap')
    call MPI_Win_unlock_all(win, e)
    call MPI_Barrier(comm, e)
    call MPI_Comm_group(comm, world, e)
    call MPI_Group_incl(world, 1, [before], from, e)
    call MPI_Group_incl(world, 1, [after], to, e)
    do i = 1, 2
      call MPI_Win_post(from, 0, win, e)
      call MPI_Win_start(to, 0, win, e)
      call MPI_Put(value, 1, MPI_INTEGER, after, at0, 1, MPI_INTEGER, win, e)
      call MPI_Win_complete(win, e)
      if (i == 1) then
        call MPI_Win_wait(win, e)
      else
        flag = .false.
        do while (.not. flag)
          call MPI_Win_test(win, flag, e)
        end do
      end if
    end do
    call check(data(1) == 100 + before, 'MPI_Win_wait')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, after, 0, win, e)
    call MPI_Put(value, 1, MPI_INTEGER, after, at0, 1, MPI_INTEGER, win, e)
    call MPI_Win_unlock(after, win, e)
    call MPI_Barrier(comm, e)
    call MPI_Group_free(world, e)
    call MPI_Group_free(from, e)
    call MPI_Group_free(to, e)
    call MPI_Win_free(win, e)
    call MPI_Win_allocate(address, 4, MPI_INFO_NULL, comm, base, win, e)
    call MPI_Win_free(win, e)
    call MPI_Win_allocate_shared(address, 4, MPI_INFO_NULL, comm, base, win, e)
    call MPI_Win_free(win, e)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win, e)
    call MPI_Win_free(win, e)
  end subroutine

  subroutine files()
    H(MPI_File) :: f
    H(MPI_Request) :: q(1)
    STATUS(s)
    integer :: value, got
    integer(kind=MPI_OFFSET_KIND) :: at, start
    value = 50 + me
    at = 4 * me
    start = 0
    call MPI_File_open(comm, trim(file_name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, e)
    call MPI_File_write_at(f, at, value, 1, MPI_INTEGER, s, e)
    call MPI_File_sync(f, e)
    call MPI_File_read_at(f, at, got, 1, MPI_INTEGER, s, e)
    call check(got == value, 'MPI_File_read_at')
    call MPI_File_write_at_all(f, at, value, 1, MPI_INTEGER, s, e)
    call MPI_File_sync(f, e)
    call MPI_File_read_at_all(f, at, got, 1, MPI_INTEGER, s, e)
    call check(got == value, 'MPI_File_read_at_all')
    call MPI_File_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
    call MPI_File_write(f, value, 1, MPI_INTEGER, s, e)
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_read(f, got, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    call check(got == value, 'MPI_File_read')
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_write_all(f, value, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_read_all(f, got, 1, MPI_INTEGER, s, e)
    call check(got == value, 'MPI_File_read_all')
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_iwrite(f, value, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_iread(f, got, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call check(got == value, 'MPI_File_iread')
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_iwrite_all(f, value, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call MPI_File_seek(f, start, MPI_SEEK_SET, e)
    call MPI_File_iread_all(f, got, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call check(got == value, 'MPI_File_iread_all')
    call MPI_File_iwrite_at(f, start, value, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call MPI_File_iread_at(f, start, got, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call check(got == value, 'MPI_File_iread_at')
    call MPI_File_iwrite_at_all(f, start, value, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call MPI_File_iread_at_all(f, start, got, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call check(got == value, 'MPI_File_iread_at_all')
    call MPI_File_set_view(f, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
    call MPI_File_iwrite_shared(f, value, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call MPI_File_sync(f, e)
    call MPI_File_seek_shared(f, start, MPI_SEEK_SET, e)
    call MPI_File_iread_shared(f, got, 1, MPI_INTEGER, q(1), e)
    call MPI_Waitall(1, q, MPI_STATUSES_IGNORE, e)
    call MPI_File_close(f, e)
  end subroutine

  subroutine general_requests()
    H(MPI_Request) :: q(2)
    integer :: got
    asked = 0
    call MPI_Grequest_start(query, let_go, cancel, 3_MPI_ADDRESS_KIND, q(1), e)
    call MPI_Irecv(got, 1, MPI_INTEGER, before, 0, comm, q(2), e)
    call MPI_Send(me, 1, MPI_INTEGER, after, 0, comm, e)
    call MPI_Grequest_complete(q(1), e)
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, e)
    call check(asked == 1 .and. got == before, 'MPI_Grequest_start')
  end subroutine

  subroutine query(state, s, rc)
    integer(kind=MPI_ADDRESS_KIND) :: state
    STATUS(s)
    integer :: rc
    asked = asked + 1
    call MPI_Status_set_elements(s, MPI_INTEGER, int(state), rc)
    call MPI_Status_set_cancelled(s, .false., rc)
  end subroutine

  subroutine let_go(state, rc)
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer :: rc
    rc = MPI_SUCCESS
  end subroutine

  subroutine cancel(state, complete, rc)
    integer(kind=MPI_ADDRESS_KIND) :: state
    logical :: complete
    integer :: rc
    rc = MPI_SUCCESS
  end subroutine

  subroutine detach()
#ifdef USE_F08
    use, intrinsic :: iso_c_binding, only: c_ptr
    type(c_ptr) :: where
#else
    integer(kind=MPI_ADDRESS_KIND) :: where
#endif
    integer :: size
    call MPI_Buffer_detach(where, size, e)
    call check(size == 65536, 'MPI_Buffer_detach')
  end subroutine
end program
