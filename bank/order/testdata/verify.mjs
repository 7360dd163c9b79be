// Checks a signed order against public keys, without any code of this repository:
//
//	node verify.mjs ORDER KEY...
//
// prints its fields, one a line, if every key has signed it and nobody else has.
import { readFileSync } from 'node:fs'
import { createHash, createPublicKey, verify } from 'node:crypto'

const fail = (why) => { console.error(why); process.exit(1) }
const [file, ...keys] = process.argv.slice(2)
const bytes = readFileSync(file)
const end = bytes.indexOf('\n\n')
if (end < 0) fail('no signature')
const text = bytes.subarray(0, end + 1) // what is signed: all lines, each with its end
const signatures = bytes.subarray(end + 2).toString().split('\n').slice(0, -1)
if (signatures.length !== keys.length) fail(`${signatures.length} signatures`)

for (const key of keys) {
  // name+hash+base64(1, 32 bytes): the hash is that of name, line feed and those bytes
  const [name, hash, ...rest] = key.trim().split('+')
  const pub = Buffer.from(rest.join('+'), 'base64')
  const want = createHash('sha256').update(name + '\n').update(pub).digest().subarray(0, 4)
  if (pub.length !== 33 || pub[0] !== 1 || want.toString('hex') !== hash) fail(`no key: ${key}`)
  const line = signatures.find((s) => s.startsWith(`— ${name} `)) ?? fail(`${name} has not signed`)
  const sig = Buffer.from(line.split(' ')[2], 'base64') // 4 bytes of hash, 64 of ed25519
  if (!sig.subarray(0, 4).equals(want)) fail(`another key of ${name} has signed`)
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), pub.subarray(1)])
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  if (!verify(null, text, publicKey, sig.subarray(4))) fail(`${name} has not signed this`)
}

const lines = text.toString().split('\n').slice(0, -1)
if (!/^bourse [a-z]+ 1$/.test(lines[0])) fail('no order')
for (const line of lines) console.log(line)
