/** The rules of the platform wallet: what flags change about them, and old and new values in words. */
import type { SignerState } from '../../src/api/signer.ts'
import { isAddress } from '../../src/solana/addresses.ts'
import { groupedDecimalOf, solText } from '../../src/solana/amounts.ts'
import { programName } from '../../src/solana/programs.ts'
import { HOLDER_POWERS, type HolderPower } from '../../src/solana/token-authorities.ts'
import { LAMPORT_DECIMALS, rawUnits } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { type ApprovalFlags, approvalChanges, approvalFields } from './approvals.ts'
import { type TokenLimit, tokenLimitOf } from './token-limit.ts'

export type PolicyInForce = NonNullable<SignerState['policy']>
type PolicyChanges = Partial<
  Pick<
    PolicyInForce,
    | 'lamports_per_transaction'
    | 'lamports_per_day'
    | 'max_fee_lamports'
    | 'destinations'
    | 'programs'
    | 'tokens'
    | 'powers'
    | 'approvals'
  >
>

interface PolicyFlags extends ApprovalFlags {
  per_transaction?: string | undefined
  per_day?: string | undefined
  max_fee?: string | undefined
  token?: readonly string[] | undefined
  destinations?: readonly string[] | undefined
  programs?: readonly string[] | undefined
  powers?: readonly string[] | undefined
}

