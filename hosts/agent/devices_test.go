//go:build linux

package agent

import (
	"slices"
	"strings"
	"testing"
)

// TestDevices checks the numbers and device files that a task gets, the variables that list
// GPUs, and the error for too many units.
func TestDevices(t *testing.T) {
	t.Parallel()
	a := &Agent{Config: Config{Devices: Devices{"gpu": {"/dev/a", "/dev/b", "/dev/c"}, "fpga": {"", ""}}}, tasks: map[string]*task{}}
	a.tasks["1"] = &task{record: record{Numbers: map[string][]int{"gpu": {1}}}}
	numbers, ok, err := a.assign(map[string]int32{"gpu": 2, "fpga": 1})
	if err != nil || !ok || !slices.Equal(numbers["gpu"], []int{0, 2}) || !slices.Equal(numbers["fpga"], []int{0}) {
		t.Errorf("%v, %v, %v", numbers, ok, err)
	}
	held, others := a.Devices.files(numbers)
	if !slices.Equal(held, []string{"/dev/a", "/dev/c"}) || !slices.Equal(others, []string{"/dev/b"}) {
		t.Errorf("files %v, others %v", held, others)
	}
	if _, ok, err := a.assign(map[string]int32{"gpu": 3}); ok || err != nil {
		t.Errorf("three are free: %v, %v", ok, err)
	}
	if _, _, err := a.assign(map[string]int32{"gpu": 4}); err == nil {
		t.Error("four are assigned")
	}
	a.tasks["1"].swept = true
	if numbers, ok, _ := a.assign(map[string]int32{"gpu": 1}); !ok || !slices.Equal(numbers["gpu"], []int{0}) {
		t.Errorf("after its end: %v", numbers)
	}
	if got := strings.Join(visible([]int{0, 2}), " "); got != "CUDA_VISIBLE_DEVICES=0,2 NVIDIA_VISIBLE_DEVICES=0,2 ROCR_VISIBLE_DEVICES=0,2" {
		t.Error(got)
	}
	env := once(append([]string{"CUDA_VISIBLE_DEVICES=5", "BOURSE_NODE=7", "A=1"}, append(visible(nil), "BOURSE_NODE=0")...))
	if got := strings.Join(env, " "); got != "CUDA_VISIBLE_DEVICES=-1 BOURSE_NODE=0 A=1 NVIDIA_VISIBLE_DEVICES=void ROCR_VISIBLE_DEVICES=-1" {
		t.Error(got)
	}
	if got := devices([]string{"A=1", "CUDA_VISIBLE_DEVICES=3"}); len(got) != 3 || !slices.Contains(got, "NVIDIA_VISIBLE_DEVICES=3") {
		t.Error(got)
	}
}
