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

// steadyMemory has what Pebble and zstd allocate in C come from one arena, and what is large
// go back to the system. By itself glibc gives threads arenas of their own, which grow for
// minutes, each to the most that ever was in it, and takes ever larger pieces from them.
func steadyMemory() { C.steady() }
