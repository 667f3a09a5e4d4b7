/** The guards of a built transaction by its own bytes: what they hold, and whether that is all that was demanded. */
import type { Simulation } from '../../src/api/transactions.ts'
import {
  type FoundGuards,
  isAccountAssertion,
  readGuards,
  type TokenGuard,
  type WalletGuard,
} from '../../src/solana/guards.ts'
import { decodeInstruction } from '../../src/solana/instructions.ts'
import { bareInstruction } from '../../src/solana/message-instructions.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { solOf } from '../cli/amounts.ts'
import { unexpectedBuild } from './demanded-calls.ts'
import type { DescribedContent, TransactionContent } from './wallet.ts'

/**
 * The guards and the places of their instructions; none unless every byte is as svc writes it. An act of a vault has the
 * place of its own guard alone.
 */
export function guardsIn({ fee_payer, instructions }: TransactionContent): FoundGuards {
  const read = instructions.map(bareInstruction)
  const found = readGuards(fee_payer, read)
  if (found.guards.length > 0) return found
  return { guards: [], places: read.flatMap((each, place) => (isAccountAssertion(each) ? [place] : [])) }
}

/** What only these programs run is known from the bytes; others may move more than their arguments say. */
const PLAIN_PROGRAMS: readonly string[] = [
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  PROGRAMS.lighthouse.id,
]
/** The most lamports of rent that opening one token account takes, whatever its extensions. */
const MOST_RENT = 5_000_000n

/**
 * Throws a failure unless the wallet and each of its token accounts that is written to have a guard, and none allows
 * more than the instructions say and, of programs that move more than that, than `shown` shows.
 */
export function requireGuards(content: DescribedContent, wallet: string, shown: Simulation | null): void {
  const { guards } = guardsIn(content)
  const sent = sentBy(content, wallet)
  const isPlain = content.instructions.every(({ program }) => PLAIN_PROGRAMS.includes(program))
  const own = guards.find((guard): guard is WalletGuard => guard.kind === 'wallet' && guard.address === wallet)
  if (own === undefined && !(isPlain && isEmptied(sent, wallet, shown)))
    throw unexpectedBuild(`it has no guard of ${wallet}`)
  const most = lamportsOf(content, wallet, { sent, shown, isPlain })
  const allowance = -(own?.change ?? 0n)
  if (most !== null && allowance > most) {
    const [allowed, needed] = [allowance, most].map(solOf)
    throw unexpectedBuild(`its guard lets ${allowed} SOL leave ${wallet}, and it needs ${needed}`)
  }
  const tokens = guards.filter((guard): guard is TokenGuard => guard.kind === 'token')
  for (const address of new Set([...associatedIn(content, wallet), ...sent.named, ...shownAccounts(shown, wallet)])) {
    if (sent.closed.has(address)) continue
    const guard = tokens.find((each) => each.address === address)
    if (guard === undefined) throw unexpectedBuild(`it has no guard of the token account ${address}`)
    requireControl(guard, wallet, sent)
    if (guard.change === null && !isOpened(address, { sent, shown, isPlain }))
      throw unexpectedBuild(`its guard has no bound for ${address}`)
    const units = unitsOf(address, { sent, shown, isPlain })
    if (units !== null && guard.change !== null && -guard.change > units)
      throw unexpectedBuild(`its guard lets ${-guard.change} raw units leave ${address}, and it needs ${units}`)
  }
}

function requireControl(
  { address, owner, mint, delegate, delegated, closeAuthority }: TokenGuard,
  wallet: string,
  { delegates }: Pick<Sent, 'delegates'>,
): void {
  const is = (what: string, other: string) => unexpectedBuild(`its guard lets ${other} be the ${what} of ${address}`)
  // Null is the owner from whose address that of the account is derived, and it has no other.
  if (owner !== null && owner !== wallet) throw is('owner', owner)
  if (owner !== null && mint === null) throw unexpectedBuild(`its guard lets ${address} be of another mint`)
  const most = delegate === null || delegate === wallet ? delegated : delegates.get(delegate)
  if (delegate !== null && most === undefined) throw is('delegate', delegate)
  if (most !== undefined && delegated > most)
    throw unexpectedBuild(`its guard lets ${delegate} take ${delegated} raw units of ${address}, and it needs ${most}`)
  if (closeAuthority !== null && closeAuthority !== wallet) throw is('close authority', closeAuthority)
}

/** What the instructions of a transaction say that a wallet gives away. */
interface Sent {
  /** Lamports, and to whom; without the rent of token accounts that it opens. */
  payments: { to: string; lamports: bigint }[]
  /** Token accounts that it may open. */
  opened: Set<string>
  /** Raw units of each token account from which it sends or burns. */
  units: Map<string, bigint>
  /** Its token accounts beside the associated ones. */
  named: Set<string>
  /** Token accounts that it closes, which need no guard. */
  closed: Set<string>
  /** Whom it lets spend, and how many raw units. */
  delegates: Map<string, bigint>
}

const OWN_ACCOUNT_CALLS: readonly string[] = ['transfer', 'transferChecked', 'approve', 'approveChecked', 'revoke']

/** Arguments of a trade and of added liquidity that say the most that leaves if the price moves. */
const MOST_PAID: readonly string[] = ['amount_in', 'amount_0', 'token_a_amount_threshold', 'token_b_amount_threshold']

