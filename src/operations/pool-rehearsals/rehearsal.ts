/** The state of a rehearsal: its participants, the transactions run on the copy, and the result of each step. */
import type { CurvePreset, RehearsalRole, RehearsalStep } from '../../api/index.ts'
import type { CopiedChain, CopyLanding } from '../../chain/copied-chain.ts'
import { explainTransactionError } from '../../chain/errors/index.ts'
import { namesIn } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../platform/errors.ts'
import { type TransactionErrorJson, TransactionRefused } from '../../solana/execution.ts'
import { decodeWireTransaction, keyAt } from '../../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { freshKey } from '../../solana/signatures.ts'
import { platformWallet } from '../platform-wallet.ts'
import type { PlannedLaunch } from '../pools/plan-launch.ts'

type RehearsalStage = RehearsalStep['stage']

/** A step that later steps need failed. */
export class StoppedRehearsal extends Error {}

interface StepAsked {
  stage: RehearsalStage
  label: string
  claim?: RehearsalStep['claim']
  /** Whether later steps cannot run without this one. */
  isVital?: boolean
}

interface RehearsalLanding extends Pick<StepAsked, 'stage'> {
  landed: CopyLanding
}

export interface Rehearsal {
  /** The request's context with the copy as its chain. */
  context: Context
  copy: CopiedChain
  input: RehearsalRequest
  launch: PlannedLaunch
  /** Stand-ins that trade and migrate. They have no keys. */
  buyer: string
  keeper: string
  roles: ReadonlyMap<string, RehearsalRole[]>
  steps: RehearsalStep[]
  landings: RehearsalLanding[]
  addRole(address: string, role: RehearsalRole): void
  /** Builds and runs one transaction. Returns false if it failed, or throws StoppedRehearsal if it is vital. */
  run(step: StepAsked, build: () => Promise<{ transaction: Uint8Array }>): Promise<boolean>
  /** Gives a stand-in lamports, before it is part of any transaction. */
  fund(address: string, lamports: bigint): Promise<void>
  /** Moves the clock past the last payment of the preset's vesting. */
  advancePast(preset: Pick<CurvePreset, 'locked_vesting'>): Promise<void>
}

interface RehearsalRequest {
  type: 'dbc' | 'damm_v2'
  creator: string
  name: string
  symbol: string
  buy_amount: number
}

export async function openRehearsal(
  context: Context,
  copy: CopiedChain,
  { input, launch }: { input: RehearsalRequest; launch: PlannedLaunch },
): Promise<Rehearsal> {
  const roles = new Map<string, RehearsalRole[]>()
  const addRole = (address: string, role: RehearsalRole) => {
    const known = roles.get(address) ?? []
    if (!known.includes(role)) roles.set(address, [...known, role])
  }
  const [buyer, keeper] = [freshKey().address, freshKey().address]
  addRole(input.creator, 'creator')
  addRole(await platformWallet(context), 'platform')
  addRole(buyer, 'buyer')
  const steps: RehearsalStep[] = []
  const landings: RehearsalLanding[] = []
  return {
    context,
    copy,
    input,
    launch,
    buyer,
    keeper,
    roles,
    steps,
    landings,
    addRole,
    async run(asked, build) {
      const { stage, label, claim = null, isVital } = asked
      // Transactions at the same time would share a blockhash, and two equal ones would be the same transaction.
      await copy.advance(1)
      const outcome = await runStep(copy, build)
      if (outcome.landed !== null) landings.push({ stage, landed: outcome.landed })
      steps.push({ stage, label, claim, ...outcome.shown })
      if (isVital && outcome.shown.status === 'failed') throw new StoppedRehearsal(label)
      return outcome.shown.status === 'done'
    },
    async fund(address, lamports) {
      await copy.setAccount(address, { lamports, owner: SYSTEM_PROGRAM, data: new Uint8Array(), executable: false })
    },
    async advancePast({ locked_vesting: vesting }) {
      if (vesting !== undefined) await copy.advance(vesting.cliff_seconds + vesting.duration_seconds + 1)
    },
  }
}

interface StepOutcome {
  landed: CopyLanding | null
  shown: Omit<RehearsalStep, 'stage' | 'label' | 'claim'>
}

const NOT_BUILT = { payer: null, bytes: null, compute_units: null, fee: null, hint: null }

async function runStep(copy: CopiedChain, build: () => Promise<{ transaction: Uint8Array }>): Promise<StepOutcome> {
  let transaction: Uint8Array
  try {
    transaction = (await build()).transaction
  } catch (error) {
    // A failing node shows nothing about the launch.
    if (!(error instanceof ApiError) || error.code === 'internal_error') throw error
    const status = error.details?.reason === 'nothing_to_claim' ? 'skipped' : 'failed'
    return { landed: null, shown: { ...NOT_BUILT, status, reason: error.message } }
  }
  const { message } = decodeWireTransaction(transaction)
  const built = { payer: keyAt(message, 0), bytes: transaction.length }
  const failure = (err: TransactionErrorJson, logs: readonly string[]) => {
    const { program, message: text, hint } = explainTransactionError(err, { logs, ...namesIn(message) })
    return { status: 'failed' as const, reason: program === null ? text : `${program}: ${text}`, hint }
  }
  try {
    const landed = await copy.land(transaction)
    const ran = { ...built, compute_units: landed.unitsConsumed, fee: String(landed.fee) }
    if (landed.err !== null) return { landed, shown: { ...ran, ...failure(landed.err, landed.logs) } }
    return { landed, shown: { ...ran, status: 'done', reason: null, hint: null } }
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    const shown = { ...NOT_BUILT, ...built, ...failure(error.err, error.execution?.logs ?? []) }
    return { landed: null, shown }
  }
}
