/** The rules of the platform's signer: pure, one after another, and whatever no rule allows is refused. */
import type { SigningRule } from '../../api/signer.ts'
import type { Destination, Movement } from '../../chain/movements/index.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'

/** In the order of `SIGNING_RULES`, which is the order in which they are checked. */
export type Rule = SigningRule

export interface TokenCap {
  mint: string
  /** Raw units. */
  per_transaction: bigint
  per_day: bigint
}

export interface Policy {
  paused: boolean
  programs: readonly string[]
  /** Null allows any. */
  destinations: readonly string[] | null
  max_fee_lamports: bigint
  lamports_per_transaction: bigint
  lamports_per_day: bigint
  tokens: readonly TokenCap[]
}

/** Of the last 24 hours. */
export interface Spent {
  lamports: bigint
  /** Raw units by mint. */
  tokens: ReadonlyMap<string, bigint>
}

export interface Refusal {
  rule: Rule
  message: string
  /** Digit strings and addresses. */
  details: Record<string, unknown>
}

export type Role = 'pays' | 'cosigns'

export interface JudgeOptions {
  /** `cosigns`: a transaction of another, who pays; nothing of the wallet may leave. */
  role: Role
  /** Who may sign beside a wallet that pays. */
  cosigners?: readonly string[]
  /** Mints whose amounts no policy bounds: the request has made them, or a program moves them between its own accounts. */
  uncapped?: readonly string[]
}

export const DEFAULT_PROGRAMS: readonly string[] = [
  SYSTEM_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  ...[PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata, PROGRAMS.core, PROGRAMS.lock, PROGRAMS.distributor].map(
    ({ id }) => id,
  ),
]

/** Nothing may leave until an operator says how much. */
export const DEFAULT_POLICY: Policy = {
  paused: false,
  programs: DEFAULT_PROGRAMS,
  destinations: null,
  max_fee_lamports: 2_000_000n,
  lamports_per_transaction: 0n,
  lamports_per_day: 0n,
  tokens: [],
}

/** What may use the signature of a wallet that cosigns: a token program or a pool would pay out by it. */
const COSIGNED_PROGRAMS: ReadonlySet<string> = new Set([
  PROGRAMS.core.id,
  SYSTEM_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
])
const PLAIN_PROGRAMS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM])
/** Rent of an account: 6,960 lamports for each byte of its data and 128 more. */
const RENT_PER_BYTE = 6_960n
const ACCOUNT_BYTES = 128n
/** What Metaplex's programs keep in a new account beside its rent, at most. */
const KEPT_FEE = 10_000_000n

/** The first rule that the movement breaks, or null. `spent` is what was counted with `spendOf` before. */
export function judge(movement: Movement, policy: Policy, spent: Spent, options: JudgeOptions): Refusal | null {
  for (const check of CHECKS) {
    const refusal = check(movement, policy, spent, options)
    if (refusal !== null) return refusal
  }
  return null
}

/** What counts against a transaction and against the day. A wallet that cosigns spends nothing. */
export function spendOf(movement: Movement): { lamports: bigint; tokens: { mint: string; amount: bigint }[] } {
  if (movement.fee_payer !== movement.wallet) {
    return { lamports: movement.lamports_out, tokens: movement.tokens_out.map((each) => ({ ...each })) }
  }
  const { lamports_out, lamports_to_others, tokens_out, tokens_to_others } = movement
  const amounts = new Map<string, bigint>()
  for (const { mint, amount } of [...tokens_out, ...tokens_to_others]) {
    if (amount > (amounts.get(mint) ?? 0n)) amounts.set(mint, amount)
  }
  return {
    lamports: lamports_out > lamports_to_others ? lamports_out : lamports_to_others,
    tokens: [...amounts].map(([mint, amount]) => ({ mint, amount })),
  }
}

type Check = (movement: Movement, policy: Policy, spent: Spent, options: JudgeOptions) => Refusal | null

const CHECKS: readonly Check[] = [
  paused,
  simulation,
  unstable,
  signers,
  program,
  authority,
  delegate,
  close,
  fee,
  destination,
  lamportsPerTransaction,
  tokensPerTransaction,
  lamportsPerDay,
  tokensPerDay,
]

const refuse = (rule: Rule, message: string, details: Record<string, unknown> = {}): Refusal => ({
  rule,
  message: `Refused by the rule ${rule}: ${message}`,
  details,
})
const OWN_KEY = 'it is not for the platform wallet to sign: sign it with a key of your own'

function paused(_: Movement, policy: Policy): Refusal | null {
  return policy.paused ? refuse('paused', 'the signer is paused. Nothing is signed until `svc signer resume`') : null
}

