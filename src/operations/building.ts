/** The common steps of every operation that builds a transaction: the checks before its instructions, and its answer. */

import type { TransactionInstruction } from '@solana/web3.js'
import type { TrackedResource } from '../api/index.ts'
import type { GuardAnswer } from '../api/payloads.ts'
import { requireProgram } from '../chain/programs/required-program.ts'
import { referenceInstruction, transferInstruction } from '../chain/programs/sol-transfers.ts'
import { readLatestBlockhash, readWallets, rentFor } from '../chain/reads/rpc-reads.ts'
import {
  type FailedSimulation,
  offeredPrice,
  withComputeBudget,
  withFixedBudget,
} from '../chain/sending/compute-budget.ts'
import { cosignedBy, withBlockhash } from '../chain/sending/cosign.ts'
import {
  type Guarding,
  guardedTransaction,
  requireGuarded,
  type UnguardedReason,
  unguarded,
  unguardedOf,
} from '../chain/sending/guarding.ts'
import { lateGuarded } from '../chain/sending/late-guards.ts'
import { withMessageTerms } from '../chain/sending/message-terms.ts'
import type { Envelope, UnsignedTransaction } from '../chain/sending/unsigned.ts'
import type { Context, Services } from '../context.ts'
import { badRequest } from '../platform/errors.ts'
import type { Slack } from '../policy/movement/guards.ts'
import { addressOf } from '../solana/addresses.ts'
import { solText } from '../solana/amounts.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { PROGRAMS, type Program } from '../solana/programs.ts'
import { type FreshKey, freshKey, SEED_BYTES } from '../solana/signatures.ts'
import { platformWallet } from './platform-wallet.ts'
import { failsInTrial, refuseFailing } from './programs/refuse-failing.ts'
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
  guarded?: readonly string[]
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
 * fails, bad_request when the platform fee cannot be paid or an instruction fails in the present build of its program, and
 * the errors of `plan.build`, and bad_request if guards are required and cannot be added.
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
  const getsGuards = follows === undefined && (await addsGuards(services))
  let guarding = unguarded('off')
  let failsGuarded = false
  const build = async (terms: Terms) => {
    const isGuarded = getsGuards && !failsGuarded
    const envelope = { payer, recentBlockhash, ...terms, after, isGuarded }
    const made = await plan.build({ ...envelope, ...(rent === undefined ? {} : { rent }) })
    await refuseFailing(services, made.transaction, { force: services.force })
    const guarded = await guard({ ...services, failsGuarded }, plan, made)
    guarding = guarded.guarding
    return { ...made, transaction: guarded.transaction }
  }
  const withTerms = () =>
    withMeasuredTerms(services, plan, build, (simulation) => {
      failsGuarded = guarding.guards.length > 0
      if (failsGuarded) throw new FailsGuarded()
      plan.onFailedSimulation?.(simulation)
    })
  const built = await withTerms().catch((error) => {
    if (error instanceof FailsGuarded) return withTerms()
    throw error
  })
  const { transaction, requiredSigners, secretKeys = [] } = built
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

/** Adds the guards of all wallets that sign, but not of keys that the build made. */
async function guard(
  services: BuildingServices & { failsGuarded: boolean },
  { payer, follows, guarded = [], slack }: TransactionPlan,
  { transaction, requiredSigners, secretKeys = [] }: Awaited<ReturnType<TransactionPlan['build']>>,
): Promise<{ transaction: Uint8Array; guarding: Guarding }> {
  const { guard: mode = 'when_it_fits', vaultActing, chain } = services
  const without = (reason: UnguardedReason) => ({ transaction, guarding: unguarded(reason) })
  if (mode === 'off') return without('off')
  if (vaultActing !== undefined) return without('vault')
  const made = addressesOfKeys(secretKeys)
  const wallets = [...new Set([payer, ...requiredSigners, ...guarded])].filter((wallet) => !made.has(wallet))
  const reason = await reasonAgainst(services, follows)
  const answer = reason === null ? await guardedTransaction(chain, transaction, wallets, slack) : without(reason)
  if (mode === 'required') requireGuarded(answer.guarding)
  return answer
}

async function reasonAgainst(
  { failsGuarded, ...services }: BuildingServices & { failsGuarded: boolean },
  follows: TransactionPlan['follows'],
): Promise<UnguardedReason | null> {
  if (follows !== undefined) return 'not_simulated'
  if (failsGuarded) return 'fails'
  return (await failsInTrial(services, PROGRAMS.lighthouse)) ? 'program_changed' : null
}

