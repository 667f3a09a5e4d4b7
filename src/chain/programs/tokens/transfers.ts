/**
 * Builds the transaction that sends amounts of one token to many wallets, opening the token accounts that are missing.
 */
import type { TransactionInstruction } from '@solana/web3.js'
import { ApiError, badRequest } from '../../../platform/errors.ts'
import { MAX_COMPUTE_UNITS, MAX_INSTRUCTION_TRACE } from '../../../solana/constants.ts'
import { associatedTokenAddress } from '../../../solana/program-addresses.ts'
import { TOKEN } from '../../../solana/programs/token.ts'
import { decimalsInstruction, openingInstruction } from '../../../solana/token-acts.ts'
import { tokenProgramOf } from '../../../solana/token-programs.ts'
import { hasRoomForGuards, traceOfGuards } from '../../sending/guarding.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { TokenProgram } from './types.ts'

/** One wallet of a transfer, and its associated token account. */
export interface TransferRecipient {
  wallet: string
  tokenAccount: string
  /** Raw units. */
  amount: bigint
  /** Whether the transaction opens the token account, at the payer's cost. */
  opens: boolean
  /** Whether a missing token account's address already has lamports, so that opening it takes more calls. */
  hasLamports: boolean
}

export interface TokenTransfers extends Envelope {
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  /** The payer's token account. */
  source: string
  recipients: readonly TransferRecipient[]
}

/**
 * Most recipients of one transaction with a compute limit and a price, by its version: wallets whose token accounts are
 * `ready`, and wallets whose accounts it opens. Version 0 is bounded by its bytes; version 1 by its 64 accounts, and
 * for
 * openings by the 64 instructions that a transaction can execute.
 */
export const MOST_RECIPIENTS = {
  0: { ready: 19, opened: 9 },
  1: { ready: 60, opened: 10 },
} as const

/** The same beside the guards of the payer and its token account. */
export const MOST_GUARDED_RECIPIENTS = {
  0: { ready: 14, opened: 7 },
  1: { ready: 54, opened: 9 },
} as const

/** Instructions that are executed for a transfer, and for the opening before it: the program's own and its calls. */
const TRANSFER_TRACE = 1
const OPENING_TRACE = { plain: 5, withLamports: 7 }

/**
 * About twice the measured use of Token-2022 (2,030 and 18,370 units), because the search for an address varies by
 * wallet.
 */
const TRANSFER_UNITS = 5_000
const OPENING_UNITS = 40_000

/** Returns the compute limit of transfers that cannot be simulated. */
export const transferUnits = (recipients: readonly Pick<TransferRecipient, 'opens'>[]): number =>
  Math.min(
    MAX_COMPUTE_UNITS,
    recipients.reduce((sum, { opens }) => sum + TRANSFER_UNITS + (opens ? OPENING_UNITS : 0), 0),
  )

/** Throws bad_request with `details.fits` for more recipients than one transaction has room for. */
export async function buildTokenTransfers(input: TokenTransfers): Promise<UnsignedTransaction> {
  const groups = await transferInstructions(input)
  return compileForEach(input, { wallets: input.recipients, groups, own: [input.source] }, 'recipients')
}

/**
 * Compiles the instructions of each wallet into one transaction, beside its guards. `param` is the field of the list.
 * Throws bad_request with `details.fits` for more wallets than one transaction has room for.
 */
export async function compileForEach(
  envelope: Envelope,
  list: WalletGroups,
  param: string,
): Promise<UnsignedTransaction> {
  const built = await compiledWithin(envelope, list)
  if (built !== null) return built
  throw tooMany(param, list.groups.length, await mostThatFit(envelope, list), envelope.messageConfig === undefined)
}

type OpenedWallet = Pick<TransferRecipient, 'opens' | 'hasLamports'>

interface WalletGroups {
  wallets: readonly OpenedWallet[]
  /** The instructions of each wallet. */
  groups: readonly TransactionInstruction[][]
  /** The payer's token accounts among those that are written to. */
  own: readonly string[]
}

/** The instructions of each recipient, in order. They identify the recipient of a failed instruction. */
async function transferInstructions({
  payer,
  mint,
  tokenProgram,
  decimals,
  source,
  recipients,
}: TokenTransfers): Promise<TransactionInstruction[][]> {
  const [sdk, program] = [await sdkInstructions(), tokenProgramOf(tokenProgram)]
  return recipients.map(({ wallet, tokenAccount: account, amount, opens }) => {
    const roles = { source, mint, destination: account, authority: payer, signers: [] }
    const transfer = { ...TOKEN.instruction('transferChecked', roles, { amount, decimals }), program }
    const own = { wallet, account, mint, program, payer }
    return [...(opens ? [openingInstruction(own)] : []), transfer].map(sdk)
  })
}

export interface ProvenMint {
  mint: string
  /** Address of its token program. */
  program: string
  decimals: number
}

/**
 * A transfer of 0 from an owner's token account to itself. It fails if the mint has other decimals, so the signer need
 * not trust the given decimals.
 */
export async function decimalsProof(
  wallet: string,
  { mint, program, decimals }: ProvenMint,
): Promise<TransactionInstruction> {
  const [sdk, account] = [await sdkInstructions(), associatedTokenAddress(wallet, mint, program)]
  return sdk(decimalsInstruction({ wallet, account, mint, program }, decimals))
}

/** Returns null if it does not fit in one transaction. */
async function compiledWithin(
  envelope: Envelope,
  { wallets, groups, own }: WalletGroups,
): Promise<UnsignedTransaction | null> {
  const trace = wallets.slice(0, groups.length).reduce((sum, wallet) => sum + traceOf(wallet), 0)
  const others = (envelope.before?.length ?? 0) + (envelope.after?.length ?? 0)
  if (trace + others + traceOfGuards(envelope, own) > MAX_INSTRUCTION_TRACE) return null
  try {
    const built = await compileUnsigned(envelope, groups.flat())
    return hasRoomForGuards(envelope, built.transaction, own) ? built : null
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

function traceOf({ opens, hasLamports }: OpenedWallet): number {
  if (!opens) return TRANSFER_TRACE
  return TRANSFER_TRACE + (hasLamports ? OPENING_TRACE.withLamports : OPENING_TRACE.plain)
}

/** The number of the first wallets that fit, by halving. */
async function mostThatFit(envelope: Envelope, list: WalletGroups): Promise<number> {
  let [fits, fails] = [0, list.groups.length]
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2)
    const part = { ...list, groups: list.groups.slice(0, middle) }
    if ((await compiledWithin(envelope, part)) === null) fails = middle
    else fits = middle
  }
  return fits
}

function tooMany(param: string, count: number, fits: number, isVersion0: boolean) {
  const next = isVersion0 ? `, or send tx_version 1, which has room for more` : ''
  return badRequest(
    `${param}: ${count} do not fit into one transaction, the first ${fits} do: send those, then the others${next}`,
    { param, details: { [param]: count, fits } },
  )
}

/**
 * Returns the index of the recipient whose instruction failed; null if the failure has no single recipient. `others`
 * are
 * the instructions before the transfers.
 */
export function failedRecipient(
  err: unknown,
  recipients: readonly Pick<TransferRecipient, 'opens'>[],
  others: number,
): number | null {
  const failed = (err as { InstructionError?: unknown } | null)?.InstructionError
  const index = Array.isArray(failed) ? Number(failed[0]) - others : Number.NaN
  if (!Number.isInteger(index) || index < 0) return null
  let end = 0
  for (const [i, { opens }] of recipients.entries()) {
    end += opens ? 2 : 1
    if (index < end) return i
  }
  return null
}
