/** What the transaction watcher needs in a test: a node that counts what it is asked, pending transactions, and daemons on one database. */

import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { Keypair, SystemProgram, TransactionMessage } from '@solana/web3.js'
import { expect, onTestFinished } from 'vitest'
import { createMetrics } from '../../daemon/metrics.ts'
import { startWorkers, type Workers } from '../../daemon/workers/frame.ts'
import { transactionWatcherWorker } from '../../daemon/workers/workers.ts'
import { type Chain, openChain } from '../../src/chain/connection.ts'
import { openProgramVerdicts } from '../../src/operations/programs/program-state.ts'
import { type Log, silentLog } from '../../src/platform/log.ts'
import { type Config, loadConfig } from '../../src/settings/config.ts'
import { openVault } from '../../src/store/installation/vault.ts'
import type { NewRow } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { numbers, temporaryFolder } from '../store/databases.ts'
import { START, type TestClock, testClock } from '../support/service.ts'
import { type HandTiming, handTiming } from './frame-setting.ts'

export const NAME = transactionWatcherWorker.name
export const ROUND_MS = 2000
const SLOT_MS = 400
const GENESIS = 'genesis of a fake node'
const FIRST_SLOT = 10_000
const FINAL_SLOTS = 32

interface FakeNode {
  fetch: typeof fetch
  /** The slot by the clock. */
  slot(): number
  /** Slot that a signature landed in; absent while the chain does not know it. */
  landed: Map<string, number>
  /** How the node tells of signatures whose transaction is in a block and was not executed. */
  unexecuted: Map<string, object>
  /** Blockhashes that no longer count. */
  gone: Set<string>
  /** What was asked since the last `take`. */
  take(): { calls: string[]; asked: string[]; sent: string[] }
}

/** A node as far as following needs one, beneath the retries: every HTTP request counts as one call. */
export function fakeNode(clock: TestClock): FakeNode {
  const landed = new Map<string, number>()
  const unexecuted = new Map<string, object>()
  const gone = new Set<string>()
  let taken = { calls: [] as string[], asked: [] as string[], sent: [] as string[] }
  const slot = () => FIRST_SLOT + Math.floor((clock.now() - START) / SLOT_MS)

  const statusOf = (signature: string) => {
    const at = landed.get(signature)
    if (at === undefined || at > slot()) return null
    const depth = slot() - at
    const confirmationStatus = depth >= FINAL_SLOTS ? 'finalized' : depth >= 2 ? 'confirmed' : 'processed'
    const confirmations = depth >= FINAL_SLOTS ? null : depth
    return { slot: at, confirmations, err: null, confirmationStatus, ...unexecuted.get(signature) }
  }
  const answers: Record<string, (params: [never, never]) => unknown> = {
    getSignatureStatuses([signatures]: [string[], unknown]) {
      taken.asked.push(...signatures)
      return { context: { slot: slot() }, value: signatures.map(statusOf) }
    },
    isBlockhashValid: ([blockhash]) => ({ context: { slot: slot() - FINAL_SLOTS }, value: !gone.has(blockhash) }),
    getGenesisHash: () => GENESIS,
    getFirstAvailableBlock: () => 0,
    sendTransaction([text]) {
      const signature = base58.encode(Buffer.from(text, 'base64').subarray(1, 65))
      taken.sent.push(signature)
      return signature
    },
  }
  return {
    async fetch(_, init) {
      const { method, params } = JSON.parse(String(init?.body))
      if (answers[method] === undefined) {
        return Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } })
      }
      taken.calls.push(method)
      return Response.json({ jsonrpc: '2.0', id: 1, result: answers[method]!(params) })
    },
    slot,
    landed,
    unexecuted,
    gone,
    take() {
      const last = taken
      taken = { calls: [], asked: [], sent: [] }
      return last
    },
  }
}