/** The token accounts that an argument can mean: the named one, or those of the named mint. */
const accountsOf = (wallet: string, of: string | null): string[] => (of === null ? [] : [of, ...associated(wallet, of)])

const associated = (wallet: string, mint: string): string[] =>
  [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => associatedTokenAddress(wallet, mint, program))

function sentBy({ instructions }: DescribedContent, wallet: string): Sent {
  const sent: Sent = {
    payments: [],
    opened: new Set(),
    units: new Map(),
    named: new Set(),
    closed: new Set(),
    delegates: new Map(),
  }
  const takes = (account: string, units: bigint) => sent.units.set(account, (sent.units.get(account) ?? 0n) + units)
  for (const { program, accounts, data, instruction, args } of instructions) {
    if (/^(swap|add_liquidity)/.test(instruction ?? ''))
      for (const { name, value, of } of args)
        if (MOST_PAID.includes(name)) for (const account of accountsOf(wallet, of)) takes(account, BigInt(value))
    const addresses = accounts.map(({ address }) => address)
    const decoded = decodeInstruction(program, addresses, Buffer.from(data, 'hex'))
    const call = (decoded?.instruction ?? {}) as { type?: string } & Readonly<Record<string, unknown>>
    const { type = '', source, destination } = call
    if (decoded?.program === 'associated-token') sent.opened.add(String(call.account))
    if (decoded?.program === 'system' && source === wallet && destination !== wallet)
      sent.payments.push({ to: String(destination ?? call.newAccount), lamports: amountOf(call.lamports) })
    if (decoded?.program !== 'token' || call.authority !== wallet) continue
    const account = String(source ?? call.account)
    if (OWN_ACCOUNT_CALLS.includes(type)) sent.named.add(account)
    if (type === 'closeAccount') sent.closed.add(account)
    if (typeof call.delegate === 'string') sent.delegates.set(call.delegate, amountOf(call.amount))
    if (/^(transfer|burn)/.test(type) && destination !== account) takes(account, amountOf(call.amount))
  }
  return sent
}

const amountOf = (value: unknown): bigint => (typeof value === 'bigint' ? value : 0n)

interface Known {
  sent: Sent
  shown: Simulation | null
  isPlain: boolean
}

/** A wallet that sends everything has no guard, because nothing of it is left. */
const isEmptied = ({ payments }: Sent, wallet: string, shown: Simulation | null): boolean =>
  payments.length > 0 &&
  (shown?.balance_changes.every(({ address, mint, after }) => address !== wallet || mint !== null || after === '0') ??
    true)

/** The most lamports that need to leave the wallet besides the fee; null if nothing here shows it. */
function lamportsOf(content: DescribedContent, wallet: string, { sent, shown, isPlain }: Known): bigint | null {
  // What it pays into accounts that it closes returns.
  const payments = sent.payments.filter(({ to }) => !sent.closed.has(to))
  const paid = payments.reduce((sum, { lamports }) => sum + lamports, 0n)
  const said = paid + BigInt(sent.opened.size) * MOST_RENT
  if (shown === null) return isPlain ? said : null
  const fee = content.fee_payer === wallet ? BigInt(content.fee) : 0n
  const lost = lostIn(shown, wallet, null) - fee
  const wrapped = associated(wallet, WRAPPED_SOL).reduce((sum, account) => sum + (sent.units.get(account) ?? 0n), 0n)
  const seen = larger(lost, paid + wrapped + BigInt(shown.rent ?? 0))
  return isPlain && said < seen ? said : seen
}

/** An account that exists before the transaction needs a bound. */
const isOpened = (account: string, { sent, shown, isPlain }: Known): boolean =>
  shown === null
    ? !isPlain || sent.opened.has(account)
    : shown.balance_changes.some(({ address, created }) => address === account && created)

/** The most raw units that need to leave a token account; null if nothing here shows it. */
function unitsOf(address: string, { sent, shown, isPlain }: Known): bigint | null {
  const said = sent.units.get(address) ?? 0n
  if (isPlain) return said
  return shown === null ? null : larger(said, lostIn(shown, address))
}

/** What an account loses: lamports if `mint` is null, otherwise tokens. */
function lostIn({ balance_changes: changes }: Simulation, account: string, mint?: null): bigint {
  const row = changes.find((each) => each.address === account && (each.mint === null) === (mint === null))
  return -BigInt(row?.change ?? 0)
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The wallet's associated accounts of any mint that the transaction names, among those that it writes to. */
function associatedIn({ instructions }: DescribedContent, wallet: string): ReadonlySet<string> {
  const accounts = instructions.flatMap((instruction) => instruction.accounts)
  const written = new Set(accounts.filter(({ writable }) => writable).map(({ address }) => address))
  const mints = new Set([WRAPPED_SOL, ...accounts.map(({ address }) => address)])
  const derived = [...mints].flatMap((mint) => associated(wallet, mint))
  return new Set(derived.filter((address) => written.has(address)))
}

/** The token accounts that the wallet keeps, and whose amounts a simulation changes. */
const shownAccounts = (shown: Simulation | null, wallet: string): string[] =>
  (shown?.balance_changes ?? []).flatMap(({ address, mint, owner, closed }) =>
    mint !== null && owner === wallet && !closed ? [address] : [],
  )
