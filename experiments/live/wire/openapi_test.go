package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/bufbuild/protocompile"
	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// A member is a member of an object whose members have an order.
type member struct {
	name  string
	value any
}

// An object is a JSON object that keeps the order of its members.
type object []member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		var value bytes.Buffer
		e := json.NewEncoder(&value)
		e.SetEscapeHTML(false)
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value.Bytes()...)
	}
	return append(out, '}'), nil
}

// A described is a file of definitions, and where its services answer.
type described struct {
	protoreflect.FileDescriptor
	servers object
}

// compiled returns the files that the document describes.
func compiled(t *testing.T) []described {
	t.Helper()
	c := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{".", "../../../bank/wire"}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), "market.proto", "bank.proto")
	if err != nil {
		t.Fatal(err)
	}
	return []described{
		{files[0], object{{"url", "http://127.0.0.1:8421"}, {"description", "a market of 'bourse live start'; 'bourse live serve' speaks HTTPS"}}},
		{files[1], object{{"url", "https://127.0.0.1:8424"}, {"description", "a bank of 'bourse bank serve'; with --plain, it speaks HTTP"}}},
	}
}

// about is the description of the whole document.
const about = `The calls of a market, of its operator, and of its bank. Each is a POST of a JSON object, with the header
Content-Type: application/json, by the Connect protocol; gRPC works, too.

Money is text in dollars with six decimals. An integer of 64 bits is text, too, as JavaScript would round it; in a request, a
number is accepted as well. An instant is the number of seconds since 2000-01-01 UTC. Bytes are base64. In an answer, a field
that is zero, empty or false is omitted, and in a request it may be. Unknown fields of a request are ignored. Within a
version, fields are added, but none is removed or changes its type.

**Who may call.** Users need no certificate and no password: what changes or reads something of an account contains a signed
order, which 'bourse bank sign' and 'bourse job submit' create. Calls of Admin need the operator's secret. A host proves its
identity by a client certificate, but only in the service by which it works for a market, bourse.hosts.v1.Link, which this
document does not contain. A server's own certificate is signed by itself: identify it by its pin (bourse docs certificates).
A call with the header Origin is refused, so a web page cannot call.

**Repetition.** An order counts once. If a call that contains one fails with unavailable, deadline_exceeded or unknown, or is
not answered, send it again: the answer is the first one.`

// answers are the HTTP statuses of calls that fail, and their codes in the protocol.
var answers = []struct {
	status int
	name   string
	codes  []string
	when   string
}{
	{http.StatusBadRequest, "Invalid", []string{"invalid_argument", "failed_precondition"}, "The request or its order is not well formed, or cannot be carried out in the present state."},
	{http.StatusForbidden, "Denied", []string{"permission_denied"}, "A signature, a right or the operator's secret is missing."},
	{http.StatusNotFound, "NotFound", []string{"not_found"}, "There is no such contract, host, file or entry."},
	{http.StatusConflict, "Exists", []string{"already_exists"}, "The id of the order was used for another order."},
	{http.StatusTooManyRequests, "Busy", []string{"resource_exhausted"}, "There are too many calls, or the message is too large."},
	{http.StatusInternalServerError, "Fault", []string{"internal", "unknown", "data_loss"}, "The server has a fault, or its storage."},
	{http.StatusServiceUnavailable, "Unavailable", []string{"unavailable"}, "The server cannot answer now: try again."},
	{http.StatusGatewayTimeout, "Late", []string{"deadline_exceeded"}, "The time of the call is over; what it asked for may still happen: try again."},
}

