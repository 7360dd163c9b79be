package whatif

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzSpotHistory compares the reader of EC2's spot prices with a reader that reads the whole
// file at once. The number of prices and the price from each time on must be equal.
func FuzzSpotHistory(f *testing.F) {
	f.Add(`{"SpotPriceHistory": [
  {"AvailabilityZone": "a", "InstanceType": "m", "ProductDescription": "L", "SpotPrice": "0.036", "Timestamp": "2010-01-01T00:01:00.000Z"},
  {"AvailabilityZone": "b", "InstanceType": "m", "ProductDescription": "L", "SpotPrice": "9", "Timestamp": "2010-01-01T00:00:30+02:00"},
  {"AvailabilityZone": "a", "InstanceType": "n", "ProductDescription": "W", "SpotPrice": "0.01", "Timestamp": "2010-01-01T00:00:00.000Z"}
], "NextToken": ""}`, "", "")
	f.Add(`{"x": [1, {"SpotPriceHistory": 2}], "SpotPriceHistory": [{"SpotPrice": "1", "Timestamp": "5"}, {"SpotPrice": "2", "Timestamp": "5"}, {"SpotPrice": "3", "Timestamp": "4"}]}`, "m L", "a")
	f.Fuzz(func(t *testing.T, text, series, zone string) {
		text = strings.TrimPrefix(text, "\ufeff")
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			return
		}
		p, read, err := readPrices(strings.NewReader(text), "f", PriceSeries{series, zone})
		if err != nil {
			return
		}
		var file map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			t.Fatalf("%q: read, though %v", text, err)
		}
		var all []struct{ AvailabilityZone, InstanceType, ProductDescription, SpotPrice, Timestamp string }
		if err := json.Unmarshal(file["SpotPriceHistory"], &all); err != nil {
			t.Fatalf("%q: read, though %v", text, err)
		}
		if strings.Count(text, "History") > 1 || strings.Contains(text, `\u`) { // the text may contain two lists
			return
		}
		prices := make(map[float64]float64) // price of the last entry with each time
		ours := 0
		for _, e := range all {
			if s := strings.TrimSpace(e.InstanceType + " " + e.ProductDescription); series != "" && s != series || zone != "" && e.AvailabilityZone != zone {
				continue
			}
			ours++
			at, err := time.Parse(time.RFC3339, e.Timestamp)
			seconds := float64(at.UnixNano()) / 1e9
			if err != nil {
				if at, err = time.Parse("2006-01-02 15:04:05", e.Timestamp); err == nil {
					seconds = float64(at.Unix())
				} else if seconds, err = strconv.ParseFloat(e.Timestamp, 64); err != nil {
					t.Fatalf("%q: read, though %v", text, err)
				}
			}
			price, err := strconv.ParseFloat(e.SpotPrice, 64)
			if err != nil {
				t.Fatalf("%q: read, though %v", text, err)
			}
			prices[seconds] = price / 3600
		}
		if read.Used+read.Replaced != ours || read.Used+read.Replaced+read.Others != len(all) || read.Used != len(prices) || len(p.Steps) != len(prices) {
			t.Fatalf("%q: %v, want %d of %d, at %d times", text, read, ours, len(all), len(prices))
		}
		for i, s := range p.Steps {
			if want, found := prices[s.At]; !found || s.Price != want || i > 0 && s.At <= p.Steps[i-1].At {
				t.Fatalf("%q: step %d is %v, want the price %v", text, i, s, want)
			}
		}
	})
}
