// Command witness replaces independent witnesses, and programs that send checkpoints to them,
// in a test of bank/witness. It shares no code with that package.
//
//	witness serve LOG-KEY NAME  cosign what extends the log, over HTTP; prints its key and URL
//	witness ask URL OLD         have the witness at URL cosign the checkpoint on standard
//	                            input, behind lines of proof and an empty one
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	cosign "github.com/transparency-dev/formats/note"
	client "github.com/transparency-dev/witness/client/http"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"
)

func main() {
	log.SetFlags(0)
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3])
	case len(os.Args) == 4 && os.Args[1] == "ask":
		err = ask(os.Args[2], os.Args[3])
	default:
		err = errors.New("want serve LOG-KEY NAME, or ask URL OLD")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func serve(logKey, name string) error {
	known, err := note.NewVerifier(logKey)
	if err != nil {
		return err
	}
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return err
	}
	if public, err = cosign.VKeyToCosignatureV1(public); err != nil {
		return err
	}
	signer, err := cosign.NewSignerForCosignatureV1(private)
	if err != nil {
		return err
	}
	w, err := witness.New(context.Background(), witness.Opts{
		Persistence: inmemory.New(),
		Signers:     []note.Signer{signer},
		VerifierForLog: func(_ context.Context, origin string) (note.Verifier, bool, error) {
			return known, origin == known.Name(), nil
		},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(public)
	fmt.Println("http://" + l.Addr().String())
	http.HandleFunc("POST /add-checkpoint", witness.NewHTTPHandler(w).AddCheckpoint)
	return http.Serve(l, nil)
}

func ask(address, old string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	from, err := strconv.ParseUint(old, 10, 64)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	lines, checkpoint, ok := strings.Cut("\n"+string(text), "\n\n")
	if !ok {
		return errors.New("want an empty line before the checkpoint")
	}
	var proof [][]byte
	for line := range strings.FieldsSeq(lines) {
		hash, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return err
		}
		proof = append(proof, hash)
	}
	answer, size, err := client.NewWitness(at, http.DefaultClient).Update(context.Background(), from, []byte(checkpoint), proof)
	if errors.Is(err, witness.ErrCheckpointStale) {
		return fmt.Errorf("%w: %d", err, size)
	}
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(answer)
	return err
}
