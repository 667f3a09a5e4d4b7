/** Checks a movement against the policy of its wallet, rule by rule. A movement that no rule permits is refused. */
import { solText, tokenText } from '../../solana/amounts.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { isWaiting, isWithin, withApprovals } from '../approvals.ts'
import { missingGuards } from '../movement/guards.ts'
import { type Destination, failureText, type Movement } from '../movement/movement.ts'
import type { MintLimit, SigningPolicy, Spent } from '../policy.ts'
import { checkPrograms, checkSigners } from './signature-rules.ts'
import { spendOf } from './spend.ts'
import {
  OWN_KEY_ADVICE,
  type PolicyCheck,
  type PolicyCheckOptions,
  type SigningRole,
  type SponsoredOutflow,
  type Violation,
} from './violation.ts'

// Rules about amounts: the fee, the amount that leaves in one transaction, and the amount that leaves in a day.

function checkFeeLimit({ fee: amount }: Movement, { max_fee_lamports: cap }: SigningPolicy): Violation | null {
  if (amount <= cap) return null
  const message = `the fee is ${solText(amount)}, at most ${solText(cap)} is allowed. Lower priority-fee-cap, or raise the limit with \`svc signer policy --max-fee\``
  return { message, details: { asked: String(amount), cap: String(cap) } }
}

function checkLamportsPerTransaction(
  movement: Movement,
  { lamports_per_transaction: cap }: SigningPolicy,
  _: Spent,
  { role }: PolicyCheckOptions,
): Violation | null {
  const amount = spendOf(movement).lamports
  return perTransaction({ amount, cap, flag: '--per-transaction' }, role)
}

