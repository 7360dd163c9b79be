package live

import (
	"errors"

	"bourse/hosts"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Prices are those of the hosts of a market, as its log has them.
type Prices struct {
	Hosts []hosts.Spec
	Steps []HostPrice // in order of time
	End   float64     // instant of the last record
}

// PricesOf reads them from the log in dir.
func PricesOf(dir string, fs vfs.FS) (*Prices, error) {
	l, as, conf, err := readLog(dir, fs)
	if err != nil {
		return nil, err
	}
	defer l.db.Close()
	k, from, err := l.begun(as, &conf)
	if err != nil {
		return nil, err
	}
	out := new(Prices)
	for t := range l.retold(k, from+1, &err) {
		if t.err != nil {
			return nil, t.err
		}
		out.Steps, out.End = prices(out.Steps, k.broker.View(), t.record.Now), t.record.Now
	}
	for _, h := range k.hosts {
		out.Hosts = append(out.Hosts, h.Spec)
	}
	if err == nil && (len(out.Hosts) == 0 || len(out.Steps) == 0) {
		err = errors.New("the market's log has no prices: no host was ever there")
	}
	return out, err
}
