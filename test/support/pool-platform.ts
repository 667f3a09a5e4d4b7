/** A platform that launches small pools over a node that can fail: one embedded chain with the real programs, one clock for all. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { vi } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { type OpenServices, openServices, operatorKey } from '../../daemon/services.ts'
import { openChain } from '../../src/chain/connection.ts'
import { EmbeddedChain } from '../../src/localnet/local-chain.ts'
import { openParts } from '../../src/localnet/opening.ts'
import type { LandedTransaction, LocalChain } from '../../src/localnet/types.ts'
import type { Log } from '../../src/platform/log.ts'
import { loadConfig, type SettingName } from '../../src/settings/config.ts'
import { DEFAULT_SETTINGS } from '../../src/solana/cluster-settings.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { databaseSettings } from './database.ts'
import { createFaultyNode, type Fault, faultsOf, type Logged, NODE_URL } from './faulty-node.ts'
import { TINY_CURVE } from './launches.ts'
import { SOL, START_MS } from './local-chain.ts'
import { keypairFile } from './platform-wallet.ts'
import { hasProgram, PROGRAMS_DIR } from './programs.ts'
import type { randomOf } from './random.ts'
import { requester } from './request.ts'
import { ORIGIN } from './service.ts'
import { addressOf, keypairOf } from './wallets.ts'

export { addressOf, keypairOf }

/** Every program that a launch, a claim and a migration run, as far as the cache lacks them. */
export const lackingPrograms = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.lock]
  .filter(({ id }) => !hasProgram(id))
  .map(({ name }) => name)

const PRESETS = {
  tiny: TINY_CURVE,
  vested: { ...TINY_CURVE, locked_vesting: { amount: '100000', periods: 10, duration_seconds: 1_000 } },
}

export { IMAGE } from './launches.ts'

export type Random = ReturnType<typeof randomOf>

/** Faults that the method alone can meet. */
const OWN: Record<string, number> = { sendTransaction: 3, getLatestBlockhash: 1 }

/** Each schedule meets some of the faults, from seldom to often: a launch asks a node some thirty times. */
export function faultsBy(random: Random): (method: string) => Fault | undefined {
  const rate = random.pick([0.03, 0.08, 0.15, 0.3, 0.6])
  const share = random.pick([0.2, 0.5, 1])
  // Few requests send, or ask for a blockhash, and what comes of them is what it is about.
  const own = { rate: random.pick([0, 0.1, 0.3, 0.7]), of: ['sendTransaction', 'getLatestBlockhash'] }
  const chosen = new Map<Fault, boolean>()
  const isChosen = (fault: Fault) => {
    if (!chosen.has(fault)) chosen.set(fault, random.chance(share))
    return chosen.get(fault)!
  }
  return (method) => {
    if (own.of.includes(method) && random.chance(own.rate)) return random.pick(faultsOf(method).slice(-OWN[method]!))
    if (!random.chance(rate)) return undefined
    const faults = faultsOf(method).filter(isChosen)
    return faults.length === 0 ? undefined : random.pick(faults)
  }
}

/** The clock is the chain's and every service's; it goes on where something waits, and by itself nowhere else. */
export interface Clock {
  now(): number
  advance(milliseconds: number): void
}

export interface ChainAndNode {
  chain: LocalChain
  clock: Clock
  node: ReturnType<typeof createFaultyNode>
  /** What has landed, in its order. */
  landed: LandedTransaction[]
  wallet: Keypair
  folder(): string
  close(): void
}

/** Slots of this chain; the schedules of its tests count in them. */
const SLOT_MS = 400