function checkTokensPerTransaction(
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

function checkLamportsPerDay(
  movement: Movement,
  { lamports_per_day: cap }: SigningPolicy,
  { lamports }: Spent,
): Violation | null {
  return perDay({ amount: spendOf(movement).lamports, cap, flag: '--per-day' }, lamports)
}

function checkTokensPerDay(
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

/**
 * The rules in the order of checking, which is the order of the API's `SIGNING_RULES`. `paused` comes before them and
 * is checked when the policy is read.
 */
const RULES = [
  ['simulation', checkSimulation],
  ['unstable', checkCertain],
  ['signers', checkSigners],
  ['program', checkPrograms],
  ['authority', checkAuthorities],
  ['delegate', checkDelegates],
  ['power', checkPowers],
  ['close', checkClosings],
  ['guard', checkGuards],
  ['sponsorship', checkSponsorship],
  ['fee', checkFeeLimit],
  ['destination', checkDestinations],
  ['lamports_per_transaction', checkLamportsPerTransaction],
  ['tokens_per_transaction', checkTokensPerTransaction],
  ['lamports_per_day', checkLamportsPerDay],
  ['tokens_per_day', checkTokensPerDay],
  ['operation', checkOperation],
  ['hours', checkHours],
] as const satisfies readonly (readonly [string, PolicyCheck])[]

export type PolicyRule = 'paused' | (typeof RULES)[number][0]

export interface Refusal extends Violation {
  rule: PolicyRule
}

/** What the policy says about a movement, and why. With `waits`, approvals permit all that `refusals` names. */
export type PolicyVerdict =
  | { kind: 'permits' }
  | { kind: 'refuses' | 'waits'; refusals: readonly [Refusal, ...Refusal[]] }

/**
 * Returns the verdict of the policy. `spent` is the earlier spend as counted by `spendOf`. Nothing waits that the
 * wallet only cosigns, or pays for another wallet's claim.
 */
export function judgeMovement(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): PolicyVerdict {
  const [first, ...more] = refusalsOf(movement, policy, spent, options)
  if (first === undefined) return { kind: 'permits' }
  const { approvals } = policy
  if (approvals === null || options.role === 'cosigns' || options.sponsored !== undefined) {
    return { kind: 'refuses', refusals: [first] }
  }
  for (const refusal of refusalsOf(movement, withApprovals(policy, approvals), spent, options)) {
    if (!isWaiting(refusal.rule, approvals, options.act?.operation)) return { kind: 'refuses', refusals: [refusal] }
  }
  return { kind: 'waits', refusals: [first, ...more] }
}

/** Returns the first violation of the policy, or null. */
export function checkPolicy(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): Refusal | null {
  const [first] = refusalsOf(movement, policy, spent, options)
  return first ?? null
}

/** Yields the violations of the policy in the order of the rules. */
function* refusalsOf(
  movement: Movement,
  policy: SigningPolicy,
  spent: Spent,
  options: PolicyCheckOptions,
): Generator<Refusal, void> {
  for (const [rule, check] of RULES) {
    const violation = check(movement, policy, spent, options)
    if (violation === null) continue
    yield { rule, message: `Refused by the rule ${rule}: ${violation.message}`, details: violation.details }
  }
}

// Rules that are checked before amounts: the transaction succeeds, and its movement is certain.

function checkSimulation({ err, logs }: Movement): Violation | null {
  if (err === null) return null
  return { message: `the transaction would fail. ${failureText(err)}. Build it again`, details: { error: err, logs } }
}

function checkCertain({ stable, unread }: Movement): Violation | null {
  if (stable && unread.length === 0) return null
  const [first] = unread
  const why =
    first === undefined
      ? 'its accounts changed while it was read; build it again'
      : `${first.where}: ${first.reason}; ${OWN_KEY_ADVICE}`
  return { message: `the amounts that the transaction would move are uncertain: ${why}`, details: { unread } }
}

// Rules that only a policy with approvals has: which operations always need them, and at which hours everything does.

function checkOperation(
  _: Movement,
  { approvals }: SigningPolicy,
  __: Spent,
  { act }: PolicyCheckOptions,
): Violation | null {
  if (act === undefined || !approvals?.rules.operations.includes(act.operation)) return null
  return { message: `${act.operation} always needs approvals`, details: { operation: act.operation } }
}

function checkHours(
  _: Movement,
  { approvals }: SigningPolicy,
  __: Spent,
  { act }: PolicyCheckOptions,
): Violation | null {
  const hours = approvals?.rules.hours ?? null
  if (act === undefined || hours === null || isWithin(hours, act.at)) return null
  const { days, from, to, timezone } = hours
  return {
    message: `it is outside the hours ${from} to ${to} (${timezone}) on ${days.join(', ')}`,
    details: { days, from, to, timezone },
  }
}

// The rule about sponsored claims: exactly fee and rent leave the wallet, and only the claim's own accounts gain.

function checkSponsorship(
  { fee, lamports_out, tokens_out, destinations }: Movement,
  _: SigningPolicy,
  __: Spent,
  { sponsored }: PolicyCheckOptions,
): Violation | null {
  if (sponsored === undefined) return null
  const expected = fee + sponsored.lent + sponsored.accountRent
  if (lamports_out !== expected) {
    const message = `${solText(lamports_out)} would leave for the claim of ${sponsored.claimer}, but its fee and rent are ${solText(expected)}; build it again`
    return { message, details: { asked: String(lamports_out), expected: String(expected) } }
  }
  const [token] = tokens_out
  if (token !== undefined) {
    const message = `${token.amount} units of ${token.mint} would leave, but only the airdrop pays the tokens of a sponsored claim`
    return { message, details: { mint: token.mint, asked: String(token.amount) } }
  }
  const stranger = destinations.find((each) => !isOfClaim(each, sponsored))
  if (stranger === undefined) return null
  const { address, mint, amount } = stranger
  const message = `${address} would receive ${tokenText(mint, amount)}, but is not part of the claim of ${sponsored.claimer}`
  return { message, details: { address, mint, amount: String(amount) } }
}

function isOfClaim({ address, mint, amount }: Destination, sponsored: SponsoredOutflow): boolean {
  const { claimer, lent, account, accountRent, status } = sponsored
  if (address === account) return mint === sponsored.mint || (mint === null && amount === accountRent)
  if (mint !== null) return false
  return address === status || (address === claimer && amount === lent)
}

// Rules about control: the wallet loses no authority, no one gains power over its accounts, holders of a mint lose
// nothing by its authorities, and closed accounts pay the wallet.

function checkAuthorities({ authority_changes: [change] }: Movement): Violation | null {
  if (change === undefined) return null
  const { address, what, to } = change
  const message = `${what} of ${address} would pass from the platform wallet to ${to ?? 'nobody'}; ${OWN_KEY_ADVICE}`
  return { message, details: { ...change } }
}

function checkDelegates({ delegates: [delegation] }: Movement): Violation | null {
  if (delegation === undefined) return null
  const { address, kind, delegate, amount } = delegation
  const units = amount === null ? '' : ` for ${amount} units`
  return {
    message: `${delegate ?? 'others'} could act on the ${kind} ${address}${units}; ${OWN_KEY_ADVICE}`,
    details: { address, kind, delegate, amount: amount === null ? null : String(amount) },
  }
}

function checkPowers({ powers }: Movement, policy: SigningPolicy): Violation | null {
  const use = powers.find(({ power }) => power === null || !policy.powers.includes(power))
  if (use === undefined) return null
  const { mint, power, account, what } = use
  const remedy =
    power === null
      ? OWN_KEY_ADVICE
      : `allow this for every mint with \`svc signer policy --powers ${power}\`, or let it wait for approvals with \`--wait power\``
  return {
    message: `holders of ${mint} would be affected, because ${what}; ${remedy}`,
    details: { mint, power, account },
  }
}

function checkClosings({ closes, wallet }: Movement): Violation | null {
  const lost = closes.find(({ to }) => to.some((address) => address !== wallet))
  if (lost === undefined) return null
  const { address, what, lamports, to } = lost
  const message = `the ${what} ${address} would be closed and its ${solText(lamports)} sent to ${to.join(', ')}; send them to the platform wallet ${wallet} instead`
  return { message, details: { address, lamports: String(lamports), to } }
}

// The rule about guards: the chain holds what was judged.

function checkGuards(
  { guards: { needed, held } }: Movement,
  policy: SigningPolicy,
  _: Spent,
  { unguarded, isForecast = false }: PolicyCheckOptions,
): Violation | null {
  if (policy.guards !== 'required' || isForecast) return null
  const missing = missingGuards(needed, held)
  if (missing.length === 0) return null
  const accounts = missing.map(({ address }) => address)
  const why = unguarded?.text ?? 'the transaction was built without them; build it again'
  const message = `more than was simulated could leave ${accounts.join(', ')}: guards are required, but ${why}. Allow it with \`svc signer policy --guards when-it-fits\``
  return { message, details: { accounts, ...unguarded?.details } }
}

// The rule about destinations: every receiver must be on the policy's list, if there is one.

/** A key can empty accounts of these programs, so lamports in them count as received. */
const KEY_PROGRAMS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM])
/** Most lamports that Metaplex's programs keep in a new account in addition to its rent. */
const METAPLEX_FEE = 10_000_000n

