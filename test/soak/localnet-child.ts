/** A process that works the embedded chain until it is killed: says `try RAW` before and `done SIGNATURE` after each transaction. */
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { Keypair, SystemProgram } from '@solana/web3.js'
import { openLocalChain } from '../../src/localnet/index.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { signed, signedV1 } from '../support/local-chain-transactions.ts'

const [dataDir = '', round = '0', ...again] = process.argv.slice(2)
const wallets = Array.from({ length: 8 }, (_, i) =>
  Keypair.fromSeed(createHash('sha256').update(`soak wallet ${i}`).digest()),
)
const chain = await openLocalChain({ dataDir, programsDir: '/nonexistent' })
// Synchronous, so that no answer is lost between the chain and whoever reads it.
const say = (what: string, text: string) => writeSync(1, `${what} ${text}\n`)

for (const raw of again) {
  try {
    say('done', chain.send(Buffer.from(raw, 'base64')).signature)
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    say('refused', error.message)
  }
}
for (const { publicKey } of wallets) {
  const address = publicKey.toBase58()
  if ((chain.account(address)?.lamports ?? 0n) < 1_000_000_000_000n) {
    say('done', chain.airdrop(address, 10_000_000_000_000n))
  }
}
for (let n = 0; ; n++) {
  const from = wallets[n % 8]!
  const to = wallets[(n * 5 + 3) % 8]!
  // Every ninth is more than there is: it fails, and pays all the same.
  const lamports = n % 9 === 0 ? 2n ** 60n + BigInt(n) : BigInt(n + 1) * 1000n + BigInt(round)
  if (n % 25 !== 24) {
    const raw = transfer(from, to, lamports)
    say('try', Buffer.from(raw).toString('base64'))
    say('done', chain.send(raw).signature)
    continue
  }
  const bundle = [transfer(from, to, lamports), transfer(to, from, lamports + 1n)]
  const outcome = chain.sendBundle(bundle)
  if (outcome.landed) say('bundle', outcome.signatures.join(' '))
}

/** Every second one is of version 1. */
function transfer(from: Keypair, to: Keypair, lamports: bigint): Uint8Array {
  const { blockhash } = chain.latestBlockhash()
  const instructions = [SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports })]
  const version = lamports % 2n === 0n ? signedV1 : signed
  return version(instructions, [from], { blockhash })
}
