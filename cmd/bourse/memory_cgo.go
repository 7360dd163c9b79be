//go:build linux && cgo

package main

/*
#include <malloc.h>

static void steady(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
#endif
}
*/
import "C"

// steadyMemory makes the C allocations of Pebble and zstd use one arena, and returns large
// blocks to the system. By default, glibc gives each thread its own arena. These arenas
// grow to their peak use within minutes, and the program requests ever larger blocks.
func steadyMemory() { C.steady() }
