/** A process that gives the embedded chain random and mutated transactions of version 1; says what became of them. */
import { mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { openLocalChain } from '../../src/localnet/index.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { MalformedTransaction, messageBytesOf } from '../../src/solana/messages.ts'
import * as ids from '../../src/solana/program-ids.ts'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { signedV1, transfer } from '../support/local-chain-transactions.ts'
import { randomOf } from '../support/random.ts'

const [seed = '1', count = '1000'] = process.argv.slice(2)
const random = randomOf(Number(seed))
const dataDir = mkdtempSync(join(tmpdir(), 'svc-v1-fuzz-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
let wall = Date.UTC(2026, 10, 1)
const chain = await openLocalChain({ dataDir, programsDir: '/nonexistent', now: () => wall })
const bytes = (length: number) => Uint8Array.from({ length }, () => random.below(256))
const wallets = Array.from({ length: 3 }, () => Keypair.fromSeed(bytes(32)))
for (const { publicKey } of wallets) chain.airdrop(publicKey.toBase58(), 100_000_000_000_000n)

const NAMED = Object.values(ids).flatMap((named) => (typeof named === 'string' ? [named] : [...named]))
const strangers = Array.from({ length: 3 }, () => new PublicKey(bytes(32)))
const anyKey = () =>
  random.chance(0.6)
    ? new PublicKey(random.pick(NAMED))
    : random.chance(0.6)
      ? random.pick(wallets).publicKey
      : random.pick(strangers)
const u32 = () => random.pick([0, 1, 149, 5_000, 200_000, 1_400_000, 8_388_608, 0xffff_ffff])

function instruction(): TransactionInstruction {
  if (random.chance(0.3)) return transfer(random.pick(wallets), anyKey(), BigInt(random.below(1_000_000_000)))
  const data = bytes(random.below(random.chance(0.1) ? 3_000 : 60))
  if (data.length > 4 && random.chance(0.7)) data.set([random.below(20), 0, 0, 0])
  const keys = Array.from({ length: random.below(8) }, () => {
    const pubkey = anyKey()
    return {
      pubkey,
      isSigner: wallets.some((wallet) => wallet.publicKey.equals(pubkey)),
      isWritable: random.chance(0.5),
    }
  })
  return new TransactionInstruction({ programId: anyKey(), keys, data: Buffer.from(data) })
}

const whole = () =>
  signedV1(Array.from({ length: random.below(5) }, instruction), [random.pick(wallets), ...wallets], {
    blockhash: chain.latestBlockhash().blockhash,
    priorityFeeLamports: random.chance(0.5) ? null : random.chance(0.9) ? BigInt(random.below(50_000)) : 2n ** 64n - 1n,
    ...(random.chance(0.3) && { computeUnitLimit: random.chance(0.2) ? null : u32() }),
    ...(random.chance(0.3) && { loadedAccountsDataSizeLimit: random.chance(0.2) ? null : u32() }),
    ...(random.chance(0.3) && { heapSize: 1024 * random.between(32, 256) }),
  })

/** Bytes of a transaction with some changed, cut off or added; signed anew by its payer in most cases. */
function mutated(): Uint8Array {
  let raw = Uint8Array.from(whole())
  const kind = random.below(8)
  if (kind === 0) raw = raw.subarray(0, random.below(raw.length))
  if (kind === 1) raw = Uint8Array.from([...raw, ...bytes(random.between(1, 80))])
  if (kind === 2) raw = Uint8Array.from([0x81, ...bytes(random.below(1_500))])
  if (kind === 3) raw.set([random.below(256)], random.below(42))
  if (kind >= 4) for (let n = random.between(1, 4); n > 0; n--) raw[random.below(raw.length)] = random.below(256)
  if (kind < 2 || raw.length < 130) return raw
  const message = messageBytesOf(raw)
  const payer = wallets.find(({ publicKey }) => Buffer.compare(publicKey.toBytes(), raw.subarray(42, 74)) === 0)
  if (payer !== undefined && message.length + 64 <= raw.length) {
    raw.set(keyPairOf(payer.secretKey.subarray(0, 32)).sign(message), message.length)
  }
  return raw
}

const outcomes = { landed: 0, failed: 0, refused: 0, malformed: 0, simulated: 0 }
function outcomeOf(run: () => keyof typeof outcomes): void {
  try {
    outcomes[run()]++
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    outcomes[error instanceof MalformedTransaction ? 'malformed' : 'refused']++
  }
}

for (let n = 0; n < Number(count); n++) {
  const raw = random.chance(0.4) ? whole() : mutated()
  // Without signatures the runtime sees what nobody could have signed.
  outcomeOf(() => {
    chain.simulate(raw, { replaceRecentBlockhash: random.chance(0.5), balances: true })
    return 'simulated'
  })
  outcomeOf(() => (chain.send(raw).err === null ? 'landed' : 'failed'))
  if (n % 50 === 0) wall += 1_000
}
chain.close()
writeSync(1, JSON.stringify(outcomes))