// document returns the OpenAPI document of the files.
func document(t *testing.T, files []described) []byte {
	t.Helper()
	var tags []any
	var paths, schemas object
	responses, failures := object{}, object{}
	schemas = append(schemas, member{"Error", object{
		{"type", "object"}, {"description", "The body of an answer that is not 200."}, {"required", []string{"code"}},
		{"properties", object{
			{"code", object{{"type", "string"}, {"description", "code of the protocol, such as not_found"}}},
			{"message", object{{"type", "string"}, {"description", "for people"}}},
			{"details", object{{"type", "array"}, {"items", object{{"type", "object"}}}}},
		}},
	}})
	for _, a := range answers {
		responses = append(responses, member{a.name, object{
			{"description", strings.Join(a.codes, ", ") + ": " + a.when},
			{"content", body(object{{"allOf", []any{
				ref("schemas", "Error"), object{{"properties", object{{"code", object{{"enum", a.codes}}}}}},
			}}})},
		}})
		failures = append(failures, member{fmt.Sprint(a.status), ref("responses", a.name)})
	}
	for _, f := range files {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			tag := object{{"name", string(s.FullName())}}
			if d := comment(s); d != "" {
				tag = append(tag, member{"description", d})
			}
			tags = append(tags, tag)
			for k := range s.Methods().Len() {
				paths = append(paths, member{fmt.Sprintf("/%s/%s", s.FullName(), s.Methods().Get(k).Name()), call(f, s.Methods().Get(k), failures)})
			}
		}
		for i := range f.Messages().Len() {
			m := f.Messages().Get(i)
			schemas = append(schemas, member{string(m.FullName()), schema(t, m)})
		}
	}
	text, err := json.Marshal(object{
		{"openapi", "3.1.0"},
		{"info", object{{"title", "bourse: a market for computing, and its bank"}, {"version", "v1"}, {"description", paragraphs(about)}}},
		{"tags", tags},
		{"paths", paths},
		{"components", object{
			{"schemas", schemas}, {"responses", responses},
			{"securitySchemes", object{{"operatorSecret", object{
				{"type", "http"}, {"scheme", "bearer"},
				{"description", "The secret of the market's operator: the field secret of serving.json in the market's folder. Each start of the market has another."},
			}}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", " "); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// call returns the path of a method.
func call(f described, m protoreflect.MethodDescriptor, failures object) object {
	security := []any{} // none
	if m.Parent().Name() == "Admin" {
		security = append(security, object{{"operatorSecret", []string{}}})
	}
	return object{{"servers", []any{f.servers}}, {"post", object{
		{"tags", []string{string(m.Parent().FullName())}},
		{"operationId", fmt.Sprintf("%s_%s", m.Parent().Name(), m.Name())},
		{"description", comment(m)},
		{"security", security},
		{"requestBody", object{{"required", true}, {"content", body(ref("schemas", string(m.Input().FullName())))}}},
		{"responses", append(object{{"200", object{
			{"description", "done"}, {"content", body(ref("schemas", string(m.Output().FullName())))},
		}}}, failures...)},
	}}}
}

func ref(kind, name string) object { return object{{"$ref", "#/components/" + kind + "/" + name}} }

func body(schema object) object {
	return object{{"application/json", object{{"schema", schema}}}}
}

// schema returns the schema of a message as JSON.
func schema(t *testing.T, m protoreflect.MessageDescriptor) object {
	out := object{{"type", "object"}}
	if d := comment(m); d != "" {
		out = append(out, member{"description", d})
	}
	fields := object{}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		is := kind(t, f)
		if f.IsList() {
			is = object{{"type", "array"}, {"items", is}}
		}
		if d := comment(f); d != "" {
			is = append(is, member{"description", d})
		}
		fields = append(fields, member{f.JSONName(), is})
	}
	return append(out, member{"properties", fields})
}

// kind returns the schema of one value of a field.
func kind(t *testing.T, f protoreflect.FieldDescriptor) object {
	t.Helper()
	if f.IsMap() { // of strings to values
		return object{{"type", "object"}, {"additionalProperties", kind(t, f.MapValue())}}
	}
	switch f.Kind() {
	case protoreflect.StringKind:
		return object{{"type", "string"}}
	case protoreflect.BytesKind:
		return object{{"type", "string"}, {"contentEncoding", "base64"}}
	case protoreflect.BoolKind:
		return object{{"type", "boolean"}}
	case protoreflect.Int32Kind:
		return object{{"type", "integer"}, {"format", "int32"}}
	case protoreflect.Uint32Kind:
		return object{{"type", "integer"}, {"minimum", 0}, {"maximum", 1<<32 - 1}}
	case protoreflect.Int64Kind:
		return object{{"type", "string"}, {"format", "int64"}, {"pattern", "^-?[0-9]+$"}}
	case protoreflect.DoubleKind:
		return object{{"oneOf", []any{object{{"type", "number"}}, object{{"enum", []string{"NaN", "Infinity", "-Infinity"}}}}}}
	case protoreflect.MessageKind:
		return ref("schemas", string(f.Message().FullName()))
	default:
		t.Fatalf("%s is of kind %s, which is not described", f.FullName(), f.Kind())
		return nil
	}
}

// comment returns the comment of a definition as one line per paragraph.
func comment(d protoreflect.Descriptor) string {
	at := d.ParentFile().SourceLocations().ByDescriptor(d)
	return paragraphs(cmp.Or(at.LeadingComments, at.TrailingComments))
}

// paragraphs joins the lines of each paragraph of text.
func paragraphs(text string) string {
	var all []string
	for p := range strings.SplitSeq(text, "\n\n") {
		all = append(all, strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(all, "\n\n")
}

// TestOpenAPI checks that the stored document is that of today's definitions, and that an
// independent reader finds no error in it, and every call.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	files := compiled(t)
	text := document(t, files)
	if *update {
		if err := os.WriteFile("openapi.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(text, OpenAPI) {
		t.Error("openapi.json is out of date: run go generate ./experiments/live/wire, or go test ./experiments/live/wire -update")
	}
	d, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	model, err := d.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, f := range files {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for k := range s.Methods().Len() {
				name := fmt.Sprintf("/%s/%s", s.FullName(), s.Methods().Get(k).Name())
				path := model.Model.Paths.PathItems.GetOrZero(name)
				calls++
				if path == nil || path.Post == nil || path.Post.Description == "" || path.Post.Responses.Codes.Len() != 1+len(answers) {
					t.Errorf("%s is not described, with its errors", name)
				}
			}
		}
	}
	if n := model.Model.Paths.PathItems.Len(); n != calls || calls < 26 {
		t.Errorf("%d paths for %d calls", n, calls)
	}
	planted := bytes.Replace(text, []byte(`#/components/schemas/bank.v1.Holding"`), []byte(`#/components/schemas/none"`), 1)
	if d, err := libopenapi.NewDocumentWithConfiguration(planted, &datamodel.DocumentConfiguration{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	} else if _, err := d.BuildV3Model(); err == nil {
		t.Error("a planted reference to nothing was not seen")
	}
}

// TestSchemasOfMessages checks each message, with all fields set, as the servers write it,
// against its schema.
func TestSchemasOfMessages(t *testing.T) {
	t.Parallel()
	files := compiled(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document(t, files)))
	if err != nil {
		t.Fatal(err)
	}
	schemas := doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
	for _, s := range schemas {
		s.(map[string]any)["additionalProperties"] = false
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		for i := range f.Messages().Len() {
			m := f.Messages().Get(i)
			is, err := c.Compile("openapi.json#/components/schemas/" + string(m.FullName()))
			if err != nil {
				t.Fatal(err)
			}
			text, err := protojson.Marshal(filled(m, 3))
			if err != nil {
				t.Fatal(err)
			}
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if n += len(v.(map[string]any)); len(v.(map[string]any)) != m.Fields().Len() {
				t.Errorf("%s: not all fields are set: %s", m.FullName(), text)
			}
			if err := is.Validate(v); err != nil {
				t.Errorf("%s: %v", m.FullName(), err)
			}
		}
	}
	if n < 150 {
		t.Errorf("%d fields were checked", n)
	}
}

// filled returns a message with all fields set, down to a depth.
func filled(m protoreflect.MessageDescriptor, depth int) *dynamicpb.Message {
	out := dynamicpb.NewMessage(m)
	values := map[protoreflect.Kind]protoreflect.Value{
		protoreflect.StringKind: protoreflect.ValueOfString("12.500000"), protoreflect.BytesKind: protoreflect.ValueOfBytes([]byte{0xff, 1, 2}),
		protoreflect.BoolKind: protoreflect.ValueOfBool(true), protoreflect.Int32Kind: protoreflect.ValueOfInt32(-7),
		protoreflect.Uint32Kind: protoreflect.ValueOfUint32(1<<32 - 1), protoreflect.Int64Kind: protoreflect.ValueOfInt64(-1 << 63),
		protoreflect.DoubleKind: protoreflect.ValueOfFloat64(1e-9),
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if f.IsMap() {
			out.Mutable(f).Map().Set(protoreflect.ValueOfString("gpu").MapKey(), values[f.MapValue().Kind()])
			continue
		}
		v, ok := values[f.Kind()]
		if !ok && depth > 0 {
			v, ok = protoreflect.ValueOfMessage(filled(f.Message(), depth-1)), true
		}
		switch {
		case !ok:
		case f.IsList():
			out.Mutable(f).List().Append(v)
		default:
			out.Set(f, v)
		}
	}
	return out
}

// failing is a market whose calls of About fail with a code.
type failing struct {
	UnimplementedMarketHandler
	code connect.Code
}

func (f failing) About(context.Context, *AboutRequest) (*AboutResponse, error) {
	return nil, connect.NewError(f.code, errors.New("as planned"))
}

// TestCodesDescribed checks that servers report each code with the status that the document
// states, and that the body is an Error.
func TestCodesDescribed(t *testing.T) {
	t.Parallel()
	seen := 0
	for code := connect.CodeCanceled; code <= connect.CodeUnauthenticated; code++ {
		_, h := NewMarketHandler(failing{code: code})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, MarketAboutProcedure, strings.NewReader(`{"unknown": 1}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Body.String(); got != fmt.Sprintf(`{"code":%q,"message":"as planned"}`, code) {
			t.Errorf("%v: %s", code, got)
		}
		for _, a := range answers {
			if slices.Contains(a.codes, code.String()) {
				seen++
				if w.Code != a.status {
					t.Errorf("%v: status %d, want %d", code, a.status, w.Code)
				}
			}
		}
	}
	if seen != 11 {
		t.Errorf("%d codes are described", seen)
	}
}