function checkDestinations(
  { destinations, fee_payer, programs }: Movement,
  policy: SigningPolicy,
  _: Spent,
  { role, sponsored }: PolicyCheckOptions,
): Violation | null {
  if (policy.destinations === null) return null
  const list = new Set(policy.destinations)
  // A policy that lists a distributor permits its claims. The rule about sponsorships limits what a claimer gets.
  if (sponsored !== undefined && list.has(sponsored.distributor)) {
    for (const address of [sponsored.claimer, sponsored.account, sponsored.status]) list.add(address)
  }
  // The payer gets back the rent of closed accounts. If the wallet only cosigns, none of it belongs to the wallet.
  if (role === 'cosigns') list.add(fee_payer)
  const multisig = programs.find(({ program, first }) => isSquads(program) && !list.has(first ?? ''))?.first ?? null
  const stranger = destinations.find(
    (each) => !isListed(each, list) && !isRent(each, policy.programs, multisig === null),
  )
  if (stranger === undefined) return null
  const { address, owner, mint, amount } = stranger
  if (isSquads(stranger.program) && multisig !== null) {
    const message = `${address} would receive ${solText(amount)} of rent, which goes to whom the multisig ${multisig} names once it is closed, and the multisig is not among the destinations. Add it with \`svc signer policy --destinations\``
    return { message, details: { address, owner, mint, amount: String(amount), multisig } }
  }
  const ofOwner = owner === null ? '' : ` (token account of ${owner})`
  const what = mint === null ? solText(amount) : `${amount} units of ${mint}`
  const message = `${address}${ofOwner} would receive ${what} but is not among the destinations. Add it with \`svc signer policy --destinations\``
  return { message, details: { address, owner, mint, amount: String(amount) } }
}

/** A token account counts for its owner only if every other address that could empty it is listed too. */
function isListed({ address, owner, others }: Destination, list: ReadonlySet<string>): boolean {
  return list.has(address) || (owner !== null && list.has(owner) && others.every((other) => list.has(other)))
}

const isSquads = (program: string): boolean => program === PROGRAMS.squads.id

/**
 * The rent of a new account of an allowed program is not received by anyone. It still counts as spent lamports. The
 * rule about programs allows proposals without the list, but the members of a multisig decide who gets their rent, and
 * anybody can make the wallet a member: so the multisig itself must be a destination.
 */
function isRent(
  { program, mint, amount, created, minimum }: Destination,
  programs: readonly string[],
  areMultisigsListed: boolean,
): boolean {
  const isAllowed = isSquads(program) ? areMultisigsListed : programs.includes(program)
  const isOfProgram = created && mint === null && !KEY_PROGRAMS.has(program) && isAllowed
  return isOfProgram && amount <= minimum + METAPLEX_FEE
}