/** The chain with its node, which every service of it reaches as `NODE_URL`. */
export async function openChainAndNode(): Promise<ChainAndNode> {
  const folders: string[] = []
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'svc-pools-'))
    folders.push(made)
    return made
  }
  const wall = { ms: START_MS }
  const settings = { ...DEFAULT_SETTINGS, slotMs: SLOT_MS, consensus: 'tower' as const }
  const parts = await openParts({ dataDir: folder(), programsDir: PROGRAMS_DIR, now: () => wall.ms, settings })
  const chain: LocalChain = new EmbeddedChain(parts)
  const clock = {
    now: () => wall.ms,
    advance(milliseconds: number) {
      wall.ms += milliseconds
    },
  }
  // A chain that has been running for a while: there are old blockhashes, and slots for a node to be behind by.
  clock.advance(120_000)
  const node = createFaultyNode(chain)
  const landed: LandedTransaction[] = []
  chain.subscribe({ landed: (transaction) => void landed.push(transaction) })
  const restore = skipWaits(clock)
  vi.stubGlobal('fetch', node.fetch)
  const wallet = Keypair.generate()
  chain.airdrop(addressOf(wallet), 10_000n * SOL)
  return {
    chain,
    clock,
    node,
    landed,
    wallet,
    folder,
    close() {
      restore()
      vi.unstubAllGlobals()
      chain.close()
      for (const each of folders) rmSync(each, { recursive: true, force: true })
    },
  }
}

/** How long a signed request waits before it looks at its last step again. */
const LOOK_MS = 400
/** What passes of the clock instead. */
const SKIPPED_MS = 2_000

/** Waits of a request pass on the clock alone. */
function skipWaits(clock: Clock): () => void {
  const [wait, start] = [globalThis.setTimeout, clock.now()]
  const elapsed = performance.now.bind(performance)
  const skipping = (run: () => void, milliseconds?: number, ...more: []) => {
    if (milliseconds !== LOOK_MS) return wait(run, milliseconds, ...more)
    clock.advance(SKIPPED_MS)
    return wait(run, 0, ...more)
  }
  globalThis.setTimeout = Object.assign(skipping, wait) as typeof setTimeout
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + clock.now() - start)
  return () => {
    globalThis.setTimeout = wait
    spy.mockRestore()
  }
}

export interface PlatformOptions {
  settings?: Partial<Record<SettingName, unknown>>
  /** Put around what the node is asked by this service alone. */
  around?: (send: typeof fetch) => typeof fetch
}

/** One daemon's services over the node, with the platform wallet of the chain, and its app. */
export async function openPlatform(
  { clock, wallet, folder }: ChainAndNode,
  { settings = {}, around }: PlatformOptions = {},
) {
  const dataDir = folder()
  const presets = join(dataDir, 'presets.json')
  writeFileSync(presets, JSON.stringify(PRESETS))
  const flags = {
    'data-dir': dataDir,
    ...(await databaseSettings(dataDir, settings)),
    url: NODE_URL,
    signer: 'keypair',
    'signer.keypair': keypairFile(dataDir, wallet),
    'public-url': 'https://svc.example.com',
    'pools.presets': presets,
    'pools.preset': 'tiny',
    'pools.crank': true,
    'pools.pending-minutes': 5,
    ...settings,
  }
  const config = loadConfig({ flags, env: {}, cwd: dataDir })
  const logged: Logged[] = []
  const to = (level: Logged['level']) => (fields: object, message: string) =>
    void logged.push({ level, fields: fields as Logged['fields'], message })
  const log: Log = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
  const opened = await openServices(config, log)
  const wait = async (milliseconds: number) => clock.advance(milliseconds)
  const chain = openChain(config, { log, wait, ...(around ? { around } : {}) })
  const services: OpenServices = { ...opened, clock, chain }
  const app = await createApp(services)
  const request = requester(ORIGIN, app.fetch, await operatorKey(services))
  return {
    services,
    request,
    logged,
    async close() {
      await app.close()
      await chain.close()
      await services.close()
    },
  }
}
export type Platform = Awaited<ReturnType<typeof openPlatform>>

/** More than any schedule takes in a day. */
export const RICH = {
  lamports_per_transaction: String(1_000n * SOL),
  lamports_per_day: String(9_000n * SOL),
  max_fee_lamports: '10000000',
}

export async function setPolicy({ request }: Pick<Platform, 'request'>, limits: object): Promise<void> {
  const { status, text } = await request('PATCH', '/v2/signer/policy', { body: limits })
  if (status !== 200) throw new Error(text)
}
