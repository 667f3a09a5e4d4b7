/** Submitting and following transactions: against the embedded chain alone, and against the same status calls alone. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { base58 } from '@scure/base'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { createApp } from '../daemon/app.ts'
import { openServices, operatorKey } from '../daemon/services.ts'
import { openChain } from '../src/chain/connection.ts'
import { readStatuses, STATUSES_PER_CALL } from '../src/chain/reads/statuses.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { loadConfig } from '../src/settings/config.ts'
import type { NewRow } from '../src/store/schema.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'

const SUBMISSIONS = 1000
/** Requests under way at once: as many share a commit. */
const PARALLEL = 16
/** Transactions that have not landed: the work of a round should grow with them, and no faster. */
const PENDING = [100, 1_000, 10_000]
/** Transactions that one round looks for. */
const OF_ONE_ROUND = 8_000
const ROUNDS = 5
const PROGRAMS_DIR = '/nonexistent'

/** All figures of transactions; about half a minute. */
export async function transactions(): Promise<Measurement[]> {
  return [...(await inFolder(submitting)), ...(await inFolder(following))]
}

async function inFolder(measure: (folder: string) => Promise<Measurement[]>): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-transactions-'))
  try {
    return await measure(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const configOf = (folder: string, flags: object = {}) =>
  loadConfig({ flags: { 'data-dir': folder, 'programs-dir': PROGRAMS_DIR, ...flags }, env: {}, cwd: folder })

interface Spent {
  ms: number
  /** Milliseconds of processor time of the whole process. */
  processor: number
}

/** Starts counting; the returned function tells what was spent since. */
function spending(): () => Spent {
  const [started, before] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { ms: performance.now() - started, processor: (user + system) / 1000 }
  }
}

/**
 * The whole app in this process: key, rate limit, validation, preflight, commit, send. Each `chain.send` waits for its
 * own durable write while requests share theirs, so a slow disk flatters the ratio of times; processor time shows the work.
 */
async function submitting(folder: string): Promise<Measurement[]> {
  const services = await openServices(configOf(folder))
  const key = await operatorKey(services)
  const app = await createApp(services)
  try {
    const chain = await services.chain.local()
    const [from, to] = [Keypair.generate(), Keypair.generate()]
    for (const { publicKey } of [from, to]) chain.airdrop(publicKey.toBase58(), 1_000_000_000_000n)
    let lamports = 0
    const signed = () => {
      const recentBlockhash = chain.latestBlockhash().blockhash
      return Array.from({ length: SUBMISSIONS }, () => {
        const instructions = [
          SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports: ++lamports }),
        ]
        const message = new TransactionMessage({ payerKey: from.publicKey, recentBlockhash, instructions })
        const transaction = new VersionedTransaction(message.compileToV0Message())
        transaction.sign([from])
        return transaction.serialize()
      })
    }
    const submit = async (raw: Uint8Array, skip_preflight: boolean) => {
      const body = JSON.stringify({ transaction: Buffer.from(raw).toString('base64'), skip_preflight })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await app.fetch(
        new Request('http://svc.test/v2/transactions', { method: 'POST', headers, body }),
      )
      if (response.status !== 200) throw new Error(await response.text())
    }
    const submitAll = async (skip: boolean): Promise<Spent> => {
      const raws = signed()
      const spent = spending()
      let next = 0
      await Promise.all(
        Array.from({ length: PARALLEL }, async () => {
          while (next < raws.length) await submit(raws[next++]!, skip)
        }),
      )
      return spent()
    }
    const sendAll = (): Spent => {
      const raws = signed()
      const spent = spending()
      for (const raw of raws) chain.send(raw)
      return spent()
    }
    const times = { floor: [] as Spent[], skipped: [] as Spent[], whole: [] as Spent[] }
    // In turns, so that a slow moment of the machine falls on each.
    for (let round = 0; round < ROUNDS; round++) {
      times.floor.push(sendAll())
      times.skipped.push(await submitAll(true))
      times.whole.push(await submitAll(false))
    }
    const medianOf = (spent: readonly Spent[], of: keyof Spent) => median(spent.map((one) => one[of]))
    const shown = (name: string, spent: readonly Spent[], of: keyof Spent) => ({
      name,
      ms: medianOf(spent, of),
      ratio: medianOf(spent, of) / medianOf(times.floor, of),
      floor: of === 'ms' ? 'chain.send' : 'processor time of chain.send',
    })
    const rate = (spent: readonly Spent[]) =>
      `${Math.round((SUBMISSIONS / medianOf(spent, 'ms')) * 1000).toLocaleString('en')} a second`
    return [
      shown(`1,000 by chain.send, ${rate(times.floor)}`, times.floor, 'ms'),
      shown(`1,000 submitted, no preflight, ${rate(times.skipped)}`, times.skipped, 'ms'),
      shown(`1,000 submitted, preflight, ${rate(times.whole)}`, times.whole, 'ms'),
      shown('  processor time of chain.send', times.floor, 'processor'),
      shown('  processor time, no preflight', times.skipped, 'processor'),
      shown('  processor time, preflight', times.whole, 'processor'),
    ]
  } finally {
    await app.close()
    await services.close()
  }
}

