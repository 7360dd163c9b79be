package workloadgen_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/workloadgen"
)

// jobs draws plans that satisfy every constraint of [workloadgen.Job].
func jobs(t *rapid.T) workloadgen.Plan {
	span := rapid.Float64Range(1e-9, 1e9)
	now := 0.0
	plan := make(workloadgen.Plan, rapid.IntRange(0, 20).Draw(t, "jobs"))
	for i := range plan {
		now += rapid.Float64Range(0, 1e6).Draw(t, "gap")
		plan[i] = workloadgen.Job{
			ID:          int64(i) * 3,
			User:        rapid.Int64Range(0, math.MaxInt64).Draw(t, "user"),
			Arrival:     now,
			Runtime:     span.Draw(t, "runtime"),
			Estimate:    span.Draw(t, "estimate"),
			Deadline:    span.Draw(t, "deadline"),
			Nodes:       rapid.IntRange(1, workloadgen.MaxNodes).Draw(t, "nodes"),
			Worth:       rapid.Float64Range(0, 1e15).Draw(t, "worth"),
			Value:       rapid.Float64Range(0, 1e12).Draw(t, "value"),
			Class:       rapid.SampledFrom([]string{"", "be", "cac", "A-b_9"}).Draw(t, "class"),
			Hard:        rapid.Bool().Draw(t, "hard"),
			Urgent:      rapid.Bool().Draw(t, "urgent"),
			PenaltyRate: rapid.Float64Range(0, 1e9).Draw(t, "penalty"),
		}
		plan[i].Parts = rapid.SampledFrom([]int{0, 0, 1, plan[i].Nodes}).Draw(t, "parts")
		plan[i].CPUs = rapid.SampledFrom([]float64{0, 0, 0.5, 8}).Draw(t, "cpus")
		plan[i].Needs = rapid.SampledFrom([]*workloadgen.Needs{nil, nil, {Memory: 8e9}, {Disk: 1 << 53, Bandwidth: 1}, {Counts: map[string]int{"gpu": 2}},
			{Memory: 1, Counts: map[string]int{"a-1": 1, "gpu": 1 << 30, "tape_drive": 3}}}).Draw(t, "needs")
	}
	return plan
}

// TestCSVRoundTrip checks that a plan is the same after it is written and read, compressed or
// not.
func TestCSVRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := jobs(t)
		var file bytes.Buffer
		if err := workloadgen.WriteCSV(&file, want); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "packed") {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(file.Bytes())
			z.Close()
			file = packed
		}
		got, err := workloadgen.ReadCSV(&file, "plan.csv")
		if err != nil {
			t.Fatal(err)
		}
		if !equal(got, want) {
			t.Fatalf("read %+v, want %+v", got, want)
		}
	})
}

