/** What instructions move, and what of it out of a wallet's accounts, whatever comes back in the same transaction. */
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { Holdings } from './holdings.ts'
import type { Instruction } from './invocations.ts'

export interface Order {
  /** Null where it is minted. */
  from: string | null
  /** Null where it is burnt. */
  to: string | null
  /** Null for lamports. */
  mint: string | null
  amount: bigint
}

export interface Orders {
  /** Out of the wallet, its token accounts at any time of the transaction, and mints that it may print. */
  sent: Order[]
  /** Everything, whoever orders it; by these alone tokens move, and lamports leave wallets and token accounts. */
  moved: Order[]
  closed: { address: string; to: string }[]
  /** Accounts that are derived from the wallet by seed and handed to a program. */
  assigned: { address: string; to: string | null }[]
  unread: { where: string; reason: string }[]
}

/** Their effects are all seen in the accounts afterwards. */
const QUIET_SYSTEM = new Set([
  'assign',
  'advanceNonce',
  'initializeNonce',
  'authorizeNonce',
  'allocate',
  'upgradeNonce',
])
const QUIET_TOKEN = new Set([
  ...['initializeAccount', 'initializeAccount2', 'initializeAccount3', 'initializeImmutableOwner'],
  ...['approve', 'approveChecked', 'revoke', 'setAuthority', 'freezeAccount', 'thawAccount'],
  ...['syncNative', 'getAccountDataSize'],
])

/**
 * Lamports of a wallet and tokens leave by the System program and the token programs alone, so that this list is whole.
 * What those are told in a way that is not known here is `unread`. The instructions come in the order of execution.
 */
export function ordersOf(wallet: string, instructions: readonly Instruction[], holdings: Holdings): Orders {
  const orders: Orders = { sent: [], moved: [], closed: [], assigned: [], unread: [] }
  const reading: Reading = { wallet, holdings, orders, lamports: new Map() }
  for (const instruction of instructions) {
    const isKnown =
      instruction.program === SYSTEM_PROGRAM
        ? readSystem(instruction, reading)
        : !isTokenProgram(instruction.program) || readToken(instruction, reading)
    if (isKnown) continue
    const what = instruction.type === null ? 'an instruction' : `the instruction ${instruction.type}`
    const reason = `${what} of ${instruction.program} with accounts of the wallet, which is not known here`
    orders.unread.push({ where: instruction.where, reason })
  }
  return orders
}

interface Reading {
  wallet: string
  holdings: Holdings
  orders: Orders
  /** What the accounts hold by now, of those that took part: closing one does not say how much it gives. */
  lamports: Map<string, bigint>
}

/** False where it is not understood and may be the wallet's. */
function readSystem({ type, info, accounts }: Instruction, reading: Reading): boolean {
  const { wallet, orders } = reading
  const lamports = (from: unknown, to: unknown, isOwn: boolean) => move(reading, from, to, null, info.lamports, isOwn)
  switch (type) {
    case 'transfer':
      return lamports(info.source, info.destination, info.source === wallet)
    case 'createAccount':
    case 'createAccountWithSeed':
      return lamports(info.source, info.newAccount, info.source === wallet)
    case 'withdrawFromNonce': {
      const isOwn = info.nonceAuthority === wallet
      if (isOwn) orders.closed.push({ address: String(info.nonceAccount), to: String(info.destination) })
      return lamports(info.nonceAccount, info.destination, isOwn)
    }
    case 'transferWithSeed':
      return lamports(info.source, info.destination, info.sourceBase === wallet)
    case 'allocateWithSeed':
    case 'assignWithSeed':
      if (info.base === wallet) orders.assigned.push({ address: String(info.account), to: String(info.owner) })
      return true
    default:
      return type === null || !QUIET_SYSTEM.has(type) ? !accounts.includes(wallet) : true
  }
}

function readToken({ type, info, accounts }: Instruction, reading: Reading): boolean {
  const { wallet, holdings, orders } = reading
  const isOwn = (address: unknown) => holdings.get(String(address))?.isOwnToken ?? false
  const amount = info.amount ?? (info.tokenAmount as { amount?: unknown } | undefined)?.amount
  switch (type) {
    case 'transfer':
    case 'transferChecked':
    case 'transferCheckedWithFee': {
      const mints = mintsOf(info, holdings)
      const own = isOwn(info.source)
      if (mints.length === 0) return !own && info.authority !== wallet
      return mints.every((mint) => move(reading, info.source, info.destination, mint, amount, own))
    }
    case 'burn':
    case 'burnChecked':
      return move(reading, info.account, null, String(info.mint), amount, isOwn(info.account))
    case 'mintTo':
    case 'mintToChecked':
      return move(reading, null, info.account, String(info.mint), amount, mayPrint(wallet, info, holdings))
    case 'closeAccount': {
      const [address, to] = [String(info.account), String(info.destination)]
      orders.closed.push({ address, to })
      return move(reading, address, to, null, lamportsIn(reading, address), isOwn(address))
    }
    case 'batch':
      return !accounts.includes(wallet) && !accounts.some(isOwn)
    default:
      return (type !== null && QUIET_TOKEN.has(type)) || !accounts.some(isOwn)
  }
}

/** Both accounts of a transfer are of its mint; all that it may be of where an account is opened for one after another. */
function mintsOf({ mint, source, destination }: Instruction['info'], holdings: Holdings): string[] {
  if (typeof mint === 'string') return [mint]
  const [from, to] = [source, destination].map((address) => [...(holdings.get(String(address))?.mints ?? [])])
  const shared = from!.filter((each) => to!.includes(each))
  return shared.length > 0 ? shared : [...from!, ...to!]
}

/** What a mint of the same transaction prints has no worth yet. */
function mayPrint(wallet: string, info: Instruction['info'], holdings: Holdings): boolean {
  // An inner instruction is as the node shows it, which has a name of its own for who may print.
  const { mint, signers, authority = info.mintAuthority } = info
  if (holdings.get(String(mint))?.before.account === null) return false
  return authority === wallet || (Array.isArray(signers) && signers.includes(wallet))
}

const lamportsIn = ({ lamports, holdings }: Reading, address: string): bigint =>
  lamports.get(address) ?? holdings.get(address)?.before.account?.lamports ?? 0n

/** False where the amount cannot be told and is the wallet's. */
function move(reading: Reading, from: unknown, to: unknown, mint: string | null, amount: unknown, isOwn: boolean) {
  const digits = typeof amount === 'number' && !Number.isSafeInteger(amount) ? '' : String(amount)
  const isAddress = (key: unknown) => key === null || typeof key === 'string'
  if (!/^\d+$/.test(digits) || !isAddress(from) || !isAddress(to)) return !isOwn
  const order = { from, to, mint, amount: BigInt(digits) } as Order
  // To itself nothing moves: a claim asks in this way whether the amount is there.
  if (order.from === order.to) return true
  reading.orders.moved.push(order)
  if (isOwn) reading.orders.sent.push(order)
  if (mint !== null && mint !== WRAPPED_SOL) return true
  for (const [address, change] of [[order.from, -order.amount] as const, [order.to, order.amount] as const]) {
    if (address === null) continue
    const left = lamportsIn(reading, address) + change
    reading.lamports.set(address, left > 0n ? left : 0n)
  }
  return true
}