const message = new TransactionMessage({
  payerKey: Keypair.generate().publicKey,
  recentBlockhash: base58.encode(randomBytes(32)),
  instructions: [
    SystemProgram.transfer({
      fromPubkey: Keypair.generate().publicKey,
      toPubkey: Keypair.generate().publicKey,
      lamports: 1,
    }),
  ],
}).compileToV0Message()
const MESSAGE = Buffer.from(message.serialize())
const SIGNERS = message.header.numRequiredSignatures

/** Rows as a submission leaves them; their signatures are made up, which nothing here checks. */
export async function insertPending(
  store: Store,
  count: number,
  more: (n: number) => Partial<NewRow<'transactions'>> = () => ({}),
): Promise<string[]> {
  const rows = numbers(count).map((n): NewRow<'transactions'> => {
    const signatures = randomBytes(64 * SIGNERS)
    return {
      signature: base58.encode(signatures.subarray(0, 64)),
      raw: Buffer.concat([Buffer.of(SIGNERS), signatures, MESSAGE]),
      lifecycle: 'submitted',
      confirmation_status: null,
      err_json: null,
      slot: 0,
      confirmations: 0,
      tracked_resource_json: null,
      bundle_id: null,
      max_retries: 3,
      blockhash: message.recentBlockhash,
      nonce_account: null,
      genesis: GENESIS,
      since_slot: null,
      checked_at: 0,
      next_check_at: START,
      next_send_at: null,
      sends: 0,
      external_uid: null,
      metadata_json: null,
      created_at: START,
      ...more(n),
    }
  })
  await store.write(async (tx) => {
    for (let at = 0; at < count; at += 500) {
      await tx
        .insertInto('transactions')
        .values(rows.slice(at, at + 500))
        .execute()
    }
  })
  return rows.map(({ signature }) => signature)
}

interface WatcherDaemon {
  workers: Workers
  timing: HandTiming
  chain: Chain
  config: Config
}

let owners = 0

/** The real watcher in a frame of its own; nothing ticks by itself. */
export async function startWatcher(
  store: Store,
  { clock = testClock(), fetch, log = silentLog }: { clock?: TestClock; fetch: typeof globalThis.fetch; log?: Log },
): Promise<WatcherDaemon> {
  const dataDir = temporaryFolder()
  const flags = { 'data-dir': dataDir, url: 'http://node.test' }
  const config = loadConfig({ flags, env: {}, cwd: dataDir })
  const chain = openChain(config, { around: () => fetch })
  onTestFinished(() => chain.close())
  const vault = await openVault({ store, dataDir, keyText: 'ab'.repeat(32) })
  const timing = handTiming(clock)
  const options = { owner: `watcher/${++owners}`, metrics: createMetrics(), timing }
  const workers = startWorkers(
    {
      config,
      store,
      vault,
      clock,
      log,
      chain,
      programs: openProgramVerdicts(store),
      signer: async () => null,
      ending: new AbortController().signal,
      wake() {},
      repeat: async () => undefined,
    },
    [transactionWatcherWorker],
    options,
  )
  timing.clear()
  return { workers, timing, chain, config }
}

/** Makes the absence on the chain proven, as two endpoints that agree do. */
export function agreeing(chain: Chain): void {
  const witnesses: Chain['witnesses'] = async (read) => [await read(chain)]
  Object.assign(chain, { provesAbsence: true, witnesses })
}

const twice = (names: readonly string[]) => names.filter((name, i) => i > 0 && name === names[i - 1])
/** Names that stand in the list more than once. */
export const repeated = (names: readonly string[]) => twice(names.toSorted())

/** Type and resource of every event in its order; their sequence must have no gap. */
export async function eventNames(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom('events')
    .select(['type', 'resource_id', 'sequence'])
    .orderBy('sequence')
    .execute()
  expect(rows.findIndex(({ sequence }, n) => sequence !== n + 1)).toBe(-1)
  return rows.map(({ type, resource_id }) => `${type} ${resource_id}`)
}
/** How many transactions are still followed. */
export const unended = async (store: Store) =>
  Number(
    (
      await store.db
        .selectFrom('transactions')
        .select((row) => row.fn.countAll().as('count'))
        .where('next_check_at', 'is not', null)
        .executeTakeFirstOrThrow()
    ).count,
  )
