/** The common steps of every operation that builds a transaction: the checks before its instructions, and its answer. */
import type { TrackedResource } from '../api/index.ts'
import { requireProgram } from '../chain/programs/required-program.ts'
import { readLatestBlockhash, rentFor } from '../chain/reads/rpc-reads.ts'
import {
  type BudgetServices,
  type FailedTrial,
  offeredPrice,
  withComputeBudget,
  withFixedBudget,
} from '../chain/sending/compute-budget.ts'
import { cosignedBy, withBlockhash } from '../chain/sending/cosign.ts'
import { withMessageTerms } from '../chain/sending/message-terms.ts'
import type { Envelope, UnsignedTransaction } from '../chain/sending/unsigned.ts'
import type { Signer } from '../chain/signer/index.ts'
import type { Context, Services } from '../context.ts'
import type { Program } from '../solana/programs.ts'
import { platformFeeInstructions } from './platform-fee.ts'
import { type Cosigning, cosign } from './signing/cosign.ts'
import type { SigningContext, SigningDraft } from './signing/types.ts'

/** Without `txVersion`, for example in a worker's own request, the version is 0. */
type BuildingServices = Pick<Services, 'chain' | 'config' | 'signer' | 'log'> & Partial<Pick<Context, 'txVersion'>>

export interface TransactionPlan {
  /** Address that pays the network fee and the platform fee. */
  payer: string
  /** Program that the cluster must have, if any. */
  requiredProgram?: Program | undefined
  /** Lamports that the payer transfers to the platform wallet after the instructions. The default is 0. */
  platformFee?: number
  /** Compute limit for a transaction that cannot be simulated, such as that of a payer without funds. */
  fallbackUnits: number
  /** The transaction that must be confirmed first. This one uses its blockhash, and is not simulated. */
  follows?: BuiltTransaction
  /**
   * Compiles the instructions into the envelope. The result differs from the simulated transaction only in limits and
   * price. Keys that this request generated are returned as `secretKeys`, 64 bytes each, and sign the result.
   */
  build(envelope: Envelope & { rent?: bigint }): Promise<UnsignedTransaction & { secretKeys?: readonly Uint8Array[] }>
  /** Bytes of an account that the instructions create. The envelope's `rent` is its rent-exempt minimum in lamports. */
  createdBytes?: number
  /** May throw the failure of the simulation, so that no one signs what a program refuses. */
  onFailedTrial?: (trial: FailedTrial) => void
}

/** A transaction with the signatures of generated keys. `requiredSigners` are the missing ones. */
export interface BuiltTransaction extends UnsignedTransaction {
  /** Addresses of the generated keys, which have signed. */
  cosigners: string[]
  recentBlockhash: string
  /** Block height after which the transaction can no longer land. */
  lastValidBlockHeight: number
}

/**
 * Reads blockhash and fees, simulates, and compiles. Throws internal_error when the program is missing or the node
 * fails, bad_request when the platform fee cannot be paid, and the errors of `plan.build`.
 */
export async function buildTransaction(services: BuildingServices, plan: TransactionPlan): Promise<BuiltTransaction> {
  const { chain, config } = services
  const { payer, requiredProgram, fallbackUnits, follows } = plan
  if (requiredProgram !== undefined) await requireProgram(chain, requiredProgram)
  const after = await platformFeeInstructions(services, { payer, lamports: plan.platformFee ?? 0 })
  const [{ blockhash: recentBlockhash, lastValidBlockHeight }, rent] = await Promise.all([
    follows === undefined ? readLatestBlockhash(chain) : lifetimeOfBuilt(follows),
    plan.createdBytes === undefined ? undefined : rentFor(chain, plan.createdBytes),
  ])
  const build = (terms: Pick<Envelope, 'before' | 'messageConfig'>) =>
    plan.build({ payer, recentBlockhash, ...terms, after, ...(rent === undefined ? {} : { rent }) })
  const built = await (services.txVersion === 1
    ? withMessageTerms(
        { chain, config },
        {
          build: (messageConfig) => build({ messageConfig }),
          fallbackUnits,
          follows: follows !== undefined,
          failed: plan.onFailedTrial,
        },
      )
    : withVersion0Terms({ chain, config }, plan, (before) => build({ before })))
  const { transaction, requiredSigners, secretKeys } = built
  const signed = cosignedBy(transaction, secretKeys ?? [])
  return {
    ...signed,
    requiredSigners: requiredSigners.filter((signer) => !signed.cosigners.includes(signer)),
    recentBlockhash,
    lastValidBlockHeight,
  }
}

function withVersion0Terms<T extends UnsignedTransaction>(
  services: BudgetServices,
  { follows, fallbackUnits, onFailedTrial }: TransactionPlan,
  build: (before: NonNullable<Envelope['before']>) => Promise<T>,
): Promise<T> {
  return follows === undefined
    ? withComputeBudget(services, build, fallbackUnits, onFailedTrial)
    : withFixedBudget({ ...services, units: fallbackUnits }, build)
}

const lifetimeOfBuilt = ({ recentBlockhash, lastValidBlockHeight }: BuiltTransaction) => ({
  blockhash: recentBlockhash,
  lastValidBlockHeight,
})

/** Returns the answer of mode `unsigned`, which each operation extends with its own fields. */
export const unsignedAnswer = ({ transaction, requiredSigners, lastValidBlockHeight }: BuiltTransaction) => ({
  mode: 'unsigned' as const,
  transaction: Buffer.from(transaction).toString('base64'),
  requiredSigners,
  last_valid_block_height: lastValidBlockHeight,
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
  { transaction, cosigners }: BuiltTransaction,
  uncapped: readonly string[] = [],
): SigningDraft => ({ transaction, cosigners, uncapped })

/**
 * Returns the answer with the platform wallet's signature for the user, who pays and submits. If `cosigning` is null,
 * the build is not changed. Throws like `cosign`.
 */
export async function answerCosigned<D>(
  context: SigningContext,
  built: BuiltTransaction,
  cosigning: (Omit<Cosigning, 'transaction'> & { signer: Signer }) | null,
  answer: (built: BuiltTransaction) => D,
): Promise<D> {
  if (cosigning === null) return answer(built)
  const { signer, ...request } = cosigning
  const requiredSigners = built.requiredSigners.filter((address) => address !== signer.address)
  return cosign(context, signer, { ...request, transaction: built.transaction }, (transaction) =>
    answer({ ...built, transaction, requiredSigners }),
  )
}

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

/** Returns the same transaction with a fresh blockhash, and the signatures of the required ones among the keys. */
export async function withNewBlockhash(
  { chain }: Pick<BuildingServices, 'chain'>,
  transaction: Uint8Array,
  secretKeys: readonly Uint8Array[],
): Promise<{ transaction: Uint8Array; cosigners: string[] }> {
  const { blockhash } = await readLatestBlockhash(chain)
  return cosignedBy(withBlockhash(transaction, blockhash), secretKeys)
}
