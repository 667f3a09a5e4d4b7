/** The embedded chain against bare LiteSVM in the same run: transfers, latency over time, memory, and opening a full journal. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { base58 } from '@scure/base'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import native from 'litesvm/dist/internal.js'
import { openLocalChain } from '../src/localnet/index.ts'
import { openJournal } from '../src/localnet/journal.ts'
import { addressBytes } from '../src/solana/addresses.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../src/solana/program-ids.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'

const TRANSFERS = 10_000
const ACCOUNTS = 50_000
const ROUNDS = 5
const PROGRAMS_DIR = '/nonexistent'
const FUNDS = 1_000_000_000_000n

/** All figures of the embedded chain; about half a minute. */
export async function localnet(): Promise<Measurement[]> {
  return [...(await inFolder(transfers)), ...(await inFolder(openingFull))]
}

async function inFolder(measure: (folder: string) => Promise<Measurement[]>): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-localnet-'))
  try {
    return await measure(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Signed beforehand; the chain's answer is durable, bare LiteSVM forgets. */
async function transfers(folder: string): Promise<Measurement[]> {
  const [from, to] = [Keypair.generate(), Keypair.generate()]
  const bare = new native.LiteSvm()
  bare.setBlockhashCheck(false)
  for (const { publicKey } of [from, to]) {
    const funded = new native.Account(FUNDS, new Uint8Array(), addressBytes(SYSTEM_PROGRAM), false, 0n)
    bare.setAccount(publicKey.toBytes(), funded)
  }
  const now = Date.now()
  const chain = await openLocalChain({ dataDir: folder, programsDir: PROGRAMS_DIR, now: () => now })
  for (const { publicKey } of [from, to]) chain.airdrop(publicKey.toBase58(), FUNDS)
  const recentBlockhash = chain.latestBlockhash().blockhash
  const raws = Array.from({ length: TRANSFERS }, (_, i) => {
    const instructions = [
      SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports: i + 1 }),
    ]
    const message = new TransactionMessage({ payerKey: from.publicKey, recentBlockhash, instructions })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([from])
    return transaction.serialize()
  })

  const floor = timed(() => {
    for (const raw of raws) bare.sendVersionedTransaction(raw)
  })
  globalThis.gc?.()
  const residentBefore = process.memoryUsage().rss
  const latencies: number[] = []
  for (const raw of raws) {
    latencies.push(timed(() => void chain.send(raw)))
    // As in a server: native memory is given back between two turns of the event loop, never within one.
    if (latencies.length % 100 === 0) await setImmediate()
  }
  const grown = (process.memoryUsage().rss - residentBefore) / 2 ** 20
  const again = timed(() => {
    for (const raw of raws) chain.transaction(signatureOf(raw))
  })
  chain.close()
  const whole = latencies.reduce((sum, ms) => sum + ms, 0)
  const first = median(latencies.slice(0, 1000))
  const last = median(latencies.slice(-1000))
  const rate = Math.round((TRANSFERS / whole) * 1000).toLocaleString('en')
  return [
    { name: `10,000 durable transfers, ${rate} a second`, ms: whole, ratio: whole / floor, floor: 'bare LiteSVM' },
    {
      name: `one of the last 1,000, memory ${grown < 0 ? '' : '+'}${grown.toFixed(0)} MB`,
      ms: last,
      ratio: last / first,
      floor: 'one of the first 1,000',
    },
    { name: '10,000 transactions read back', ms: again, ratio: again / floor, floor: 'bare LiteSVM running them' },
  ]
}

/** A journal of token accounts, opened. */
async function openingFull(folder: string): Promise<Measurement[]> {
  const data = new Uint8Array(165).fill(1)
  const addresses = Array.from({ length: ACCOUNTS }, (_, i) => createHash('sha256').update(`account ${i}`).digest())
  const journal = openJournal(Database, folder)
  journal.commit(() => {
    for (const [i, address] of addresses.entries()) {
      data.set(addresses[i % 500]!, 32)
      const account = { lamports: 2_039_280n, owner: TOKEN_PROGRAM, data, executable: false }
      journal.saveAccount(base58.encode(address), account)
    }
  })
  journal.close()

  const times = { floor: [] as number[], empty: [] as number[], full: [] as number[], first: [] as number[] }
  const [found, scanned] = [[] as number[], [] as number[]]
  const wallet = base58.encode(addresses[0]!)
  const open = async (dataDir: string, into: number[]) => {
    const started = performance.now()
    const chain = await openLocalChain({ dataDir, programsDir: PROGRAMS_DIR })
    into.push(performance.now() - started)
    return chain
  }
  // In turns, so that a slow moment of the machine falls on each.
  for (let round = 0; round < ROUNDS; round++) {
    const bare = new native.LiteSvm()
    times.floor.push(
      timed(() => {
        for (const address of addresses) {
          bare.setAccount(address, new native.Account(2_039_280n, data, addressBytes(TOKEN_PROGRAM), false, 0n))
        }
      }),
    )
    // Native memory is given back between two turns of the event loop, which is the floor's own cost.
    await setImmediate()
    ;(await open(join(folder, 'empty'), times.empty)).close()
    const chain = await open(folder, times.full)
    times.first.push(timed(() => void [...chain.tokenAccountsOf(wallet)]))
    found.push(timed(() => void [...chain.tokenAccountsOf(wallet)]))
    scanned.push(timed(() => void bare.getProgramAccounts(addressBytes(TOKEN_PROGRAM))))
    chain.close()
  }
  const floor = median(times.floor)
  const against = (name: string, list: readonly number[]) => ({
    name,
    ms: median(list),
    ratio: median(list) / floor,
    floor: 'setAccount × 50,000',
  })
  return [
    against('opened, no account', times.empty),
    against('opened, 50,000 token accounts', times.full),
    against('its first listing, which builds the index', times.first),
    {
      name: "a wallet's 100 token accounts of 50,000",
      ms: median(found),
      ratio: median(found) / median(scanned),
      floor: "LiteSVM's scan",
    },
  ]
}

function timed(work: () => void): number {
  const started = performance.now()
  work()
  return performance.now() - started
}

/** The name of a transaction with one signature. */
const signatureOf = (raw: Uint8Array): string => base58.encode(raw.subarray(1, 65))
