package verify

import "bourse/bank/audit"

// A follower checks the entries of a ledger while an audit reads them.
type follower struct {
	run   *Run   // nil if only the ledger is checked
	trail *trail // nil if there is no run or if the run's tables could not be read
	note  note   // note of the current entry

	bidding  map[int64]*bidding  // open contracts with bids
	promised map[int64]*promised // contracts of markets that promise a penalty if they deliver too little
}

// Follow returns a function that creates followers of a ledger and of the run published with
// it. If run is nil, followers check only that the contents of the notes are possible.
func Follow(run *Run) func() audit.Follower {
	return func() audit.Follower {
		f := &follower{run: run}
		if run != nil && len(run.Unread) == 0 && run.Table != "" {
			f.trail = newTrail(run)
			f.note.hosts = make(hosts)
		}
		return f
	}
}

// Each implements [audit.Follower].
func (f *follower) Each() bool { return f.trail != nil }

// Entry implements [audit.Follower].
func (f *follower) Entry(e *audit.Entry, holds func(string) audit.Money) (found, want string) {
	if f.note.read(e); e.Contract >= 0 {
		if found, want = bounds(e, &f.note, f.trail); found != "" {
			return found, want
		}
		if found, want = f.rebids(e); found != "" {
			return found, want
		}
		if found, want = f.promise(e, holds); found != "" {
			return found, want
		}
	}
	if f.trail == nil {
		return "", ""
	}
	return f.trail.entry(e, &f.note, holds)
}

// End implements [audit.Follower].
func (f *follower) End(seq int64) *audit.Finding {
	if f.trail == nil {
		return f.unpaid(seq)
	}
	return f.trail.finish(seq)
}

// Result implements [audit.Follower].
func (f *follower) Result() (r audit.Result) {
	if f.run != nil {
		r.Findings = append(r.Findings, f.run.Unread...)
		if f.run.Table == "" {
			r.Beyond = []string{"rows of jobs, and charges, which were not recomputed because the results have no table of jobs"}
		}
	}
	if t := f.trail; t != nil {
		r.Findings, r.Computed = append(r.Findings, t.found...), t.computed
		if t.beyond != "" {
			r.Beyond = []string{t.beyond}
		}
		switch r0 := t.run.Rules; {
		case t.booked != nil:
			r.Beyond = append(r.Beyond, t.booked.notRecomputed()...)
		case r0 != nil && r0.Booked != nil:
			r.Beyond = append(r.Beyond, "the intervals sold, and their prices, because users may accept other offers or hosts leave")
		}
		if t.sale != nil {
			r.Beyond = append(r.Beyond, t.sale.beyond()...)
		}
	}
	return r
}
