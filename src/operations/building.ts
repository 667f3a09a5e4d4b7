/** The common steps of every operation that builds a transaction: the checks before its instructions, and its answer. */
import type { TrackedResource } from '../api/index.ts'
import { requireProgram } from '../chain/programs/required-program.ts'
import { referenceInstruction } from '../chain/programs/sol-transfers.ts'
import { readLatestBlockhash, rentFor } from '../chain/reads/rpc-reads.ts'
import {
  type FailedSimulation,
  offeredPrice,
  withComputeBudget,
  withFixedBudget,
} from '../chain/sending/compute-budget.ts'
import { cosignedBy, withBlockhash } from '../chain/sending/cosign.ts'
import { type Guarding, guardAnswer, type UnguardedReason, unguarded } from '../chain/sending/guard-report.ts'
import { withMessageTerms } from '../chain/sending/message-terms.ts'
import type { Envelope, UnsignedTransaction } from '../chain/sending/unsigned.ts'
import type { Context, Services } from '../context.ts'
import type { Slack } from '../policy/movement/guards.ts'
import type { Program } from '../solana/programs.ts'
import { type FreshKey, freshKey } from '../solana/signatures.ts'
import { guardBuild, guardLate, reasonAgainst } from './build-guards.ts'
import { platformFeeInstructions } from './platform-fee.ts'
import { refuseFailing } from './programs/refuse-failing.ts'
import type { SigningDraft } from './signing/types.ts'

/**
 * Makes the key of an account that the build creates. If a vault acts, it is an address that the multisig's program
 * signs for, without a secret key.
 */
export function newKey({ vaultActing }: Pick<Context, 'vaultActing'>): Pick<FreshKey, 'address' | 'secretKey'> {
  return vaultActing === undefined ? freshKey() : { address: vaultActing.newSigner(), secretKey: new Uint8Array() }
}

/** Without `txVersion`, for example in a worker's own request, the version is 0. */
type BuildingServices = Pick<Services, 'chain' | 'config' | 'signer' | 'log' | 'programs'> &
  Partial<Pick<Context, 'txVersion' | 'force' | 'reference' | 'guard' | 'vaultActing'>>

export interface TransactionPlan {
  /** Address that pays the network fee and the platform fee. */
  payer: string
  /** Program that the cluster must have, if any. */
  requiredProgram?: Program | undefined
  /** Lamports that the payer transfers to the platform wallet after the instructions. The default is 0. */
  platformFee?: number
  /** Compute limit for a transaction that cannot be simulated, such as that of a payer without funds. */
  fallbackUnits: number
  /** The transaction before this one. This one takes its blockhash and cannot be simulated. */
  follows?: BuiltTransaction
  /**
   * Compiles the instructions into the envelope. The result differs from the simulated transaction only in limits and
   * price. Keys that this request generated are returned as `secretKeys`, 64 bytes each, and sign the result.
   */
  build(envelope: Envelope & { rent?: bigint }): Promise<UnsignedTransaction & { secretKeys?: readonly Uint8Array[] }>
  /** Bytes of an account that the instructions create. The envelope's `rent` is its rent-exempt minimum in lamports. */
  createdBytes?: number
  /** Wallets beside the signers that the chain guards, such as the vault whose proposal is executed. */
  guardedWallets?: readonly string[]
  /** What may leave beyond the simulation. */
  slack?: readonly Slack[]
  /** May throw the failure of the simulation, so that no transaction is signed that a program refuses. */
  onFailedSimulation?: (simulation: FailedSimulation) => void
}

/** A transaction with the signatures of generated keys. `requiredSigners` are the missing ones. */
export interface BuiltTransaction extends UnsignedTransaction {
  /** Addresses of the generated keys, which have signed. */
  cosigners: string[]
  /** The generated keys, 64 bytes each. No answer has them. */
  secretKeys: readonly Uint8Array[]
  recentBlockhash: string
  /** Block height after which the transaction can no longer land. */
  lastValidBlockHeight: number
  guarding: Guarding
  slack?: readonly Slack[]
}

/**
 * Reads blockhash and fees, simulates, and compiles. Throws internal_error when the program is missing or the node
 * fails, and the errors of `plan.build`. Throws bad_request when the platform fee cannot be paid, an instruction fails in
 * the present build of its program, or guards are required and cannot be added.
 *
 * @example
 * const build: TransactionPlan['build'] = (envelope) => buildMemo({ ...envelope, memo: 'hello' })
 * const built = await buildTransaction(context, { payer, fallbackUnits: 150_000, build })
 * return { ...unsignedAnswer(built), tracked_resource: trackingOf('note', id, ['note.written']) }
 */
