/** Reads the policy state of a signing key: its stored policy, and the spends that count against its day. */
import { hash } from 'node:crypto'
import type { Clock } from '../../context.ts'
import { DAY_MS } from '../../platform/timing.ts'

import {
  type ApprovalRules,
  type Approvals,
  DEFAULT_POLICY,
  type MintLimit,
  type SigningPolicy,
  type Spent,
} from '../../policy/policy.ts'
import type { GuardMode } from '../../solana/constants.ts'
import type { HolderPower } from '../../solana/token-authorities.ts'
import type { Row } from '../../store/schema.ts'
import { findPolicy, lastSpend, lockPolicy, sumSpends } from '../../store/signing/signings.ts'
import type { Reader, Tx } from '../../store/store.ts'

export interface PolicyState {
  /** Stored row, or null when no policy was ever set or used. */
  row: Row<'signer_policies'> | null
  policy: SigningPolicy
  spent: Spent
  /** Spends after this moment count, in Unix milliseconds. */
  since: number
  /** Sequence number of the key's last spend, or 0 before the first. */
  last: number
}

export async function readPolicyState(reader: Reader, clock: Clock, signer: string): Promise<PolicyState> {
  return policyState(reader, clock, signer, await findPolicy(reader, signer))
}

/** Locks the policy's row until the commit, so that nothing else counts against it meanwhile. */
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
  const dayAgo = clock.now() - DAY_MS
  const sums = await sumSpends(reader, signer, { since: dayAgo, mark: row?.spend_mark ?? 0 })
  // Lamports are summed under the empty mint.
  const lamports = sums.get('') ?? 0n
  sums.delete('')
  return {
    row,
    policy: policyOf(row),
    spent: { lamports, tokens: sums },
    since: Math.max(dayAgo, row?.spend_since ?? 0),
    last: await lastSpend(reader, signer),
  }
}

/**
 * How what the platform wallet signs is guarded: its rule refuses what the policy requires and the build has not. A
 * request that demands guards gets them from every policy.
 */
export const guardModeOf = ({ guards }: SigningPolicy, asked: GuardMode = 'when_it_fits'): GuardMode => {
  if (guards === 'off') return asked === 'required' ? 'required' : 'off'
  return guards === 'required' && asked === 'off' ? 'when_it_fits' : asked
}

/** Returns the hex hash that records in the audit log which policy permitted a signing. */
export const policySha256 = ({ row }: PolicyState): string => hash('sha256', row?.policy_json ?? '', 'hex')

/** A policy in its stored form, with amounts as digits. */
interface StoredPolicy {
  programs: readonly string[]
  destinations: readonly string[] | null
  max_fee_lamports: string
  lamports_per_transaction: string
  lamports_per_day: string
  tokens: readonly StoredLimit[]
  /** Null or missing if there are none, as in a policy that was stored before there were powers. */
  powers?: readonly HolderPower[] | null
  /** Missing if it is the default, as in a policy that was stored before there were guards. */
  guards?: GuardMode
  /** Missing in a policy that was stored before there were approvals. */
  approvals?: StoredApprovals | null
}

interface StoredLimit {
  mint: string
  per_transaction: string
  per_day: string
}

type StoredApprovals = Omit<Approvals, 'rules'> & {
  rules: Omit<ApprovalRules, 'lamports_per_transaction' | 'lamports_per_day' | 'tokens'> & {
    lamports_per_transaction: string | null
    lamports_per_day: string | null
    tokens: readonly StoredLimit[]
  }
}

export function policyJson({ paused: _, tokens, powers, guards, approvals, ...policy }: SigningPolicy): string {
  const stored: StoredPolicy = {
    ...policy,
    max_fee_lamports: String(policy.max_fee_lamports),
    lamports_per_transaction: String(policy.lamports_per_transaction),
    lamports_per_day: String(policy.lamports_per_day),
    tokens: tokens.map(storedLimit),
    powers: powers.length === 0 ? null : powers,
    ...(guards === DEFAULT_POLICY.guards ? {} : { guards }),
    approvals: approvals && { ...approvals, rules: storedRules(approvals.rules) },
  }
  return JSON.stringify(stored)
}

const storedLimit = ({ mint, per_transaction, per_day }: MintLimit): StoredLimit => ({
  mint,
  per_transaction: String(per_transaction),
  per_day: String(per_day),
})

const limitOf = ({ mint, per_transaction, per_day }: StoredLimit): MintLimit => ({
  mint,
  per_transaction: BigInt(per_transaction),
  per_day: BigInt(per_day),
})

const storedRules = ({
  lamports_per_transaction,
  lamports_per_day,
  tokens,
  ...rules
}: ApprovalRules): StoredApprovals['rules'] => ({
  lamports_per_transaction: lamports_per_transaction === null ? null : String(lamports_per_transaction),
  lamports_per_day: lamports_per_day === null ? null : String(lamports_per_day),
  tokens: tokens.map(storedLimit),
  ...rules,
})

const rulesOf = ({
  lamports_per_transaction,
  lamports_per_day,
  tokens,
  ...rules
}: StoredApprovals['rules']): ApprovalRules => ({
  lamports_per_transaction: lamports_per_transaction === null ? null : BigInt(lamports_per_transaction),
  lamports_per_day: lamports_per_day === null ? null : BigInt(lamports_per_day),
  tokens: tokens.map(limitOf),
  ...rules,
})

/** What may leave in 24 hours by a stored policy, in raw units by mint; the empty mint is lamports. */
export function dailyLimits(policy_json: string): Map<string, bigint> {
  const { lamports_per_day, tokens }: StoredPolicy = JSON.parse(policy_json)
  const limits = new Map([['', BigInt(lamports_per_day)]])
  for (const { mint, per_day } of tokens) limits.set(mint, BigInt(per_day))
  return limits
}

/** Without a stored policy nothing may leave the wallet. */
function policyOf(row: PolicyState['row']): SigningPolicy {
  if (row === null) return DEFAULT_POLICY
  const stored: StoredPolicy = JSON.parse(row.policy_json)
  return {
    ...stored,
    paused: row.paused === 1,
    max_fee_lamports: BigInt(stored.max_fee_lamports),
    lamports_per_transaction: BigInt(stored.lamports_per_transaction),
    lamports_per_day: BigInt(stored.lamports_per_day),
    tokens: stored.tokens.map(limitOf),
    powers: stored.powers ?? [],
    guards: stored.guards ?? DEFAULT_POLICY.guards,
    approvals: stored.approvals ? { ...stored.approvals, rules: rulesOf(stored.approvals.rules) } : null,
  }
}
