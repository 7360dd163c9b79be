package annotate

import (
	"fmt"
	"math"

	"bourse/workloadgen"
)

// Sizes maps the processors of a recorded machine onto the hosts at hand.
type Sizes struct {
	// Rule is one of
	//
	//	keep   sizes stay as they are (the default)
	//	drop   jobs wider than Hosts are left out
	//	cap    jobs wider than Hosts become Hosts wide; their work shrinks
	//	scale  a size n of From processors becomes n Hosts/From, rounded up
	//	fold   n processors become the hosts of Per processors that they fill,
	//	       rounded up; jobs then wider than Hosts are left out
	Rule  string `yaml:"rule" doc:"keep (default), drop, cap, scale or fold"`
	Hosts int    `yaml:"hosts" doc:"hosts at hand; needed unless rule is keep"`
	From  int    `yaml:"from" doc:"processors of the recorded machine, for scale"`
	Per   int    `yaml:"per" doc:"processors of a host, for fold"`
}

// A SizeNote counts what a mapping did.
type SizeNote struct {
	Jobs    int // given
	Changed int // whose size is another
	Dropped int
}

// Validate reports the first field that is out of range.
func (s *Sizes) Validate() error {
	switch s.Rule {
	case "", "keep":
		return nil
	case "drop", "cap", "scale", "fold":
	default:
		return fmt.Errorf("sizes.rule %q: want keep, drop, cap, scale or fold", s.Rule)
	}
	if s.Hosts < 1 || s.Hosts > workloadgen.MaxNodes {
		return fmt.Errorf("sizes.hosts %d is not in 1..%d", s.Hosts, workloadgen.MaxNodes)
	}
	if s.Rule == "scale" && (s.From < 1 || s.From > workloadgen.MaxNodes) {
		return fmt.Errorf("sizes.from %d is not in 1..%d", s.From, workloadgen.MaxNodes)
	}
	if s.Rule == "fold" && (s.Per < 1 || s.Per > workloadgen.MaxNodes) {
		return fmt.Errorf("sizes.per %d is not in 1..%d", s.Per, workloadgen.MaxNodes)
	}
	return nil
}

// Map applies the rule, in place.
func (s *Sizes) Map(plan workloadgen.Plan) (workloadgen.Plan, SizeNote) {
	note := SizeNote{Jobs: len(plan)}
	if s.Rule == "" || s.Rule == "keep" {
		return plan, note
	}
	kept := plan[:0]
	for _, j := range plan {
		n := s.size(j.Nodes)
		if n > s.Hosts {
			note.Dropped++
			continue
		}
		if n != j.Nodes {
			note.Changed++
		}
		j.Nodes = n
		kept = append(kept, j)
	}
	return kept, note
}

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
