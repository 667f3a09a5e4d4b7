/** The stored policy of a signing key, and what counts against its day. */
import type { Clock } from '../../context.ts'
import { DEFAULT_POLICY, type SigningPolicy, type Spent } from '../../policy/policy.ts'
import type { Row } from '../../store/schema.ts'
import { findPolicy, lastSpend, lockPolicy, sumSpends } from '../../store/signings.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { DAY_MS } from '../../timing.ts'

/** A policy as it is stored: amounts are digits. */
interface StoredPolicy {
  programs: readonly string[]
  destinations: readonly string[] | null
  max_fee_lamports: string
  lamports_per_transaction: string
  lamports_per_day: string
  tokens: readonly { mint: string; per_transaction: string; per_day: string }[]
}

export function policyJson({ paused: _, tokens, ...policy }: SigningPolicy): string {
  const stored: StoredPolicy = {
    ...policy,
    max_fee_lamports: String(policy.max_fee_lamports),
    lamports_per_transaction: String(policy.lamports_per_transaction),
    lamports_per_day: String(policy.lamports_per_day),
    tokens: tokens.map(({ mint, per_transaction, per_day }) => ({
      mint,
      per_transaction: String(per_transaction),
      per_day: String(per_day),
    })),
  }
  return JSON.stringify(stored)
}

/** Without a row nothing may leave. */
export function policyOf(row: Pick<Row<'signer_policies'>, 'paused' | 'policy_json'> | null): SigningPolicy {
  if (row === null) return DEFAULT_POLICY
  const stored: StoredPolicy = JSON.parse(row.policy_json)
  return {
    ...stored,
    paused: row.paused === 1,
    max_fee_lamports: BigInt(stored.max_fee_lamports),
    lamports_per_transaction: BigInt(stored.lamports_per_transaction),
    lamports_per_day: BigInt(stored.lamports_per_day),
    tokens: stored.tokens.map(({ mint, per_transaction, per_day }) => ({
      mint,
      per_transaction: BigInt(per_transaction),
      per_day: BigInt(per_day),
    })),
  }
}

export interface PolicyState {
  row: Row<'signer_policies'> | null
  policy: SigningPolicy
  spent: Spent
  /** Since when spends count, in Unix milliseconds. */
  since: number
  /** The last spend. */
  last: number
}

/** As it is now. */
export async function readPolicyState(reader: Reader, clock: Clock, signer: string): Promise<PolicyState> {
  return policyState(reader, clock, signer, await findPolicy(reader, signer))
}

/** As it is now, and until the commit: nothing else is counted meanwhile. */
export async function lockPolicyState(tx: Tx, clock: Clock, signer: string): Promise<PolicyState> {
  const row = await lockPolicy(tx, {
    signer,
    paused: 0,
    paused_reason: null,
    policy_json: policyJson(DEFAULT_POLICY),
    spend_since: 0,
    spend_mark: 0,
    updated_at: 0,
  })
  return policyState(tx, clock, signer, row)
}

async function policyState(
  reader: Reader,
  clock: Clock,
  signer: string,
  row: PolicyState['row'],
): Promise<PolicyState> {
  const since = Math.max(clock.now() - DAY_MS, row?.spend_since ?? 0)
  const sums = await sumSpends(reader, signer, { since: clock.now() - DAY_MS, mark: row?.spend_mark ?? 0 })
  const lamports = sums.get('') ?? 0n
  sums.delete('')
  return { row, policy: policyOf(row), spent: { lamports, tokens: sums }, since, last: await lastSpend(reader, signer) }
}