export async function buildTransaction(services: BuildingServices, plan: TransactionPlan): Promise<BuiltTransaction> {
  const { chain } = services
  const { payer, requiredProgram, follows } = plan
  if (requiredProgram !== undefined) await requireProgram(chain, requiredProgram)
  const after = [
    ...(await platformFeeInstructions(services, { payer, lamports: plan.platformFee ?? 0 })),
    ...(services.reference === undefined ? [] : [await referenceInstruction(payer, services.reference)]),
  ]
  const [{ blockhash: recentBlockhash, lastValidBlockHeight }, rent] = await Promise.all([
    follows === undefined ? readLatestBlockhash(chain) : lifetimeOfBuilt(follows),
    plan.createdBytes === undefined ? undefined : rentFor(chain, plan.createdBytes),
  ])
  const attempt = async (against: UnguardedReason | null) => {
    let guarding = unguarded(against ?? 'fails')
    const build = async (terms: Terms) => {
      const envelope = { payer, recentBlockhash, ...terms, after, isGuarded: against === null }
      const made = await plan.build({ ...envelope, ...(rent === undefined ? {} : { rent }) })
      await refuseFailing(services, made.transaction, { force: services.force })
      const wallets = [payer, ...made.requiredSigners, ...(plan.guardedWallets ?? [])]
      const { secretKeys } = made
      const guarded = await guardBuild(services, made.transaction, { against, wallets, secretKeys, slack: plan.slack })
      guarding = guarded.guarding
      return { ...made, transaction: guarded.transaction }
    }
    const built = await withMeasuredTerms(services, plan, build, (simulation) => {
      if (guarding.guards.length > 0) throw new FailsGuarded()
      plan.onFailedSimulation?.(simulation)
    })
    return { ...built, guarding }
  }
  const against = await reasonAgainst(services, { follows: follows !== undefined })
  const built = await attempt(against).catch((error) => {
    if (error instanceof FailsGuarded) return attempt('fails')
    throw error
  })
  const { transaction, requiredSigners, secretKeys = [], guarding } = built
  const signed = cosignedBy(transaction, secretKeys)
  return {
    ...signed,
    secretKeys,
    requiredSigners: requiredSigners.filter((signer) => !signed.cosigners.includes(signer)),
    recentBlockhash,
    lastValidBlockHeight,
    guarding,
    ...(plan.slack === undefined ? {} : { slack: plan.slack }),
  }
}

type Terms = Pick<Envelope, 'before' | 'messageConfig'>

/** What works without guards, and is therefore built again without them. */
class FailsGuarded extends Error {
  override readonly name = 'FailsGuarded'
}

/** Builds with the limits and the price of either version. `failed` may throw. */
function withMeasuredTerms<T extends UnsignedTransaction>(
  services: BuildingServices,
  { follows, fallbackUnits }: TransactionPlan,
  build: (terms: Terms) => Promise<T>,
  failed: (simulation: FailedSimulation) => void,
): Promise<T> {
  if (services.txVersion === 1) {
    const ofMessage = (messageConfig: Terms['messageConfig']) => build({ messageConfig })
    return withMessageTerms(services, { build: ofMessage, fallbackUnits, follows: follows !== undefined, failed })
  }
  const withBefore = (before: NonNullable<Terms['before']>) => build({ before })
  return follows === undefined
    ? withComputeBudget(services, withBefore, fallbackUnits, failed)
    : withFixedBudget({ ...services, units: fallbackUnits }, withBefore)
}

const lifetimeOfBuilt = ({ recentBlockhash, lastValidBlockHeight }: BuiltTransaction) => ({
  blockhash: recentBlockhash,
  lastValidBlockHeight,
})

/** Returns the answer of mode `unsigned`, which each operation extends with its own fields. */
export const unsignedAnswer = ({ transaction, requiredSigners, lastValidBlockHeight, guarding }: BuiltTransaction) => ({
  mode: 'unsigned' as const,
  transaction: Buffer.from(transaction).toString('base64'),
  requiredSigners,
  last_valid_block_height: lastValidBlockHeight,
  guard: guardAnswer(guarding),
})

export const trackingOf = (
  resource_type: string,
  resource_id: string,
  related_events: TrackedResource['related_events'],
): TrackedResource => ({ resource_type, resource_id, related_events })

/**
 * Returns the draft that the platform wallet signs in mode `signed`. `uncapped` are mints without policy limits,
 * because the program moves them between its own accounts.
 */
export const signingDraft = (
  { transaction, cosigners, secretKeys, guarding, slack = [] }: BuiltTransaction,
  uncapped: readonly string[] = [],
): SigningDraft => ({ transaction, cosigners, secretKeys, uncapped, guarding, slack })

/**
 * Returns blockhash, its last block height, and price (micro-lamports per unit) for transactions that cannot be
 * simulated, because each requires the one before it. `units` is the largest compute limit among them.
 */
export async function sequenceTerms(
  { chain, config }: Pick<BuildingServices, 'chain' | 'config'>,
  { payer, units }: { payer: string; units: number },
): Promise<{ recentBlockhash: string; lastValidBlockHeight: number; computeUnitPrice: bigint }> {
  const [{ blockhash: recentBlockhash, lastValidBlockHeight }, computeUnitPrice] = await Promise.all([
    readLatestBlockhash(chain),
    offeredPrice({ chain, config }, () => [payer], units),
  ])
  return { recentBlockhash, lastValidBlockHeight, computeUnitPrice }
}

/**
 * Returns the same transaction with a fresh blockhash, and the signatures of the required ones among the keys. The one
 * before it has landed, so it can be simulated: it gets its guards now if it has none.
 */
export async function withNewBlockhash(
  services: Pick<BuildingServices, 'chain' | 'config' | 'programs' | 'guard'>,
  transaction: Uint8Array,
  secretKeys: readonly Uint8Array[],
): Promise<Pick<SigningDraft, 'transaction' | 'cosigners' | 'guarding'>> {
  const { blockhash } = await readLatestBlockhash(services.chain)
  const { guarding, ...fresh } = await guardLate(services, withBlockhash(transaction, blockhash), secretKeys)
  return { ...cosignedBy(fresh.transaction, secretKeys), ...(guarding === undefined ? {} : { guarding }) }
}