/** Rounds over transactions that have not landed, at a node that costs next to nothing. */
async function following(folder: string): Promise<Measurement[]> {
  const config = configOf(folder, { url: 'http://node.test' })
  const services = await openServices(config)
  const node: typeof fetch = async (_, init) => {
    const { method, params } = JSON.parse(String(init?.body)) as { method: string; params: [string[]] }
    if (method === 'getGenesisHash') return Response.json({ jsonrpc: '2.0', id: 1, result: 'g' })
    return Response.json({
      jsonrpc: '2.0',
      id: 1,
      result: { context: { slot: 1 }, value: params[0].map(() => null) },
    })
  }
  const chain = openChain(config, { around: () => node })
  let now = Date.now()
  const following = { ...services, chain, clock: { now: () => now } }
  const signatures: string[] = []
  /** Milliseconds of what looking for all of them takes, and of the same status calls alone. */
  const measured = async (count: number) => {
    const added = Array.from({ length: count - signatures.length }, (): NewRow<'transactions'> => pendingRow(now))
    await services.store.write(async (tx) => {
      for (let at = 0; at < added.length; at += 500) {
        await tx
          .insertInto('transactions')
          .values(added.slice(at, at + 500))
          .execute()
      }
    })
    signatures.push(...added.map(({ signature }) => signature))
    const times = { calls: [] as number[], rounds: [] as number[] }
    for (let round = -1; round < ROUNDS; round++) {
      const started = performance.now()
      for (let at = 0; at < count; at += STATUSES_PER_CALL) {
        await readStatuses(chain, signatures.slice(at, at + STATUSES_PER_CALL), false)
      }
      const called = performance.now()
      now += 20_000
      for (let looked = 0; looked < count; looked += OF_ONE_ROUND) await followTransactions(following)
      // The first round warms up.
      if (round < 0) continue
      times.calls.push(called - started)
      times.rounds.push(performance.now() - called)
    }
    return { calls: median(times.calls), rounds: median(times.rounds) }
  }
  try {
    const measurements: Measurement[] = []
    let first: number | undefined
    for (const count of PENDING) {
      const { calls, rounds } = await measured(count)
      const each = rounds / count
      first ??= each
      const name = `${count.toLocaleString('en')} pending looked for, ${(each * 1000).toFixed(0)} µs each`
      measurements.push({ name, ms: rounds, ratio: rounds / calls, floor: 'its status calls' })
      measurements.push({ name: '  one of them', ms: each, ratio: each / first, floor: `one of ${PENDING[0]}` })
    }
    return measurements
  } finally {
    await chain.close()
    await services.close()
  }
}

function pendingRow(now: number): NewRow<'transactions'> {
  const signature = randomBytes(64)
  return {
    signature: base58.encode(signature),
    raw: Buffer.concat([Buffer.of(1), signature, randomBytes(150)]),
    lifecycle: 'submitted',
    confirmation_status: null,
    err_json: null,
    slot: 0,
    confirmations: 0,
    tracked_resource_json: null,
    bundle_id: null,
    max_retries: 3,
    blockhash: base58.encode(randomBytes(32)),
    nonce_account: null,
    genesis: 'g',
    since_slot: null,
    checked_at: 0,
    next_check_at: now,
    next_send_at: null,
    sends: 0,
    external_uid: null,
    metadata_json: null,
    created_at: now,
  }
}
