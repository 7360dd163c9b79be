//go:build !nightly

package fit

const recoveryDraws = 10_000
