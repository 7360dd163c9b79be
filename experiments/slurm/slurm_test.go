package slurm

import (
	"fmt"
	"slices"
	"testing"
)

// TestScript checks the complete text of a script.
func TestScript(t *testing.T) {
	t.Parallel()
	j := Job{
		Name: "mine", Shards: []int{1, 2, 3, 7, 9, 10}, Of: 12, Dir: "/shared/work", Log: "/shared/work/.mine.units",
		Words: []string{"/shared/bin/bourse", "run", "it's.yaml"}, Limits: Limits{Partition: "short", Time: "1:00:00", Memory: "4G", Account: "econ", CPUs: 4},
	}
	const want = `#!/bin/sh
#SBATCH --job-name=bourse-mine
#SBATCH --array=1-3,7,9-10
#SBATCH --chdir=/shared/work
#SBATCH --output=/shared/work/.mine.units/slurm-%A_%a.txt
#SBATCH --open-mode=append
#SBATCH --partition=short
#SBATCH --time=1:00:00
#SBATCH --mem=4G
#SBATCH --account=econ
#SBATCH --cpus-per-task=4

exec '/shared/bin/bourse' 'run' 'it'\''s.yaml' --shard "$SLURM_ARRAY_TASK_ID/12"
`
	if got := j.Script(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if err := j.Check(); err != nil {
		t.Error(err)
	}
	j.Limits.Account = "econ --wrap=rm"
	if err := j.Check(); err == nil {
		t.Error("an account with an option in it is taken")
	}
}

// TestSplit checks that every shard is in exactly one array, under a number that the
// cluster accepts.
func TestSplit(t *testing.T) {
	t.Parallel()
	for _, most := range []int{2, 5, 1001} {
		var all []int
		for n := 1; n <= 23; n++ {
			if n%7 != 3 {
				all = append(all, n)
			}
		}
		var got []int
		for _, part := range (Job{Shards: all, Of: 23}).Split(most) {
			for _, n := range part.Shards {
				if task := n - part.offset; task < 1 || task >= most {
					t.Errorf("most %d: shard %d is task %d", most, n, task)
				}
			}
			got = append(got, part.Shards...)
			if part.offset > 0 {
				if want := fmt.Sprintf("--shard \"$((SLURM_ARRAY_TASK_ID + %d))/23\"\n", part.offset); part.Script()[len(part.Script())-len(want):] != want {
					t.Errorf("most %d: %s", most, part.Script())
				}
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("most %d: %v, want %v", most, got, all)
		}
	}
}
