package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"bourse/bank/whole"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Patience is the time limit for the reply of a witness, including retries.
const Patience = 10 * time.Second

// A Peer is a witness that can be asked for a cosignature.
type Peer struct {
	URL string
	Key *torchwood.CosignatureVerifier // key that verifies the witness's reply
}

// AskAll asks all witnesses concurrently, each with the time limit patience. It returns the
// line of each witness, in order, or an error: see [Ask].
func AskAll(ctx context.Context, patience time.Duration, peers []Peer, signed []byte, proof func(from int64) (tlog.TreeProof, error)) (lines [][]byte, errs []error) {
	lines, errs = make([][]byte, len(peers)), make([]error, len(peers))
	var all sync.WaitGroup
	for i, p := range peers {
		all.Go(func() {
			ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %v", patience))
			defer cancel()
			lines[i], errs[i] = Ask(ctx, p.URL, p.Key, signed, 0, proof)
			if errs[i] != nil && errors.Is(errs[i], context.DeadlineExceeded) {
				errs[i] = fmt.Errorf("witness %s: %w", p.URL, context.Cause(ctx))
			}
		})
	}
	all.Wait()
	return lines, errs
}

// Ask asks the witness at url to cosign a signed checkpoint, and returns its cosignature line.
// The argument old is the size that the witness has probably signed last. The function proof
// returns the consistency proof from a given size. If key does not verify the line, Ask returns
// an error.
func Ask(ctx context.Context, url string, key *torchwood.CosignatureVerifier, signed []byte, old int64, proof func(from int64) (tlog.TreeProof, error)) (line []byte, err error) {
	for try := 0; ; try++ {
		line, conflict, err := ask(ctx, url, signed, old, proof)
		if conflict != nil && try == 0 {
			old = *conflict
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("witness %s: %w", url, err)
		}
		text, _, _ := strings.Cut(string(signed), "\n\n")
		if _, err := note.Open([]byte(text+"\n\n"+string(line)), note.VerifierList(key)); err != nil {
			return nil, fmt.Errorf("witness %s: its answer is not a signature by %s: %w", url, key.Name(), err)
		}
		return line, nil
	}
}

// ask sends one request. The result conflict is the size that the witness has signed last, if
// it differs from old.
func ask(ctx context.Context, url string, signed []byte, old int64, proof func(from int64) (tlog.TreeProof, error)) (line []byte, conflict *int64, err error) {
	hashes, err := proof(old)
	if err != nil {
		return nil, nil, err
	}
	var body bytes.Buffer
	fmt.Fprintf(&body, "old %d\n", old)
	for _, h := range hashes {
		fmt.Fprintln(&body, h)
	}
	body.WriteByte('\n')
	body.Write(signed)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(url, "/")+"/add-checkpoint", &body)
	if err != nil {
		return nil, nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	line, err = whole.ReadAll(answer.Body, maxBody)
	if err != nil {
		return nil, nil, err
	}
	text := strings.TrimSpace(string(line))
	switch answer.StatusCode {
	case http.StatusOK:
		return line, nil, nil
	case http.StatusConflict:
		size, err := strconv.ParseInt(text, 10, 64)
		if err != nil || size < 0 {
			return nil, nil, fmt.Errorf("found answer %q, want the size that the witness knows", text)
		}
		return nil, &size, fmt.Errorf("it signed a log of %d lines that this log does not extend", size)
	case http.StatusUnprocessableEntity:
		return nil, nil, fmt.Errorf("the checkpoint that it signed is not part of this log: %s", text)
	}
	return nil, nil, fmt.Errorf("%s: %s", answer.Status, text)
}
