// Package core carries contracts through their lives. It is told events, asks its
// policy, and does what that answers.
package core
