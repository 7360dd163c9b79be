package models

import (
	"errors"
	"fmt"
	"io"
	"os"

	"bourse/workloadgen"
	"bourse/workloadgen/config"
)

// A File is a model as stored in a file, which a fit writes and a scenario reads:
//
//	about: [fitted to trace.swf]
//	model: independent
//	options:
//	  iat: {name: hypweib, options: {alpha: 0.29}}
type File struct {
	About   []string       `yaml:"about,omitempty"`
	Model   string         `yaml:"model"`
	Options map[string]any `yaml:"options,omitempty"`
}

const maxFile = 1 << 20 // bytes

// Write writes the file.
func (f File) Write(w io.Writer) error {
	_, err := w.Write(config.Of(f).YAML())
	return err
}

// New creates the model.
func (f File) New() (workloadgen.Model, error) {
	return Table().New(f.Model, config.Spec{Options: f.Options}.Decode)
}

// ReadFile reads the named file. Unknown fields are errors.
func ReadFile(name string) (File, error) {
	var f File
	in, err := os.Open(name)
	if err != nil {
		return f, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxFile {
		return f, fmt.Errorf("%s: more than %d bytes", name, maxFile)
	}
	return f, config.Read(name, text, &f)
}

// FileOptions are the options of the model "file".
type FileOptions struct {
	File string `yaml:"file" doc:"model file written by bourse workload fit"`
}

func newFile(decode func(any) error) (workloadgen.Model, error) {
	var o FileOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.File == "" {
		return nil, errors.New("file: found nothing, want the name of a model file")
	}
	if info, err := os.Stat(o.File); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file, and a model is read more than once", o.File)
	}
	f, err := ReadFile(o.File)
	if err != nil {
		return nil, err
	}
	if f.Model == "file" {
		return nil, fmt.Errorf("%s: a model file cannot name another", o.File)
	}
	m, err := f.New()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	return m, nil
}
