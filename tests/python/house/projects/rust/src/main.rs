//! The ring in Rust, by the bindings that openshmem-sys makes from shmem.h.
use openshmem_sys::shmem::*;

fn main() {
    unsafe {
        shmem_init();
        let (me, n) = (shmem_my_pe(), shmem_n_pes());
        let cell = shmem_calloc(2, 8) as *mut i64;
        shmem_barrier_all();
        shmem_long_p(cell, me.into(), (me + 1) % n);
        shmem_barrier_all();
        shmem_long_atomic_add(cell.add(1), *cell, 0);
        shmem_barrier_all();
        if me == 0 {
            println!("the PEs' numbers add up to {}", *cell.add(1));
        }
        shmem_free(cell.cast());
        shmem_finalize();
    }
}
