package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type written struct {
	Seq  int64    `json:"seq"`
	Time float64  `json:"time"`
	ID   string   `json:"id,omitempty"`
	More []string `json:"more,omitempty"`
}

// TestRead checks that only a text exactly as written is accepted, even if encoding/json treats
// other texts as equal.
func TestRead(t *testing.T) {
	t.Parallel()
	want := written{7, 1e21, "<é>\u2028", []string{"a"}}
	var line, text bytes.Buffer
	for enc, b := range map[*json.Encoder]*bytes.Buffer{NewEncoder(&line): &line, NewIndented(&text): &text} {
		if err := enc.Encode(want); err != nil {
			t.Fatal(b, err)
		}
	}
	for _, c := range []struct {
		r    *Reader
		text string
	}{{NewReader(), line.String()}, {NewReader(), strings.TrimSuffix(line.String(), "\n")}, {NewIndentedReader(), text.String()}} {
		var got written
		if err := c.r.Read([]byte(c.text), &got); err != nil || got.ID != want.ID || got.Time != want.Time || len(got.More) != 1 {
			t.Errorf("%q is read as %+v, %v", c.text, got, err)
		}
	}
	r := NewReader()
	for bad, want := range map[string]string{
		`{"seq":1,"time":0,"seq":1}`:             `at byte 18 found ",\"seq\":1}", want "}\n"`,
		`{"seq":1,"time":0,"Seq":1}`:             `at byte 18 found ",\"Seq\":1}", want "}\n"`,
		`{"Seq":1,"time":0}`:                     `at byte 3 found "\"Seq\":1,\"time\":0}", want "\"seq\":1,\"time\":0}\n"`,
		`{"ſeq":1,"time":0}`:                     "at byte 3 found",
		`{"seq":1,"time":0,"extra":1}`:           `at byte 18 found ",\"extra\":1}"`,
		`{"seq":1,"time":0}]x`:                   "invalid character ']' after top-level value",
		`{"seq":1,"time":0}{}`:                   "after top-level value",
		`{"seq":1,"time":0} `:                    "at byte 19",
		`{"seq":1,"time":0}` + "\r\n":            "at byte 19",
		`{"seq":1,"time":0}` + "\n\n":            "at byte 20 found",
		` {"seq":1,"time":0}`:                    "at byte 1",
		`{"time":0,"seq":1}`:                     "at byte 3",
		`{"seq":1}`:                              "at byte 9",
		`{"seq":1,"time":0.0}`:                   "at byte 18",
		`{"seq":1,"time":0e0}`:                   "at byte 18",
		`{"seq":1,"time":0,"id":""}`:             "at byte 18",
		`{"seq":1,"time":0,"id":"\u0041"}`:       "at byte 25",
		`{"seq":1,"time":0,"id":"\/"}`:           "at byte 25",
		"{\"seq\":1,\"time\":0,\"id\":\"\xff\"}": "at byte 25",
		`{"seq":1,"time":0,"more":null}`:         "at byte 18",
		`{"seq":1,"time":0,"more":[]}`:           "at byte 18",
		`null`:                                   "at byte 1",
		`{"seq":"1","time":0}`:                   "cannot unmarshal",
		`{"seq":1.0,"time":0}`:                   "cannot unmarshal",
		"":                                       "unexpected end",
	} {
		err := r.Read([]byte(bad), new(written))
		if err == nil || !errors.As(err, new(*mismatch)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %s", bad, err, want)
		}
	}
}
