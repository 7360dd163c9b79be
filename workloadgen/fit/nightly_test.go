//go:build nightly

package fit

const recoveryDraws = 100_000