// TestCSVDefaults checks the values of missing columns and fields, with columns in another
// order and after a byte order mark.
func TestCSVDefaults(t *testing.T) {
	t.Parallel()
	got, err := workloadgen.ReadCSV(strings.NewReader("\ufeffnodes, runtime,arrival,estimate\n3,20,1e1,\n1,5,10,7\n"), "plan.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := workloadgen.Plan{
		{ID: 1, Arrival: 10, Runtime: 20, Estimate: 20, Deadline: 20, Nodes: 3, Worth: 1},
		{ID: 2, Arrival: 10, Runtime: 5, Estimate: 7, Deadline: 5, Nodes: 1, Worth: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

// TestCSVNames checks the column names of the Libra papers' models.
func TestCSVNames(t *testing.T) {
	t.Parallel()
	got, err := workloadgen.ReadCSV(strings.NewReader(`id,submit,runtime,estimate,procs,urgent,hard,deadline,budget,penalty
7,1.5,100,200,4,1,0,400,12.5,0.25
`), "plan.csv")
	if err != nil {
		t.Fatal(err)
	}
	want := workloadgen.Plan{{ID: 7, Arrival: 1.5, Runtime: 100, Estimate: 200, Deadline: 400, Nodes: 4, Worth: 1,
		Value: 12.5, Urgent: true, PenaltyRate: 0.25}}
	if !slices.Equal(got, want) {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

// TestCSVNeeds checks the columns of resources: gpus is the same as count.gpu, and a column
// that no job uses is not written.
func TestCSVNeeds(t *testing.T) {
	t.Parallel()
	const file = "arrival,runtime,nodes,memory,count.gpu,count.tape,disk\n0,5,1,8e9,2,,0\n1,5,1,,0,3,\n2,5,1,0,0,0,0\n"
	plan, err := workloadgen.ReadCSV(strings.NewReader(file), "p.csv")
	if err != nil {
		t.Fatal(err)
	}
	if n := plan[0].Needs; n.Memory != 8e9 || n.Counts["gpu"] != 2 || plan[1].Needs.Counts["tape"] != 3 || plan[2].Needs != nil {
		t.Errorf("read %+v, want 8 GB and 2 GPUs, 3 tapes, and nothing", plan)
	}
	var out bytes.Buffer
	if err := workloadgen.WriteCSV(&out, plan); err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(out.String(), "\n"); !strings.HasSuffix(header, ",cancel,memory,gpus,count.tape") {
		t.Errorf("header %s, want it to end in memory, gpus, count.tape", header)
	}
}

// TestCSVEdited checks that a plan edited by a person or a spreadsheet is read as the same
// plan.
func TestCSVEdited(t *testing.T) {
	t.Parallel()
	want := workloadgen.Plan{
		{ID: 1, User: 2, Runtime: 100, Estimate: 100, Deadline: 100, Nodes: 2, Worth: 1, Value: 5, Hard: true},
		{ID: 2, User: 1, Arrival: 10, Runtime: 50, Estimate: 50, Deadline: 50, Nodes: 1, Worth: 1, Value: 3.5},
	}
	const plan = "id,user,arrival,runtime,nodes,value,hard\n1,2,0,100,2,5,true\n2,1,10,50,1,3.5,false\n"
	for name, file := range map[string]string{
		"as written":     plan,
		"CRLF":           strings.ReplaceAll(plan, "\n", "\r\n"),
		"marked":         "\ufeff" + plan,
		"spaces":         strings.ReplaceAll(plan, ",", " , "),
		"no last end":    strings.TrimSpace(plan),
		"empty lines":    strings.ReplaceAll(plan, "\n", "\n\n"),
		"comments":       "# edited\n" + strings.Replace(plan, "2,1", "# the other\n2,1", 1),
		"quoted":         strings.ReplaceAll(plan, "100", `"100"`),
		"upper case":     strings.ToUpper(plan),
		"exponents":      strings.ReplaceAll(plan, "100", "1E+02"),
		"signs":          strings.ReplaceAll(strings.ReplaceAll(plan, ",2,0,", ",+2,-0,"), "100", "+100"),
		"floats":         "id,user,arrival,runtime,nodes,value,hard\n1.0,2.0,0.0,100.0,2.0,5.0,1\n2.0,1.0,10.0,50.0,1.0,3.5,0\n",
		"another order":  "hard,value,nodes,runtime,arrival,user,id\ntrue,5,2,100,0,2,1\nfalse,3.5,1,50,10,1,2\n",
		"empty optional": "id,user,arrival,runtime,estimate,deadline,nodes,worth,value,class,hard\n1,2,0,100,,,2,,5,,true\n2,1,10,50,,,1,,3.5,,\n",
	} {
		got, err := workloadgen.ReadCSV(strings.NewReader(file), "plan.csv")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: read %+v", name, got)
		}
		if math.Signbit(got[0].Arrival) {
			t.Errorf("%s: an arrival of -0", name)
		}
	}
}

// TestCSVErrors checks that the error for an invalid file has file:line, the field, the value
// found and the values wanted.
func TestCSVErrors(t *testing.T) {
	t.Parallel()
	const head = "arrival,runtime,nodes\n"
	for _, c := range []struct{ file, want string }{
		{"", `p.csv:1: found nothing, want a header line`},
		{"arrival,runtime\n", `p.csv:1: found no column nodes, which is required`},
		{"arrival,runtime,nodes,colour\n", `p.csv:1: found column "colour", want one of id, user, arrival,`},
		{"arrival,runtime,nodes,nodes\n", `p.csv:1: found column nodes twice`},
		{"arrival,runtime,nodes,procs\n", `p.csv:1: found column nodes twice`},
		{"arrival;runtime;nodes\n0;1;1\n", `p.csv:1: found columns separated by ';', want commas`},
		{"arrival\truntime\tnodes\n0\t1\t1\n", `p.csv:1: found columns separated by '\t', want commas`},
		{"\xff\xfea\x00r\x00", "p.csv: found text in UTF-16, want UTF-8"},
		{"\xfe\xff\x00a\x00r", "p.csv: found text in UTF-16, want UTF-8"},
		{packed(head + "0,1,1\n")[:25], "p.csv: found a truncated gzip file, want a complete one"},
		{head + "0,1,1\n0,1\n", `p.csv:3: found 2 fields, want 3, as in the header`},
		{head + "0,\"1,1\n", `p.csv:2: extraneous or missing " in quoted-field`},
		{head + "0,fast,1\n", `p.csv:2: column runtime: found "fast", want a number of seconds`},
		{head + "0,,1\n", `p.csv:2: column runtime: found "", want a number of seconds`},
		{head + "0,NaN,1\n", `p.csv:2: column runtime: found "NaN", want a number of seconds`},
		{head + "inf,1,1\n", `p.csv:2: column arrival: found "inf", want a number of seconds`},
		{head + "0,1e1000000000,1\n", `p.csv:2: column runtime: found "1e1000000000", want a number of seconds`},
		{head + "0,0x1p4,1\n", `p.csv:2: column runtime: found "0x1p4", want a number of seconds`},
		{head + "0,1,1.5\n", `p.csv:2: column nodes: found "1.5", want a whole number in 1..16777216`},
		{head + "0,1,0\n", `p.csv:2: job 1: nodes 0 is not in 1..16777216`},
		{head + "0,1,99999999999\n", `p.csv:2: column nodes: found "99999999999"`},
		{head + "-1,1,1\n", `p.csv:2: job 1: arrival -1 is negative`},
		{"parts," + head + "2,0,1,1\n", `p.csv:2: job 1: parts 2 is not in 0..1 (nodes)`},
		{"parts," + head + "two,0,1,1\n", `p.csv:2: column parts: found "two", want a whole number, at most nodes`},
		{"memory," + head + "1.5,0,1,1\n", `p.csv:2: column memory: found "1.5", want a whole number of bytes, at most 9007199254740992`},
		{"disk," + head + "-1,0,1,1\n", `p.csv:2: column disk: found "-1", want a whole number of bytes`},
		{"gpus," + head + "2e9,0,1,1\n", `p.csv:2: column gpus: found "2e9", want a whole number in 0..1073741824`},
		{"gpus,count.gpu," + head, `p.csv:1: found column gpus twice`},
		{"count.memory," + head, `p.csv:1: found column "count.memory", want one of id,`},
		{head + "0,0,1\n", `p.csv:2: job 1: runtime is 0, want more`},
		{head + "0,1e12,1\n", `p.csv:2: job 1: runtime 1e+12 is more than 1e+11`},
		{head + "5,1,1\n4,1,1\n", `p.csv:3: column arrival: found 4, want at least 5, the arrival on the line above`},
		{"id," + head + "7,0,1,1\n7,0,1,1\n", `p.csv:3: column id: found 7, which line 2 has too, want a unique number`},
		{"id," + head + "-7,0,1,1\n", `p.csv:2: job -7: id -7 is negative`},
		{"id," + head + "9007199254740993,0,1,1\n", `p.csv:2: job 9007199254740993: id 9007199254740993 is more than 9007199254740992`},
		{"hard," + head + "yes,0,1,1\n", `p.csv:2: column hard: found "yes", want true or false`},
		{"class," + head + "<b>,0,1,1\n", `p.csv:2: column class: found "<b>", want at most 32 letters`},
		{"value," + head + "$5,0,1,1\n", `p.csv:2: column value: found "$5", want a number of dollars`},
		{"value," + head + "1e13,0,1,1\n", `p.csv:2: job 1: value 1e+13 is more than 1e+12`},
		{"value," + head + strings.Repeat("9", 1<<20) + ",0,1,1\n", `p.csv:2: column value: found "9999999999`},
	} {
		_, err := workloadgen.ReadCSV(strings.NewReader(c.file), "p.csv")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: error %v, want %s", c.file, err, c.want)
		}
	}
}

// TestValidate checks that invalid values that no file can contain are rejected as well.
func TestValidate(t *testing.T) {
	t.Parallel()
	good := workloadgen.Job{Runtime: 1, Estimate: 1, Deadline: 1, Nodes: 1}
	for _, c := range []struct {
		spoil func(*workloadgen.Job)
		want  string
	}{
		{func(j *workloadgen.Job) {}, ""},
		{func(j *workloadgen.Job) { j.Runtime = math.NaN() }, "job 0 (number 1 of the plan): runtime NaN is not a number"},
		{func(j *workloadgen.Job) { j.Value = math.Inf(1) }, "value +Inf is not a number"},
		{func(j *workloadgen.Job) { j.PenaltyRate = -1 }, "penalty_rate -1 is negative"},
		{func(j *workloadgen.Job) { j.Deadline = 0 }, "deadline is 0, want more"},
		{func(j *workloadgen.Job) { j.Lead = -1 }, "lead -1 is negative"},
		{func(j *workloadgen.Job) { j.User = -1 }, "user -1 is negative"},
		{func(j *workloadgen.Job) { j.Nodes, j.Parts = 3, 3 }, ""},
		{func(j *workloadgen.Job) { j.Nodes, j.Parts = 3, 4 }, "parts 4 is not in 0..3"},
		{func(j *workloadgen.Job) { j.CPUs = -1 }, "cpus -1 is negative"},
		{func(j *workloadgen.Job) { j.Parts = -1 }, "parts -1 is not in 0..1"},
		{func(j *workloadgen.Job) { j.Needs = &workloadgen.Needs{Memory: 0.5} }, "memory 0.5 is not a whole number"},
		{func(j *workloadgen.Job) { j.Needs = &workloadgen.Needs{Counts: map[string]int{"GPU": 1}} }, "count.GPU: want the name of a countable resource"},
		{func(j *workloadgen.Job) { j.Needs = &workloadgen.Needs{Counts: map[string]int{"gpu": -1}} }, "count.gpu -1 is not in 0..1073741824"},
	} {
		j := good
		c.spoil(&j)
		err := workloadgen.Plan{j}.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error %v, want %q", j, err, c.want)
		}
	}
}

// TestJobJSON checks that programs read a job's fields by the names of its columns.
func TestJobJSON(t *testing.T) {
	t.Parallel()
	job := workloadgen.Job{Parts: 1}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := workloadgen.WriteCSV(&table, workloadgen.Plan{job}); err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(table.String(), "\n")
	columns := strings.Split(header, ",")
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range columns {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s is a column, and no field", name)
		}
	}
	if len(fields) != len(columns) {
		t.Errorf("%d fields, want the %d columns", len(fields), len(columns))
	}
}

// packed returns text compressed with gzip.
func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}
