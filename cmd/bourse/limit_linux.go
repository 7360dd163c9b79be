package main

import "syscall"

// canLimit reports whether the memory of this process can be limited.
const canLimit = true

// limitMemory limits the data of this process to 1 GiB.
func limitMemory() bool {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}) == nil
}