/** Whether what is built now gets guards, so that a list takes fewer rows. */
export async function addsGuards({
  guard = 'when_it_fits',
  vaultActing,
  ...services
}: Pick<BuildingServices, 'chain' | 'programs' | 'guard' | 'vaultActing'>): Promise<boolean> {
  if (guard === 'off' || vaultActing !== undefined) return false
  const { chain } = services
  return (await chain.hasProgram(PROGRAMS.lighthouse.id)) && !(await failsInTrial(services, PROGRAMS.lighthouse))
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

/** What is guarded, as the API answers it. */
export function guardAnswer(guarding: Guarding): GuardAnswer {
  const { guards, reason, unguarded: accounts, missingBytes } = guarding
  return {
    state: guards.length === 0 ? 'none' : reason === null ? 'whole' : 'part',
    reason,
    text: unguardedOf(guarding)?.text ?? null,
    missing_bytes: missingBytes !== null && Number.isFinite(missingBytes) ? missingBytes : null,
    wallets: guards.flatMap(({ kind, address, change }) =>
      kind === 'wallet' ? { address, lamports: String(change ?? 0n) } : [],
    ),
    token_accounts: guards.flatMap(({ kind, address, change }) =>
      kind === 'token' ? { address, amount: change === null ? null : String(change) } : [],
    ),
    unguarded: [...accounts],
  }
}

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

interface SequenceGuard {
  guard?: Context['guard'] | undefined
  vaultActing?: Context['vaultActing'] | undefined
}

/** What holds of transactions that cannot be simulated. Throws bad_request if guards are required. */
export function unguardedSequence({ guard, vaultActing }: SequenceGuard): Guarding {
  if (guard === 'off') return unguarded('off')
  if (vaultActing !== undefined) return unguarded('vault')
  const guarding = unguarded('not_simulated')
  if (guard === 'required') requireGuarded(guarding)
  return guarding
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
  const { guarding, ...fresh } = await guardedLate(services, withBlockhash(transaction, blockhash), secretKeys)
  return { ...cosignedBy(fresh.transaction, secretKeys), ...(guarding === undefined ? {} : { guarding }) }
}

async function guardedLate(
  { guard: mode = 'when_it_fits', ...services }: Parameters<typeof withNewBlockhash>[0],
  transaction: Uint8Array,
  secretKeys: readonly Uint8Array[],
): Promise<{ transaction: Uint8Array; guarding?: Guarding }> {
  const without = (reason: UnguardedReason) => ({ transaction, guarding: unguarded(reason) })
  if (mode === 'off') return without('off')
  const { keys, signers, instructions } = decodeWireTransaction(transaction).message
  if (instructions.some(({ programIdIndex }) => keys[programIdIndex] === PROGRAMS.lighthouse.id)) return { transaction }
  const made = addressesOfKeys(secretKeys)
  const wallets = keys.slice(0, signers).filter((address) => !made.has(address))
  const answer = (await failsInTrial(services, PROGRAMS.lighthouse))
    ? without('program_changed')
    : await lateGuarded(services, transaction, wallets)
  if (mode === 'required') requireGuarded(answer.guarding)
  return answer
}

const addressesOfKeys = (secretKeys: readonly Uint8Array[]): ReadonlySet<string> =>
  new Set(secretKeys.filter(({ length }) => length > 0).map((key) => addressOf(key.subarray(SEED_BYTES))))

// Builds the fee that a wallet pays the platform in its own transaction.

type PlatformFeeServices = Pick<Services, 'config' | 'signer' | 'log' | 'chain'>

/**
 * Returns the instructions to append, or none for 0 lamports. Throws bad_request when the fee would leave an empty
 * platform wallet below rent exemption, internal_error without a platform wallet.
 */
async function platformFeeInstructions(
  services: PlatformFeeServices,
  { payer, lamports }: { payer: string; lamports: number },
): Promise<TransactionInstruction[]> {
  if (lamports === 0) return []
  const wallet = await platformWallet(services)
  const fee = BigInt(lamports)
  const [found] = await readWallets(services.chain, [wallet])
  const held = found?.lamports ?? 0n
  const least = held === 0n ? await rentFor(services.chain, 0) : 0n
  if (fee < least) {
    throw badRequest(
      `platform_fee: the platform wallet ${wallet} holds no SOL yet, and ${solText(fee)} would leave it below the ${solText(least)} that an account needs`,
      {
        param: 'platform_fee',
        details: { platform_wallet: wallet, lamports: String(fee), rent_exempt: String(least) },
      },
    )
  }
  return [await transferInstruction(payer, wallet, fee)]
}
