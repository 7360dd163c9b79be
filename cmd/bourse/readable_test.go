package main

import "testing"

// TestReadable checks that a page fits the width, that tables have columns if they fit, and
// that links are replaced by the names of their targets.
func TestReadable(t *testing.T) {
	t.Parallel()
	const page = `# Title

Some **words** and a [link](bank.md#money), [another](../../../bank/doc.go) and
![a picture](x.svg).

- an item that is long enough to be folded

| a | b |
| --- | --- |
| one | two |

| a | b |
| --- | --- |
| one | more than there is room for |

    b / (b + c)

` + "```console shown\n$ bourse docs\n```" + `
`
	const want = `# Title

Some words and a link (bourse
docs bank), another
(bank/doc.go) and
[a picture].

- an item that is long enough
  to be folded

a    b
one  two

a
    b

one
    more than there is room
    for

    b / (b + c)

    $ bourse docs
`
	if got := readable(page, 30); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
