package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"bourse/bank/whole"
	"bourse/experiments"
	"bourse/experiments/report"
)

// keepQuestion saves, in the current folder, the question that an external policy failed to
// answer. It returns a sentence with the command that repeats the question.
func keepQuestion(e *experiments.OutsideError) string {
	options := e.Choice.Options()
	given, _ := options["options"].(map[string]any)
	l := *e.Cause.Question
	l.Options = given
	text := new(bytes.Buffer)
	file := fmt.Sprintf("%s-%d.ask.json", e.Policy, e.Cause.Job)
	out := json.NewEncoder(text)
	out.SetIndent("", " ")
	err := out.Encode(&l)
	if err == nil {
		err = whole.Write(file, text.Bytes())
	}
	if err != nil {
		return fmt.Sprintf("the question could not be saved: %v", err)
	}
	again := []string{"bourse", "policy", "ask"}
	if command, ok := options["command"].([]any); ok {
		again = append(again, file, "--")
		for _, word := range command {
			again = append(again, fmt.Sprint(word))
		}
	} else {
		again = append(again, fmt.Sprint(options["file"]), file)
	}
	return fmt.Sprintf("question saved in %s; to repeat it: %s", file, report.Shell(again))
}