/** The fields of a request that the flags change. */
export function policyChanges(flags: PolicyFlags, policy: PolicyInForce | null): PolicyChanges {
  const lamports = (sol: string | undefined, shown: string) =>
    sol === undefined ? undefined : String(rawUnits(sol, LAMPORT_DECIMALS, shown))
  const { destinations, programs, powers, token } = flags
  const changes = {
    lamports_per_transaction: lamports(flags.per_transaction, '--per-transaction'),
    lamports_per_day: lamports(flags.per_day, '--per-day'),
    max_fee_lamports: lamports(flags.max_fee, '--max-fee'),
    destinations: destinations?.join() === 'any' ? null : destinations && addressesOf('--destinations', destinations),
    programs: programs && addressesOf('--programs', programs),
    powers: powers && powersOf(powers),
    tokens: token && tokenLimits(policy?.tokens ?? [], token),
    approvals: approvalChanges(flags, policy?.approvals ?? null),
  }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

/** The current limits, in which new limits replace those of the same mint. */
function tokenLimits(current: readonly TokenLimit[], items: readonly string[]): TokenLimit[] {
  const limits = new Map(current.map((limit) => [limit.mint, limit]))
  for (const item of items) {
    const limit = tokenLimitOf(item, '--token')
    limits.delete(limit.mint)
    const none = [limit.per_transaction, limit.per_day].every((units) => BigInt(units) === 0n)
    if (!none) limits.set(limit.mint, limit)
  }
  return [...limits.values()]
}

/** Amounts of tokens with their symbols; raw units of a mint that cannot be read. */
export interface ShownTokens {
  amount(mint: string, raw: string): string
}

/** Reads what is needed to show the limits. A policy can be read and changed without the chain. */
export async function shownTokens({ client }: Session, limits: readonly TokenLimit[]): Promise<ShownTokens> {
  const mints = [...new Set(limits.map(({ mint }) => mint))]
  const answer = mints.length === 0 ? null : await client.tokens.batchFetch({ mints }).catch(() => null)
  const labels = new Map((answer?.data.tokens ?? []).flatMap((label) => (label === null ? [] : [[label.mint, label]])))
  return {
    amount(mint, raw) {
      const label = labels.get(mint)
      if (label === undefined) return `${groupedDecimalOf(BigInt(raw), 0)} raw units`
      return `${groupedDecimalOf(BigInt(raw), label.decimals)} ${label.symbol === null ? 'tokens' : printable(label.symbol)}`
    },
  }
}

export const limitText = ({ mint, per_transaction, per_day }: TokenLimit, shown: ShownTokens): string =>
  `${shown.amount(mint, per_transaction)} a transaction, ${shown.amount(mint, per_day)} a day`

/** Names of authorities, or `none`. */
/** The list, if each item is an address. */
function addressesOf(flag: string, all: readonly string[]): string[] {
  const at = all.findIndex((each) => !isAddress(each))
  if (at < 0) return [...all]
  throw usage(`${flag}${all.length === 1 ? '' : ` item ${at + 1}`}: must be a base58 address`, { param: flag })
}

function powersOf(names: readonly string[]): HolderPower[] {
  if (names.join() === 'none') return []
  const unknown = names.find((name) => !HOLDER_POWERS.some((power) => power === name))
  if (unknown === undefined) return HOLDER_POWERS.filter((power) => names.includes(power))
  throw usage(`--powers does not know "${unknown}"`, {
    param: '--powers',
    next: `use ${HOLDER_POWERS.join(', ')} or none`,
  })
}

export const powersText = (powers: readonly HolderPower[]): string => powers.join(', ') || 'none'

export const programText = (id: string): string => programName(id) ?? id

export const destinationsText = (wallets: readonly string[] | null): string =>
  wallets === null ? 'any' : wallets.join(' ') || 'none'

type Field = readonly [name: string, value: string]

/** Old and new value of each rule that was named: `per day  2 SOL → 5 SOL`. */
export function changedRules(policy: PolicyInForce, changes: PolicyChanges, shown: ShownTokens): string[] {
  const { destinations, programs, tokens } = changes
  const fields: Field[] = [
    ...solRule('per transaction', policy.lamports_per_transaction, changes.lamports_per_transaction),
    ...solRule('per day', policy.lamports_per_day, changes.lamports_per_day),
    ...solRule('fee at most', policy.max_fee_lamports, changes.max_fee_lamports),
    ...(tokens === undefined ? [] : tokenRules(policy.tokens, tokens, shown)),
    ...(destinations === undefined
      ? []
      : [changeField('destinations', destinationsText(policy.destinations), destinationsText(destinations))]),
    ...(programs === undefined ? [] : programRules(policy.programs, programs)),
    ...(changes.powers === undefined
      ? []
      : [changeField('powers', powersText(policy.powers), powersText(changes.powers))]),
    ...(changes.approvals === undefined ? [] : approvalRules(policy.approvals, changes.approvals)),
  ]
  return fieldLines(fields).map((line) => `  ${line}`)
}

/** Limits of a transaction above those of a day: the day's is the one that counts. */
export function limitWarnings(policy: PolicyInForce, changes: PolicyChanges, shown: ShownTokens): string[] {
  const { lamports_per_transaction, lamports_per_day, tokens } = { ...policy, ...changes }
  const above = (name: string, each: string, day: string) =>
    `${name}: ${each} per transaction is more than the ${day} of a day, which counts`
  return [
    ...(BigInt(lamports_per_transaction) > BigInt(lamports_per_day)
      ? [above('SOL', solText(lamports_per_transaction), solText(lamports_per_day))]
      : []),
    ...tokens
      .filter(({ per_transaction, per_day }) => BigInt(per_transaction) > BigInt(per_day))
      .map(({ mint, per_transaction, per_day }) =>
        above(mint, shown.amount(mint, per_transaction), shown.amount(mint, per_day)),
      ),
  ]
}

const solRule = (name: string, before: string, after: string | undefined): Field[] =>
  after === undefined ? [] : [changeField(name, solText(before), solText(after))]

const changeField = (name: string, before: string, after: string): Field => [
  name,
  before === after ? `${after}, as now` : `${before} → ${after}`,
]

function tokenRules(before: readonly TokenLimit[], after: readonly TokenLimit[], shown: ShownTokens): Field[] {
  const mints = [...new Set([...before, ...after].map(({ mint }) => mint))]
  return mints.flatMap((mint) => {
    const [from = '', to = ''] = [before, after].map((limits) => {
      const limit = limits.find((one) => one.mint === mint)
      return limit === undefined ? 'none may leave' : limitText(limit, shown)
    })
    return from === to ? [] : [['token', `${mint}: ${from} → ${to}`] as const]
  })
}

function approvalRules(before: PolicyInForce['approvals'], after: PolicyInForce['approvals']): Field[] {
  const [old, next] = [new Map(approvalFields(before)), new Map(approvalFields(after))]
  return [...new Set([...old.keys(), ...next.keys()])].map((name) =>
    changeField(name, old.get(name) ?? 'none', next.get(name) ?? 'none'),
  )
}

function programRules(before: readonly string[], after: readonly string[]): Field[] {
  const added = after.filter((id) => !before.includes(id))
  const removed = before.filter((id) => !after.includes(id))
  if (added.length + removed.length === 0) return [['programs', `the same ${before.length} as now`]]
  return [
    ...added.map((id): Field => ['program added', namedProgram(id)]),
    ...removed.map((id): Field => ['program removed', namedProgram(id)]),
  ]
}

const namedProgram = (id: string) => {
  const name = programName(id)
  return name === null ? id : `${name} (${id})`
}
