/** How long a launch takes until it is confirmed and final, and how often nodes are asked, on both consensuses. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Keypair } from '@solana/web3.js'
import { DEFAULT_SETTINGS } from '../src/solana/cluster-settings.ts'
import { CONSENSUS_NAMES, CONSENSUSES, type Consensus } from '../src/solana/constants.ts'
import { IMAGES } from '../test/storage/images.ts'
import { startChain } from '../test/support/chain-process.ts'
import { type Daemon, startDaemon } from '../test/support/daemon.ts'
import { PROGRAMS_DIR } from '../test/support/programs.ts'
import { type Measurement, median } from './measurement.ts'
import { fund, signedWith } from './scaling/launches.ts'

const LAUNCHES = 5
/** Events are read this often, in milliseconds; reading them asks no node. */
const LOOK_MS = 10
const LONGEST_MS = 60_000
const ENDS = ['transaction.confirmed', 'transaction.finalized'] as const

interface Life {
  /** Milliseconds from the submission until each event is there. */
  confirmed: number
  finalized: number
}

/**
 * A chain and a daemon as processes, over HTTP and WebSocket. Each launch has two transactions, the second submitted
 * once the first is confirmed. Needs the programs of a launch in the program cache.
 */
export async function finality(): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (const consensus of CONSENSUSES) {
    const { lives, calls } = await launchesOn(consensus)
    const of = CONSENSUS_NAMES[consensus]
    const slot = { unit: 'ms', floor: 'a slot' }
    const time = (name: keyof Life): Measurement => {
      const value = median(lives.map((life) => life[name]))
      return { name: `submitted to ${name}, ${of}`, value, ratio: value / DEFAULT_SETTINGS.slotMs, ...slot }
    }
    const perLaunch = calls / LAUNCHES
    const counted = { value: perLaunch, unit: 'calls', ratio: perLaunch / (lives.length / LAUNCHES) }
    measurements.push(time('confirmed'), time('finalized'), {
      name: `calls to the node for a launch, ${of}`,
      ...counted,
      floor: 'a transaction',
    })
  }
  return measurements
}

async function launchesOn(consensus: Consensus): Promise<{ lives: Life[]; calls: number }> {
  const [chainFolder, folder] = ['chain', 'daemon'].map((name) => mkdtempSync(join(tmpdir(), `bench-${name}-`)))
  if (chainFolder === undefined || folder === undefined) throw new Error('there is no temporary folder')
  const programs = { SVC_PROGRAMS_DIR: PROGRAMS_DIR }
  const chain = await startChain(chainFolder, { SVC_CONSENSUS: consensus, ...programs })
  try {
    const platform = Keypair.generate().publicKey.toBase58()
    const own = { SVC_PUBLIC_URL: 'https://assets.example.com', SVC_PLATFORM_WALLET: platform }
    const env = { SVC_URL: chain.url, ...own, ...programs }
    const daemon = await startDaemon({ dataDir: folder, env })
    try {
      const creator = Keypair.generate()
      await fund(chain.url, creator.publicKey.toBase58(), 'finalized')
      const lives: Life[] = []
      // The first launch loads what the others find loaded.
      await launch(daemon, creator, 'Warm up')
      const before = await callsOf(daemon)
      for (let n = 0; n < LAUNCHES; n++) lives.push(...(await launch(daemon, creator, `Launch ${n}`)))
      return { lives, calls: (await callsOf(daemon)) - before }
    } finally {
      await daemon.stop()
    }
  } finally {
    await chain.stop()
    for (const each of [chainFolder, folder]) rmSync(each, { recursive: true, force: true })
  }
}

/** Builds, signs and submits the transactions of a launch in order, and returns when the last is final. */
async function launch(daemon: Daemon, creator: Keypair, name: string): Promise<Life[]> {
  const image = Buffer.from(IMAGES.png).toString('base64')
  const symbol = Keypair.generate()
    .publicKey.toBase58()
    .replace(/[^A-Z]/g, '')
    .slice(0, 8)
  const body = { creator: creator.publicKey.toBase58(), name, symbol, image, buy_amount: 0.01 }
  const { data } = await posted(daemon, '/v2/pools', body)
  const secrets: number[][] = Object.values(data.required_signers)
  const keys = [creator, ...secrets.map((bytes) => Keypair.fromSecretKey(Uint8Array.from(bytes)))]
  const ends: Promise<Life>[] = []
  for (const text of data.transactions as string[]) {
    const submittedAt = performance.now()
    const submitted = await posted(daemon, '/v2/transactions', { transaction: signedWith(text, keys) })
    const { signature } = submitted.data
    const passed = async (type: (typeof ENDS)[number]) => (await seen(daemon, signature, type)) - submittedAt
    const confirmed = await passed('transaction.confirmed')
    ends.push(passed('transaction.finalized').then((finalized) => ({ confirmed, finalized })))
  }
  return Promise.all(ends)
}

/** When an event of the transaction is there. */
async function seen(daemon: Daemon, signature: string, type: string): Promise<number> {
  for (const until = performance.now() + LONGEST_MS; performance.now() < until; await delay(LOOK_MS)) {
    const { json } = await daemon.request('GET', `/v2/events?resource_id=${signature}&type=${type}`)
    if (json.data.length > 0) return performance.now()
  }
  throw new Error(`${signature} has no ${type} after ${LONGEST_MS / 1_000} s`)
}

async function posted(daemon: Daemon, path: string, body: object) {
  const { status, text, json } = await daemon.request('POST', path, { body })
  if (status >= 300) throw new Error(`POST ${path} was answered ${status}: ${text}`)
  return json
}

/** Calls to the node since the daemon started, by its metrics. */
async function callsOf(daemon: Daemon): Promise<number> {
  const { text } = await daemon.request('GET', '/metrics')
  const lines = text.matchAll(/^svc_rpc_calls_total\{[^}]*\} (\d+)$/gm)
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
}
