/** Rules about amounts: the fee, the amount that leaves in one transaction, and the amount that leaves in a day. */

import { solText } from '../../solana/amounts.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import type { Movement } from '../movement/movement.ts'
import type { MintLimit, SigningPolicy, Spent } from '../policy.ts'
import { spendOf } from './spend.ts'
import type { PolicyCheckOptions, SigningRole, Violation } from './violation.ts'

export function checkFeeLimit({ fee: amount }: Movement, { max_fee_lamports: cap }: SigningPolicy): Violation | null {
  if (amount <= cap) return null
  const message = `the fee is ${solText(amount)}, at most ${solText(cap)} is allowed. Lower priority-fee-cap, or raise the limit with \`svc signer policy --max-fee\``
  return { message, details: { asked: String(amount), cap: String(cap) } }
}

export function checkLamportsPerTransaction(
  movement: Movement,
  { lamports_per_transaction: cap }: SigningPolicy,
  _: Spent,
  { role }: PolicyCheckOptions,
): Violation | null {
  const amount = spendOf(movement).lamports
  return perTransaction({ amount, cap, flag: '--per-transaction' }, role)
}

export function checkTokensPerTransaction(
  movement: Movement,
  policy: SigningPolicy,
  _: Spent,
  { role, uncapped = [] }: PolicyCheckOptions,
): Violation | null {
  for (const { mint, amount } of spendOf(movement).tokens) {
    if (uncapped.includes(mint)) continue
    const cap = limitOfMint(policy, mint).per_transaction
    const violation = perTransaction({ amount, cap, flag: '--token', mint }, role)
    if (violation !== null) return violation
  }
  return null
}

export function checkLamportsPerDay(
  movement: Movement,
  { lamports_per_day: cap }: SigningPolicy,
  { lamports }: Spent,
): Violation | null {
  return perDay({ amount: spendOf(movement).lamports, cap, flag: '--per-day' }, lamports)
}

export function checkTokensPerDay(
  movement: Movement,
  policy: SigningPolicy,
  { tokens }: Spent,
  { uncapped = [] }: PolicyCheckOptions,
): Violation | null {
  for (const { mint, amount } of spendOf(movement).tokens) {
    if (uncapped.includes(mint)) continue
    const cap = limitOfMint(policy, mint).per_day
    const violation = perDay({ amount, cap, flag: '--token', mint }, tokens.get(mint) ?? 0n)
    if (violation !== null) return violation
  }
  return null
}

/** Tokens of a mint that is not listed may not leave. */
const limitOfMint = ({ tokens }: SigningPolicy, mint: string): MintLimit =>
  tokens.find((each) => each.mint === mint) ?? { mint, per_transaction: 0n, per_day: 0n }

/** An amount that would leave, its limit, and the flag of `svc signer policy` that sets the limit. */
interface LimitedAmount {
  amount: bigint
  cap: bigint
  flag: string
  /** Left out for SOL. */
  mint?: string
}

/** Writes an amount of SOL, or of a mint whose decimals the policy does not know. */
const amountText = (amount: bigint, mint: string | undefined) =>
  mint === undefined || mint === WRAPPED_SOL ? solText(amount) : `${amount} raw units of ${mint}`

function perTransaction({ amount, cap, flag, mint }: LimitedAmount, role: SigningRole): Violation | null {
  const limit = role === 'cosigns' ? 0n : cap
  if (amount <= limit) return null
  const advice =
    role === 'cosigns'
      ? 'nothing may leave the platform wallet when it only cosigns'
      : `raise the limit with \`svc signer policy ${flag}\``
  return {
    message: `${amountText(amount, mint)} would leave, but at most ${amountText(limit, mint)} may leave in one transaction; ${advice}`,
    details: { ...(mint && { mint }), asked: String(amount), cap: String(limit) },
  }
}

function perDay({ amount, cap, flag, mint }: LimitedAmount, spent: bigint): Violation | null {
  if (amount === 0n || spent + amount <= cap) return null
  const left = cap > spent ? cap - spent : 0n
  const [asked, gone, limit, rest] = [amount, spent, cap, left].map((one) => amountText(one, mint))
  const message = `${asked} would leave, but ${gone} of the ${limit} for 24 hours are spent and ${rest} remain; wait, raise the limit with \`svc signer policy ${flag}\`, or reset the day with \`svc signer reset\``
  const figures = { asked: String(amount), cap: String(cap), spent: String(spent), left: String(left) }
  return { message, details: { ...(mint && { mint }), ...figures } }
}