function simulation({ err, logs }: Movement): Refusal | null {
  if (err === null) return null
  const { program: name, message, hint } = err
  const what = `${name === null ? '' : `${name}: `}${err.name}: ${message}${hint === null ? '' : `; ${hint}`}`
  return refuse('simulation', `the transaction would fail. ${what}. Build it again`, { error: err, logs })
}

function unstable({ stable, unread }: Movement): Refusal | null {
  if (stable && unread.length === 0) return null
  const [first] = unread
  const why =
    first === undefined
      ? 'its accounts changed while it was read; build it again'
      : `${first.where}: ${first.reason}; ${OWN_KEY}`
  return refuse('unstable', `what the transaction would move cannot be told for certain: ${why}`, { unread })
}

function signers(movement: Movement, _: Policy, __: Spent, { role, cosigners = [] }: JudgeOptions): Refusal | null {
  const { wallet, signers: all, fee_payer } = movement
  const details = { fee_payer, signers: all }
  if (!all.includes(wallet)) return refuse('signers', `the platform wallet ${wallet} is not among its signers`, details)
  if (role === 'cosigns') {
    if (fee_payer !== wallet) return null
    return refuse(
      'signers',
      `the platform wallet only cosigns it, and may not pay its fee; name another payer`,
      details,
    )
  }
  if (fee_payer !== wallet) {
    return refuse('signers', `${fee_payer} pays its fee instead of the platform wallet ${wallet}`, details)
  }
  const strangers = all.filter((signer) => signer !== wallet && !cosigners.includes(signer))
  if (strangers.length === 0) return null
  return refuse('signers', `it is also to be signed by ${strangers.join(', ')}, which is not expected`, {
    ...details,
    strangers,
  })
}

function program({ programs }: Movement, policy: Policy, _: Spent, { role }: JudgeOptions): Refusal | null {
  const stranger = programs.find(({ program: id }) => !policy.programs.includes(id))
  if (stranger !== undefined) {
    const { program: id, where } = stranger
    const message = `${where} is of the program ${id}, which is not allowed. Allow it with \`svc signer policy --programs\` if it may act for the platform`
    return refuse('program', message, { program: id, where })
  }
  if (role === 'pays') return null
  const used = programs.find(({ depth, wallet, program: id }) => depth === 1 && wallet && !COSIGNED_PROGRAMS.has(id))
  if (used === undefined) return null
  const message = `${used.where} gives the signature of the platform wallet to ${used.program}, for which it does not cosign; leave the wallet out of it`
  return refuse('program', message, { program: used.program, where: used.where })
}

function authority({ authority_changes: [change] }: Movement): Refusal | null {
  if (change === undefined) return null
  const { address, what, to } = change
  const message = `${what} of ${address} would pass from the platform wallet to ${to ?? 'nobody'}; ${OWN_KEY}`
  return refuse('authority', message, { ...change })
}

function delegate({ delegates: [given] }: Movement): Refusal | null {
  if (given === undefined) return null
  const { address, kind, delegate: to, amount } = given
  const whom = to === null ? 'others' : to
  const message = `${whom} could act on the ${kind} ${address}${amount === null ? '' : ` for ${amount} units`}; ${OWN_KEY}`
  return refuse('delegate', message, { address, kind, delegate: to, amount: amount === null ? null : String(amount) })
}

function close({ closes, wallet }: Movement): Refusal | null {
  const lost = closes.find(({ to }) => to.some((address) => address !== wallet))
  if (lost === undefined) return null
  const { address, what, lamports, to } = lost
  const message = `the ${what} ${address} would end, and its ${lamports} lamports go to ${to.join(', ')}; close it to the platform wallet ${wallet}`
  return refuse('close', message, { address, lamports: String(lamports), to })
}

function fee(movement: Movement, policy: Policy): Refusal | null {
  const [asked, cap] = [movement.fee, policy.max_fee_lamports]
  if (asked <= cap) return null
  const message = `the fee is ${asked} lamports, at most ${cap} are allowed. Lower priority-fee-cap, or raise the limit with \`svc signer policy --max-fee\``
  return refuse('fee', message, { asked: String(asked), cap: String(cap) })
}

