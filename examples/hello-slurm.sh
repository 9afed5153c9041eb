#!/bin/bash
# hello-slurm.sh - hello.c as a batch job: four PEs, two on each of two nodes.
#
#   oshcc hello.c -o hello && sbatch hello-slurm.sh
#
#SBATCH --job-name=hello
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --time=00:05:00
#SBATCH --output=hello-%j.out

# oshrun starts as many PEs as the allocation has tasks. The settings (WATTLE_*, SHMEM_*) of this script reach all of them.
export SHMEM_SYMMETRIC_SIZE=64M
oshrun ./hello
