package hosts_test

import (
	"testing"

	"bourse/hosts"
)

// TestResources checks that resources fit if there is enough of each kind, and that Sub returns
// the difference.
func TestResources(t *testing.T) {
	t.Parallel()
	room := hosts.Resources{Memory: 8, Disk: 9, Bandwidth: 10}
	for _, c := range []struct {
		holds hosts.Resources
		fits  bool
	}{
		{hosts.Resources{}, true},
		{hosts.Resources{Memory: 1, Disk: 2, Bandwidth: 3}, true},
		{room, true},
		{hosts.Resources{Memory: 8.5}, false},
		{hosts.Resources{Disk: 9.5}, false},
		{hosts.Resources{Bandwidth: 10.5}, false},
		{hosts.Resources{Cores: 1}, false},
		{hosts.Resources{Counts: [hosts.MaxCounts]int32{7: 1}}, false},
	} {
		if c.holds.Fit(room) != c.fits {
			t.Errorf("%+v fits in %+v: %v, want %v", c.holds, room, !c.fits, c.fits)
		}
	}
	if got, want := room.Sub(hosts.Resources{Memory: 1, Disk: 2, Bandwidth: 3}), (hosts.Resources{Memory: 7, Disk: 7, Bandwidth: 7}); got != want {
		t.Errorf("%+v is left, want %+v", got, want)
	}
	if room.Zero() || !(hosts.Resources{}).Zero() {
		t.Error("nothing is something, or the other way round")
	}
	if s := (hosts.Spec{CPUs: 4, Speed: 0.5}); s.Capacity() != 2 {
		t.Errorf("4 processors of half the speed do %v a second, want 2", s.Capacity())
	}
}
