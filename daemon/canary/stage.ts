/** The stage of a canary: a whole service over an embedded chain of its own, with wallets whose keys it has. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Chain } from '../../src/chain/connection.ts'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import { programFile } from '../../src/chain/program-cache/cache.ts'
import {
  type Act,
  type CanaryAct,
  failedProgramIn,
  type InstructionName,
  instructionNamesIn,
} from '../../src/chain/program-cache/canary-report.ts'
import { tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { cosignedBy } from '../../src/chain/sending/cosign.ts'
import { namesIn } from '../../src/chain/sending/transactions.ts'
import { type Client, createClient } from '../../src/client.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { loadConfig } from '../../src/settings/config.ts'
import type { ChainAccount } from '../../src/solana/accounts.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS, programName } from '../../src/solana/programs.ts'
import { type FreshKey, freshKey } from '../../src/solana/signatures.ts'
import { plainMint, plainTokenAccount } from '../../src/solana/token-accounts.ts'
import { openLocal } from '../local.ts'

export const SOL = 1_000_000_000n
export const DAY_SECONDS = 86_400
export const PLATFORM = { platform_id: 'canary' }
const TOKEN_DECIMALS = 6
const WALLET_LAMPORTS = 1_000_000_000_000n

/** The limits of the platform wallet, above what the acts spend. */
const POLICY = { lamports_per_transaction: '1000000000', lamports_per_day: '10000000000' }

/** A curve that three SOL fill, and from which every party can claim something of every kind. */
const PRESET = {
  total_supply: '1000000',
  decimals: 6,
  initial_market_cap: 1,
  migration_market_cap: 3,
  fee: { starting_bps: 100, ending_bps: 100 },
  liquidity: { partner: 20, partner_locked: 30, creator: 20, creator_locked: 30 },
  creator_fee_percentage: 37,
  leftover: '1000',
  pool_creation_fee: 0.01,
  migration_fee: { percentage: 10, creator_percentage: 40 },
  locked_vesting: { amount: '100000', periods: 10, duration_seconds: 1_000 },
}

/** Presets for acts of their own, by what is special about them. */
export const PRESETS = { token2022: 'canary-token2022', shared: 'canary-shared' } as const

/** What the service built. It is `signed` only for the platform wallet. */
export type Built = { mode: 'unsigned'; transaction: string } | { mode: 'signed' }

/** A transaction that ran, in a simulation or on the chain; `err` is null if it succeeded. */
interface Run {
  transaction: Uint8Array
  err: unknown
  logs: readonly string[]
}

export interface Stage {
  client: Client
  chain: LocalChain
  /** The chain as builders read it. */
  node: Chain
  /** The platform wallet, which is the partner of its curves. */
  platform: FreshKey
  goldMint: FreshKey
  wallet(): FreshKey
  /** Signs a transaction (base64) with the keys and runs it. Throws if it fails. */
  land(transaction: string, ...keys: readonly { secretKey: Uint8Array }[]): void
  /** Signs and runs one that must fail in the instruction with this index. Throws, and blames the instruction, if not. */
  stop(transaction: Uint8Array, index: number, ...keys: readonly { secretKey: Uint8Array }[]): void
  /** The same as `land` for what a route answers that can also sign. */
  landBuilt(built: Built, ...keys: readonly { secretKey: Uint8Array }[]): void
  setAccount(address: string, account: ChainAccount): void
  /** Puts a mint on the chain whose whole supply one wallet has, without any program that can change. */
  setToken(mint: string, owner: string, supply: bigint): Promise<void>
  /** Runs one act, unless one that it needs did not pass. */
  act(name: Act, needs: readonly Act[], run: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

interface StageOptions {
  /** An empty folder that belongs to the canary. */
  folder: string
  /** Has the programs on trial. */
  programsDir: string
  /** Called with each act when it ends. */
  report(act: CanaryAct): void
}

export async function openStage({ folder, programsDir, report }: StageOptions): Promise<Stage> {
  const [platform, goldMint] = [freshKey(), freshKey()]
  const runs = new ActRuns()
  const flags = settingsIn(folder, { programsDir, platform, goldMint })
  let services: { chain: Chain } | undefined
  const local = await openLocal(loadConfig({ flags, env: {}, cwd: folder }), (opened) => {
    services = opened
    return { ...opened, chain: watching(opened.chain, (run) => runs.add(run)) }
  })
  if (services === undefined) throw new Error('the service of the canary did not open')
  const chain = await services.chain.local()
  chain.airdrop(platform.address, WALLET_LAMPORTS)
  const client = createClient(local.send, local.bearer)
  await client.signer.updatePolicy(POLICY)
  const land: Stage['land'] = (transaction, ...keys) => {
    const run = runOn(chain, Buffer.from(transaction, 'base64'), keys)
    runs.add(run)
    if (run.err !== null) throw new Error(reasonOf(run))
  }
  const stop: Stage['stop'] = (transaction, index, ...keys) => {
    const run = runOn(chain, transaction, keys)
    const [place] = (run.err as FailedInstruction)?.InstructionError ?? []
    if (place === index) return
    const failed = run.err === null ? { ...run, err: { InstructionError: [index, 'TheGuardStoppedNothing'] } } : run
    runs.add(failed)
    throw new Error(reasonOf(failed))
  }
  return {
    client,
    chain,
    node: services.chain,
    platform,
    goldMint,
    land,
    stop,
    landBuilt(built, ...keys) {
      if (built.mode !== 'unsigned') throw new Error('the service signed instead of building')
      land(built.transaction, ...keys)
    },
    wallet() {
      const key = freshKey()
      chain.airdrop(key.address, WALLET_LAMPORTS)
      return key
    },
    setAccount: (address, account) => chain.setAccount(address, account),
    async setToken(mint, owner, supply) {
      const token = { lamports: SOL, owner: TOKEN_PROGRAM, executable: false }
      chain.setAccount(mint, { ...token, data: plainMint(TOKEN_DECIMALS, supply) })
      const data = plainTokenAccount({ mint, owner, amount: supply })
      chain.setAccount(tokenAccountAddress(mint, owner), { ...token, data })
    },
    act: actRunner(runs, { programsDir, report }),
    close: () => local.close(),
  }
}

/** Writes the files of the service, and returns its settings. */
function settingsIn(
  folder: string,
  { programsDir, platform, goldMint }: { programsDir: string; platform: FreshKey; goldMint: FreshKey },
) {
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content), { mode: 0o600 })
    return join(folder, name)
  }
  return {
    'data-dir': join(folder, 'data'),
    'programs-dir': programsDir,
    url: 'embedded',
    signer: 'keypair',
    'signer.keypair': file('platform.json', [...platform.secretKey]),
    'pools.presets': file('presets.json', {
      canary: PRESET,
      [PRESETS.token2022]: { ...PRESET, token_program: 'token2022' },
      [PRESETS.shared]: { ...PRESET, platform_position_percentage: 30 },
    }),
    'pools.preset': 'canary',
    'gold.mint': goldMint.address,
    'priority-fee': 'none',
  }
}