function destination(
  { destinations, fee_payer }: Movement,
  policy: Policy,
  _: Spent,
  { role }: JudgeOptions,
): Refusal | null {
  const { destinations: allowed, programs } = policy
  if (allowed === null) return null
  const list = new Set(allowed)
  // Who pays gets back the rent of what ends; where the wallet only cosigns, nothing of it is the wallet's.
  if (role === 'cosigns') list.add(fee_payer)
  const stranger = destinations.find((each) => !isAllowed(each, list) && !isRent(each, programs))
  if (stranger === undefined) return null
  const { address, owner, mint, amount } = stranger
  const whose = owner === null ? '' : ` (token account of ${owner})`
  const what = mint === null ? `${amount} lamports` : `${amount} units of ${mint}`
  const message = `${address}${whose} would receive ${what}, and is not among the destinations. Add it with \`svc signer policy --destinations\``
  return refuse('destination', message, { address, owner, mint, amount: String(amount) })
}

/** A token account is its owner's, unless somebody else could empty it too. */
function isAllowed({ address, owner, others }: Destination, list: ReadonlySet<string>): boolean {
  return list.has(address) || (owner !== null && list.has(owner) && others.every((other) => list.has(other)))
}

/** What a new account of an allowed program needs to exist is nobody's gain; it counts among the lamports all the same. */
function isRent({ program: id, mint, amount, created, space }: Destination, programs: readonly string[]): boolean {
  const rent = (BigInt(space) + ACCOUNT_BYTES) * RENT_PER_BYTE
  return created && mint === null && !PLAIN_PROGRAMS.has(id) && programs.includes(id) && amount <= rent + KEPT_FEE
}

interface Asked {
  rule: Rule
  what: string
  asked: bigint
  cap: bigint
  flag: string
  mint?: string
}

function perTransaction({ rule, what, asked, cap, flag, mint }: Asked, role: Role): Refusal | null {
  const limit = role === 'cosigns' ? 0n : cap
  if (asked <= limit) return null
  const way =
    role === 'cosigns'
      ? 'nothing of the platform wallet may leave where it only cosigns'
      : `raise the limit with \`svc signer policy ${flag}\``
  const message = `${asked} ${what} would leave, ${limit} may leave in one transaction; ${way}`
  return refuse(rule, message, { ...(mint && { mint }), asked: String(asked), cap: String(limit) })
}

function perDay({ rule, what, asked, cap, flag, mint }: Asked, spent: bigint): Refusal | null {
  if (asked === 0n || spent + asked <= cap) return null
  const left = cap > spent ? cap - spent : 0n
  const message = `${asked} ${what} would leave, ${left} of ${cap} are left of the last 24 hours, in which ${spent} left; wait, raise the limit with \`svc signer policy ${flag}\`, or start the day anew with \`svc signer reset\``
  const figures = { asked: String(asked), cap: String(cap), spent: String(spent), left: String(left) }
  return refuse(rule, message, { ...(mint && { mint }), ...figures })
}

function lamportsPerTransaction(movement: Movement, policy: Policy, _: Spent, { role }: JudgeOptions): Refusal | null {
  const [asked, cap] = [spendOf(movement).lamports, policy.lamports_per_transaction]
  const flag = '--per-transaction'
  return perTransaction({ rule: 'lamports_per_transaction', what: 'lamports', asked, cap, flag }, role)
}

function lamportsPerDay(movement: Movement, policy: Policy, { lamports }: Spent): Refusal | null {
  const [asked, cap] = [spendOf(movement).lamports, policy.lamports_per_day]
  return perDay({ rule: 'lamports_per_day', what: 'lamports', asked, cap, flag: '--per-day' }, lamports)
}

/** A mint that is not listed may not leave. */
const capOf = ({ tokens }: Policy, mint: string): TokenCap =>
  tokens.find((each) => each.mint === mint) ?? { mint, per_transaction: 0n, per_day: 0n }

function tokensPerTransaction(movement: Movement, policy: Policy, _: Spent, options: JudgeOptions): Refusal | null {
  const { role, uncapped = [] } = options
  for (const { mint, amount: asked } of spendOf(movement).tokens) {
    if (uncapped.includes(mint)) continue
    const cap = capOf(policy, mint).per_transaction
    const row = { rule: 'tokens_per_transaction', what: `units of ${mint}`, asked, cap, flag: '--token', mint } as const
    const refusal = perTransaction(row, role)
    if (refusal !== null) return refusal
  }
  return null
}

function tokensPerDay(
  movement: Movement,
  policy: Policy,
  { tokens }: Spent,
  { uncapped = [] }: JudgeOptions,
): Refusal | null {
  for (const { mint, amount: asked } of spendOf(movement).tokens) {
    if (uncapped.includes(mint)) continue
    const cap = capOf(policy, mint).per_day
    const row = { rule: 'tokens_per_day', what: `units of ${mint}`, asked, cap, flag: '--token', mint } as const
    const refusal = perDay(row, tokens.get(mint) ?? 0n)
    if (refusal !== null) return refusal
  }
  return null
}
