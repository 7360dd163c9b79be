package workloadgen_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bourse/workloadgen"
	"bourse/workloadgen/csvtest"
)

// FuzzReadCSV checks that no file makes the reader panic, and that every accepted plan is
// valid, equals the plan of a second reader, and is the same after it is written and read
// again.
func FuzzReadCSV(f *testing.F) {
	const all = "id,user,arrival,runtime,estimate,deadline,nodes,worth,value,class,hard,urgent,penalty_rate,lead,on_demand,cancel\n"
	f.Add("arrival,runtime,nodes\n0,1,1\n")
	f.Add(all + "1,2,0.5,3,4,5,6,7,8.25,be,true,false,0.1,1,0,9\n")
	f.Add("nodes,\"arrival\",runtime\r\n1,1e3,2\r\n")
	f.Add("submit,procs,runtime,budget,penalty\r0,1,1,2,3\r")
	f.Add("\ufeffID,Submit,RunTime,Procs\n#x\n\n2.0,-0,\"1\n\",\"1\"\n7, +1 ,.5,1e0\n")
	f.Add("arrival,runtime,nodes,estimate,deadline,hard\n0,1,1,0,0,TRUE\n0,0x10,1,1_000,\"1,5\",1e400\n")
	f.Add(all + "9007199254740993,0,0,1,,,1,,,,,,,,,\n")
	f.Add("id,arrival,runtime,nodes,after,think,cpus\n1,0,1,1,0,,\n2,0,1,1,1,60.5,2\n3,0,1,1,3,1,\n")
	f.Add("arrival,runtime,nodes,memory,gpus,count.tape\n0,1,1,8e9,1,\n0,1,1,0,,2\n")
	f.Fuzz(func(t *testing.T, file string) {
		p, err := workloadgen.ReadCSV(strings.NewReader(file), "p.csv")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.csv:") {
				t.Fatalf("error %q does not name the file", err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if want, err := secondPlan(file); err != nil || !equal(p, want) {
			t.Fatalf("%q is\n%+v, want\n%+v, %v", file, p, want, err)
		}
		var again bytes.Buffer
		if err := workloadgen.WriteCSV(&again, p); err != nil {
			t.Fatal(err)
		}
		q, err := workloadgen.ReadCSV(&again, "again.csv")
		if err != nil || !equal(p, q) {
			t.Fatalf("second reading: %v, %v, want %v", q, err, p)
		}
	})
}

func equal(p, q workloadgen.Plan) bool {
	return slices.EqualFunc(p, q, func(a, b workloadgen.Job) bool { return reflect.DeepEqual(a, b) })
}

// secondPlan reads a plan with a second reader, written from the documentation of ReadCSV.
func secondPlan(file string) (workloadgen.Plan, error) {
	if strings.HasPrefix(file, "\x1f\x8b") {
		z, err := gzip.NewReader(strings.NewReader(file))
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(z)
		if err != nil {
			return nil, err
		}
		file = string(text)
	}
	rows, err := csvtest.Rows(file, '#')
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%d rows, %w", len(rows), err)
	}
	other := map[string]string{"submit": "arrival", "procs": "nodes", "budget": "value", "penalty": "penalty_rate", "gpus": "count.gpu"}
	var plan workloadgen.Plan
	for n, row := range rows[1:] {
		said := map[string]string{}
		for i, cell := range row {
			name := strings.ToLower(strings.TrimSpace(rows[0][i]))
			if full, ok := other[name]; ok {
				name = full
			}
			if _, twice := said[name]; twice {
				return nil, fmt.Errorf("column %s comes twice", name)
			}
			said[name] = strings.TrimSpace(cell)
		}
		number := func(name string, or float64) float64 {
			cell := said[name]
			delete(said, name)
			if cell == "" {
				return or
			}
			x, ok := csvtest.Number(cell)
			if !ok {
				err = fmt.Errorf("%s is %q", name, cell)
			}
			return x
		}
		whole := func(name string, or int64) int64 {
			if x, err := strconv.ParseInt(said[name], 10, 64); err == nil {
				delete(said, name)
				return x
			}
			x := number(name, float64(or))
			if x != float64(int64(x)) {
				err = fmt.Errorf("%s is %v", name, x)
			}
			return int64(x)
		}
		truth := func(name string) bool {
			cell := strings.ToLower(said[name])
			delete(said, name)
			if !slices.Contains([]string{"", "0", "1", "true", "false"}, cell) {
				err = fmt.Errorf("%s is %q", name, cell)
			}
			return cell == "1" || cell == "true"
		}
		j := workloadgen.Job{ID: whole("id", int64(n)+1), User: whole("user", 0), Arrival: number("arrival", -1), Runtime: number("runtime", -1), Nodes: int(whole("nodes", -1))}
		j.Estimate, j.Deadline = number("estimate", j.Runtime), number("deadline", j.Runtime)
		j.Worth, j.Value, j.Class = number("worth", 1), number("value", 0), said["class"]
		delete(said, "class")
		j.Hard, j.Urgent, j.OnDemand = truth("hard"), truth("urgent"), truth("on_demand")
		j.PenaltyRate, j.Lead, j.Cancel = number("penalty_rate", 0), number("lead", 0), number("cancel", 0)
		j.Parts, j.CPUs = int(number("parts", 0)), number("cpus", 0)
		if j.After, j.Think = whole("after", 0), number("think", 0); j.After != 0 && !slices.ContainsFunc(plan, func(p workloadgen.Job) bool { return p.ID == j.After }) {
			err = fmt.Errorf("after is %d", j.After)
		}
		needs := workloadgen.Needs{Memory: float64(whole("memory", 0)), Disk: float64(whole("disk", 0)), Bandwidth: float64(whole("bandwidth", 0))}
		for name := range said {
			if count, ok := strings.CutPrefix(name, "count."); ok && workloadgen.ValidCount(count) {
				if n := whole(name, 0); n != 0 {
					if needs.Counts == nil {
						needs.Counts = map[string]int{}
					}
					needs.Counts[count] = int(n)
				}
			}
		}
		if !reflect.DeepEqual(needs, workloadgen.Needs{}) {
			j.Needs = &needs
		}
		if len(said) > 0 {
			err = fmt.Errorf("columns %v", said)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", n+1, err)
		}
		plan = append(plan, j)
	}
	return plan, nil
}
