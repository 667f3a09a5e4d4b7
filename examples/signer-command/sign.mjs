#!/usr/bin/env node
// A signer command for `svc wallet import NAME --address ADDRESS --signer-command "/path/to/sign.mjs /path/to/id.json"`.
// It signs with a keypair file of the Solana CLI. Put the call of a device or of a key store in place of that.
import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [, , file] = process.argv
const seed = Buffer.from(JSON.parse(readFileSync(file, 'utf8')).slice(0, 32))
// The DER form of an Ed25519 key is this prefix and the seed (RFC 8410).
const key = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})

// Standard input contains the bytes of the message to sign.
const message = readFileSync(0)
// svc shows the program's stderr to the user.
process.stderr.write(`signing ${message.length} bytes for ${process.env.SVC_SIGNER_ADDRESS}\n`)
process.stdout.write(`${sign(null, message, key).toString('base64')}\n`)
