package live

import (
	"errors"

	"bourse/hosts"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Prices contains the mean prices of a market's hosts, read from its log.
type Prices struct {
	Hosts int
	CPUs  float64 // mean number of processors per host
	Steps []Price // in order of time
	End   float64 // time of the last record
}

// PricesOf reads the prices from the log in dir.
func PricesOf(dir string, fs vfs.FS) (*Prices, error) {
	past, err := readHistory(dir, fs)
	if err != nil {
		return nil, err
	}
	defer past.db.Close()
	k := past.core
	out, last := new(Prices), make(map[int]float64)
	for t := range past.retold(k, past.from+1, &err) {
		if t.err != nil {
			return nil, t.err
		}
		v, changed := k.broker.View(), false
		for h := range v.Fleet() {
			price := v.Price(hosts.ID(h)).Float64()
			changed = changed || price != last[h]
			last[h] = price
		}
		if out.End = t.record.Now; changed {
			out.Steps = append(out.Steps, Price{At: out.End})
			for h := range v.Fleet() {
				out.Steps[len(out.Steps)-1].Price += last[h]
			}
		}
	}
	for _, h := range k.hosts {
		out.CPUs += h.Spec.CPUs / float64(len(k.hosts))
	}
	out.Hosts = len(k.hosts)
	for i := range out.Steps {
		out.Steps[i].Price /= float64(out.Hosts)
	}
	if err == nil && (out.Hosts == 0 || len(out.Steps) == 0) {
		err = errors.New("the market's log contains no prices, because no host ever joined")
	}
	return out, err
}
