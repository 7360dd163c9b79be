package annotate

import (
	"fmt"
	"math"

	"bourse/workloadgen"
)

// Sizes maps the processors of a recorded machine to the available hosts.
type Sizes struct {
	// Rule is one of
	//
	//	keep   sizes stay as they are (the default)
	//	drop   jobs wider than Hosts are left out
	//	cap    jobs wider than Hosts become Hosts wide; their work shrinks
	//	scale  a size n of From processors becomes n Hosts/From, rounded up
	//	fold   n processors become the hosts of Per processors that they fill,
	//	       rounded up; jobs that are still wider than Hosts are left out
	//	pack   sizes stay as they are, in processors: several nodes of a job may
	//	       share a host, each on a processor of its own, under policies that
	//	       pack (easy, edf, fcfs)
	Rule  string `yaml:"rule" validate:"omitempty,oneof=keep drop cap scale fold pack" doc:"keep (the default), drop, cap, scale, fold or pack"`
	Hosts int    `yaml:"hosts" validate:"min=0,max=16777216" doc:"available hosts; required unless rule is keep or pack"`
	From  int    `yaml:"from" validate:"min=0,max=16777216" doc:"processors of the recorded machine, for scale"`
	Per   int    `yaml:"per" validate:"min=0,max=16777216" doc:"processors of a host, for fold"`
}

// A SizeNote counts the effects of a mapping.
type SizeNote struct {
	Jobs    int // jobs in the plan
	Changed int // jobs whose size changed
	Dropped int
	Work    float64 // processor-seconds of the plan before the mapping
	Left    float64 // processor-seconds of the plan after the mapping
}

// check requires the fields that the rule needs.
func (s *Sizes) check() error {
	for _, f := range []struct {
		name   string
		needed bool
		value  int
	}{
		{"hosts", !s.keeps(), s.Hosts}, {"from", s.Rule == "scale", s.From}, {"per", s.Rule == "fold", s.Per},
	} {
		if f.needed && f.value == 0 {
			return fmt.Errorf("sizes.%s: found 0, want 1 or more with rule %s", f.name, s.Rule)
		}
	}
	return nil
}

// Map applies the rule in place.
func (s *Sizes) Map(plan workloadgen.Plan) (workloadgen.Plan, SizeNote) {
	note := SizeNote{Jobs: len(plan)}
	if s.keeps() {
		return plan, note
	}
	kept := plan[:0]
	for _, j := range plan {
		note.Work += j.Work()
		n := s.size(j.Nodes)
		if n > s.Hosts {
			note.Dropped++
			continue
		}
		if n != j.Nodes {
			note.Changed++
		}
		j.Nodes, j.Parts = n, min(j.Parts, n)
		note.Left += j.Work()
		kept = append(kept, j)
	}
	return kept, note
}

// keeps reports whether all sizes stay unchanged.
func (s *Sizes) keeps() bool { return s.Rule == "" || s.Rule == "keep" || s.Rule == "pack" }

func (s *Sizes) size(n int) int {
	switch s.Rule {
	case "cap":
		return min(n, s.Hosts)
	case "scale":
		return min(s.Hosts, int(math.Ceil(float64(n)*float64(s.Hosts)/float64(s.From))))
	case "fold":
		return (n + s.Per - 1) / s.Per
	}
	return n
}
