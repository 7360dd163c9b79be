package study

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"bourse/bank/exact"
	"bourse/bank/whole"
	"bourse/market"
	"bourse/workloadgen/swf"
)

// The lengths of windows for recorded series, in seconds. Demand for a cluster changes within
// minutes, and its jobs take hours. A spot price stays the same for hours.
const (
	demandWindow = 4 * 3600.0
	spotWindow   = day
)

const spotFile = "ec2-spot-prices-2009-12_2010-11.csv.gz"

// demands lists the logs whose demand is used as a price, by the name of the series.
var demands = []struct{ name, file string }{
	{"KTH demand", "KTH-SP2-1996-2.1-cln.swf.gz"},
	{"SDSC SP2 demand", "SDSC-SP2-1998-4.1-cln.valid.swf.gz"},
	{"SDSC Blue demand", "SDSC-BLUE-2000-4.1-cln.valid.swf.gz"},
}

// spots lists the instances in the record of Amazon's spot prices, by the name of the series.
var spots = []string{"us-east-1.linux.m1.small", "us-east-1.linux.m1.xlarge", "eu-west-1.linux.m1.small"}

// Recorded returns the series recorded in the files of dir. They are the spot prices of
// three EC2 instances and the demand in job logs. The price of a demand series assumes that
// each job bids one nano-dollar per second and processor, from its submission for the
// length of its runtime. For each missing file, it returns a note.
func Recorded(dir string) (all []Series, notes []string, err error) {
	missing := func(name string, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			notes = append(notes, fmt.Sprintf("%s is not in %s and was omitted.", name, dir))
			return nil
		}
		return err
	}
	prices, err := spotPrices(filepath.Join(dir, spotFile))
	if err := missing(spotFile, err); err != nil {
		return nil, nil, err
	}
	all = append(all, prices...)
	for _, d := range demands {
		trace, err := swf.ReadFile(filepath.Join(dir, d.file))
		if err != nil {
			if err := missing(d.file, err); err != nil {
				return nil, nil, err
			}
			continue
		}
		all = append(all, demand(d.name, trace))
	}
	return all, notes, nil
}

// demand returns the total demand of a log's jobs from the first to the last submission.
func demand(name string, t *swf.Trace) Series {
	var bids []bid
	end := 0.0
	for i := range t.Records {
		r := &t.Records[i]
		end = max(end, r.Submit)
		if r.Ran() {
			bids = append(bids, bid{r.Submit, r.Submit + r.Run, market.Rate(r.Width())})
		}
	}
	return series(name, demandWindow, end, bids)
}

// spotPrices reads the file of spot prices. Each line has the series, the time and the
// price in $ per hour.
func spotPrices(file string) ([]Series, error) {
	in, err := whole.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all, err := parseSpot(unzipped)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all, nil
}

func parseSpot(in io.Reader) ([]Series, error) {
	lines := csv.NewReader(in)
	found := make(map[string][]step)
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(line) != 3 || !slices.Contains(spots, line[0]) {
			continue
		}
		at, err := time.Parse(time.DateTime, line[1])
		if err != nil {
			return nil, err
		}
		hourly, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			return nil, err
		}
		price, ok := exact.Trunc(9, []float64{hourly}, []float64{3600})
		if !ok {
			return nil, fmt.Errorf("found a price of %v dollars per hour, want 0 or more", hourly)
		}
		found[line[0]] = append(found[line[0]], step{float64(at.Unix()), market.Rate(price)})
	}
	var all []Series
	for _, name := range spots {
		steps := found[name]
		if len(steps) == 0 {
			return nil, fmt.Errorf("no price of %s", name)
		}
		slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) }) // some lines are not in order of time
		s := Series{Name: "EC2 " + name, Window: spotWindow, End: steps[len(steps)-1].at - steps[0].at}
		for _, p := range steps {
			s.add(p.at-steps[0].at, p.price)
		}
		all = append(all, s)
	}
	return all, nil
}