/** The runs of one act, in simulations and on the chain. */
class ActRuns {
  /** The last one, if it failed. */
  failed: Run | null = null
  /** The instructions of those that succeeded. */
  used: InstructionName[] = []

  add(run: Run): void {
    this.failed = run.err === null ? null : run
    if (run.err === null) this.used.push(...instructionNamesIn(run.transaction))
  }

  clear(): void {
    this.failed = null
    this.used = []
  }
}

/** Signs a transaction with the keys, and runs it in a slot of its own. */
function runOn(chain: LocalChain, raw: Uint8Array, keys: readonly { secretKey: Uint8Array }[]): Run {
  const secretKeys = keys.map(({ secretKey }) => secretKey)
  const { transaction } = cosignedBy(raw, secretKeys)
  // Equal transactions of one slot would have one signature.
  chain.advance(1)
  try {
    const { err, logs } = chain.send(transaction)
    return { transaction, err, logs }
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    return { transaction, err: error.err, logs: error.execution?.logs ?? [] }
  }
}

/** Runs acts one after another, and reports each. */
function actRunner(runs: ActRuns, { programsDir, report }: Pick<StageOptions, 'programsDir' | 'report'>): Stage['act'] {
  const statuses = new Map<Act, CanaryAct['status']>()
  const end = (act: CanaryAct) => {
    statuses.set(act.act, act.status)
    report(act)
  }
  return async (name, needs, run) => {
    const missing = needs.find((need) => statuses.get(need) !== 'passed')
    if (missing !== undefined) return end({ act: name, used: [], ...withoutRun('untried', `it needs ${missing}`) })
    runs.clear()
    try {
      await run()
      end({ act: name, status: 'passed', error: null, instruction: null, failed_program: null, used: runs.used })
    } catch (error) {
      end({ act: name, used: [], ...outcomeOf(error, runs.failed, programsDir) })
    }
  }
}

/** The same chain, which reports each simulation. It shows no guards, so that an act depends only on its own programs. */
function watching(chain: Chain, onRun: (run: Run) => void): Chain {
  return {
    ...chain,
    hasProgram: async (id) => id !== PROGRAMS.lighthouse.id && chain.hasProgram(id),
    async call<T>(method: string, params: readonly unknown[]): Promise<T> {
      const result = await chain.call<T>(method, params)
      if (method !== 'simulateTransaction') return result
      const { err, logs } = (result as { value: { err: unknown; logs: string[] | null } }).value
      onRun({ transaction: Buffer.from(String(params[0]), 'base64'), err, logs: logs ?? [] })
      return result
    },
  }
}

function reasonOf({ transaction, err, logs }: Run): string {
  const { program, message } = explainTransactionError(err, {
    logs,
    ...namesIn(decodeWireTransaction(transaction).message),
  })
  return program === null ? message : `${program}: ${message}`
}

type Outcome = Pick<CanaryAct, 'status' | 'error' | 'instruction' | 'failed_program'>

/** What an act ended with that no transaction shows. */
const withoutRun = (status: 'failed' | 'untried', error: string): Outcome => ({
  status,
  error,
  instruction: null,
  failed_program: null,
})

function outcomeOf(error: unknown, failed: Run | null, programsDir: string): Outcome {
  const { details } = error instanceof ApiError ? error : { details: undefined }
  const text = error instanceof Error ? error.message : String(error)
  const missing = details?.program
  if (typeof missing === 'string' && existsSync(join(programsDir, programFile(missing)))) {
    return withoutRun('failed', `the virtual machine of svc cannot load the build of ${programName(missing)}`)
  }
  if (missing !== undefined || details?.reason === 'nothing_to_claim') return withoutRun('untried', text)
  return failed === null
    ? withoutRun('failed', text)
    : { status: 'failed', error: reasonOf(failed), ...blameOf(failed) }
}

type FailedInstruction = { InstructionError?: [number, unknown] } | null

/** The instruction of the transaction, and the program that failed in it. */
function blameOf({ transaction, err, logs }: Run): Pick<CanaryAct, 'instruction' | 'failed_program'> {
  const [index] = (err as FailedInstruction)?.InstructionError ?? []
  const instruction = index === undefined ? null : (instructionNamesIn(transaction, index)[0] ?? null)
  return { instruction, failed_program: failedProgramIn(logs) ?? instruction?.program ?? null }
}
