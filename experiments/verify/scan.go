package verify

import "strconv"

// A scanner reads a note as programs write it: an object of numbers, words, strings of
// plain characters and lists of them, whose keys are of small letters. What it reads all
// readers of JSON read alike. Of other notes it says that they are not plain, though
// nothing may be wrong with them.
type scanner struct {
	b   []byte
	bad bool
}

// mostKeys is how many fields a plain note has at most.
const mostKeys = 40

// scan reads b, and reports whether it is plain; if not, n says nothing of use.
func (n *note) scan(b []byte) bool {
	s := scanner{b: b}
	var keys [mostKeys][]byte
	count := 0
	s.must('{')
	for !s.is('}') {
		if count > 0 {
			s.must(',')
		}
		key := s.key()
		s.must(':')
		if s.bad || count == mostKeys {
			return false
		}
		for _, before := range keys[:count] {
			if string(key) == string(before) {
				return false
			}
		}
		keys[count] = key
		count++
		n.value(&s, key)
	}
	return count > 0 && len(s.b) == 0
}

// value reads the value of key.
func (n *note) value(s *scanner, key []byte) {
	t, v := &n.terms, &n.verdict
	switch string(key) {
	case "submit":
		t.Submit = s.number()
	case "deadline":
		t.Deadline = s.number()
	case "runs_on":
		t.RunsOn = s.flag()
	case "on_demand":
		t.OnDemand = s.flag()
	case "per_host":
		t.PerHost = s.flag()
	case "max_cpu":
		t.MaxCPU = s.number()
	case "floor":
		t.Floor = s.number()
	case "penalty_rate":
		t.PenaltyRate = s.number()
	case "penalty_max":
		t.PenaltyMax = s.number()
	case "penalty_part":
		t.Part = s.number()
	case "penalty_most":
		t.Most = s.number()
	case "cause":
		v.Cause = string(s.text())
	case "payer":
		v.Payer = string(s.text())
	case "withheld":
		v.Withheld = string(s.text())
	case "price":
		t.Price = s.number()
	case "opens":
		t.Opens = s.number()
	case "ask":
		t.Ask = s.number()
	case "host":
		t.Host = string(s.text())
	case "on":
		s.places(n)
	case "state":
		v.State = state(s.text())
	case "work":
		v.Work = s.number()
	case "needed":
		v.Needed = s.number()
	case "work_done":
		v.Done = s.number()
	case "penalty_owed":
		v.Owed = string(s.text())
	case "killed":
		v.Killed = s.flag()
	case "fault":
		v.Fault = string(s.text())
	case "losses":
		v.Losses = int(s.int())
	case "reason":
		n.rejection.Reason = string(s.text())
	case "violates":
		i := s.int()
		n.rejection.Violates = &i
	case "decision":
		s.text()
	default: // of others, and parts
		if len(s.b) > 0 && s.b[0] == '"' {
			s.text()
		} else if len(s.b) > 0 && (s.b[0] == 't' || s.b[0] == 'f') {
			s.flag()
		} else {
			s.number()
		}
	}
}

// state returns a word of verdicts.
func state(b []byte) string {
	for _, word := range [...]string{"fulfilled", "violated", "cancelled"} {
		if string(b) == word {
			return word
		}
	}
	return string(b)
}

// is reads c, if it comes next.
func (s *scanner) is(c byte) bool {
	if s.bad || len(s.b) == 0 || s.b[0] != c {
		return false
	}
	s.b = s.b[1:]
	return true
}

func (s *scanner) must(c byte) {
	if !s.is(c) {
		s.bad = true
	}
}

// word reads w, if it comes next.
func (s *scanner) word(w string) bool {
	if len(s.b) < len(w) || string(s.b[:len(w)]) != w {
		return false
	}
	s.b = s.b[len(w):]
	return true
}

func (s *scanner) flag() bool {
	yes := s.word("true")
	if !yes && !s.word("false") {
		s.bad = true
	}
	return yes
}

// text reads a string of ASCII without escapes.
func (s *scanner) text() []byte {
	if s.must('"'); s.bad {
		return nil
	}
	for i, c := range s.b {
		if c == '"' {
			text := s.b[:i]
			s.b = s.b[i+1:]
			return text
		}
		if c < ' ' || c >= 0x7f || c == '\\' {
			break
		}
	}
	s.bad = true
	return nil
}

// key reads a string of small letters, digits and underscores, which is the same in
// any case but theirs.
func (s *scanner) key() []byte {
	if s.must('"'); s.bad {
		return nil
	}
	for i, c := range s.b {
		if c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9' {
			continue
		}
		if c == '"' {
			key := s.b[:i]
			s.b = s.b[i+1:]
			return key
		}
		break
	}
	s.bad = true
	return nil
}

// digits reads one digit or more, and returns how many.
func (s *scanner) digits() int {
	_, n := digits(s.b, 0)
	if s.b = s.b[n:]; n == 0 {
		s.bad = true
	}
	return n
}

// number reads a number.
func (s *scanner) number() float64 {
	if x, n := decimal(s.b); n > 0 {
		s.b = s.b[n:]
		return x
	}
	from := s.b
	s.is('-')
	zero := len(s.b) > 0 && s.b[0] == '0'
	if s.digits() > 1 && zero {
		s.bad = true
	}
	if s.is('.') {
		s.digits()
	}
	if s.is('e') || s.is('E') {
		if !s.is('-') {
			s.is('+')
		}
		s.digits()
	}
	x, err := strconv.ParseFloat(string(from[:len(from)-len(s.b)]), 64)
	if err != nil {
		s.bad = true
	}
	return x
}

// int reads an integer from 0 to 2^53.
func (s *scanner) int() (x int64) {
	from := s.b
	if n := s.digits(); n > 16 || n > 1 && from[0] == '0' {
		s.bad = true
		return 0
	}
	for _, c := range from[:len(from)-len(s.b)] {
		x = 10*x + int64(c-'0')
	}
	if x > 1<<53 {
		s.bad = true
	}
	return x
}

// places reads bids, each followed by its hosts.
func (s *scanner) places(n *note) {
	s.must('[')
	for bid := s.int(); !s.bad; {
		s.must(',')
		if len(s.b) > 0 && s.b[0] == '"' {
			if name := s.text(); !s.bad && n.hosts != nil {
				n.terms.on = append(n.terms.on, bidOn{bid, n.hosts.named(name)})
			}
			if s.is(']') {
				return
			}
		} else {
			bid = s.int()
		}
	}
}
