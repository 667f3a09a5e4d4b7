/** What instructions send out of a wallet's accounts, whatever comes back in the same transaction. */
import { SYSTEM_PROGRAM } from '../localnet/addresses.ts'
import { type Holdings, isTokenProgram } from './holdings.ts'
import type { Instruction } from './invocations.ts'

export interface Order {
  from: string
  /** Null where it is burnt. */
  to: string | null
  /** Null for lamports. */
  mint: string | null
  amount: bigint
}

export interface Orders {
  sent: Order[]
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
  ...['approve', 'approveChecked', 'revoke', 'setAuthority', 'mintTo', 'mintToChecked', 'freezeAccount', 'thawAccount'],
  ...['syncNative', 'getAccountDataSize'],
])

/**
 * Lamports of a wallet and tokens leave by the System program and the token programs alone, so that this list is whole.
 * What those are told in a way that is not known here is `unread`.
 */
export function ordersOf(wallet: string, instructions: readonly Instruction[], holdings: Holdings): Orders {
  const orders: Orders = { sent: [], closed: [], assigned: [], unread: [] }
  for (const instruction of instructions) {
    const isKnown =
      instruction.program === SYSTEM_PROGRAM
        ? readSystem(wallet, instruction, orders)
        : !isTokenProgram(instruction.program) || readToken(instruction, holdings, orders)
    if (isKnown) continue
    const what = instruction.type === null ? 'an instruction' : `the instruction ${instruction.type}`
    const reason = `${what} of ${instruction.program} with accounts of the wallet, which is not known here`
    orders.unread.push({ where: instruction.where, reason })
  }
  return orders
}

function readSystem(wallet: string, { type, info, accounts }: Instruction, orders: Orders): boolean {
  const lamports = (from: unknown, to: unknown) => send(orders, from, to, null, info.lamports)
  switch (type) {
    case 'transfer':
      return info.source !== wallet || lamports(wallet, info.destination)
    case 'createAccount':
    case 'createAccountWithSeed':
      return info.source !== wallet || lamports(wallet, info.newAccount)
    case 'withdrawFromNonce':
      if (info.nonceAuthority !== wallet) return true
      orders.closed.push({ address: String(info.nonceAccount), to: String(info.destination) })
      return lamports(info.nonceAccount, info.destination)
    case 'transferWithSeed':
      return info.sourceBase !== wallet || lamports(info.source, info.destination)
    case 'allocateWithSeed':
    case 'assignWithSeed':
      if (info.base === wallet) orders.assigned.push({ address: String(info.account), to: String(info.owner) })
      return true
    default:
      return type === null || !QUIET_SYSTEM.has(type) ? !accounts.includes(wallet) : true
  }
}

function readToken({ type, info, accounts }: Instruction, holdings: Holdings, orders: Orders): boolean {
  const isOwn = (address: unknown) => holdings.get(String(address))?.isOwnToken ?? false
  const amount = info.amount ?? (info.tokenAmount as { amount?: unknown } | undefined)?.amount
  const tokens = (from: unknown, to: unknown) => {
    const holding = holdings.get(String(from))
    const mint = holding?.before.token?.mint ?? holding?.after.token?.mint ?? null
    return !isOwn(from) || (mint !== null && send(orders, from, to, mint, amount))
  }
  switch (type) {
    case 'transfer':
    case 'transferChecked':
    case 'transferCheckedWithFee':
      return tokens(info.source, info.destination)
    case 'burn':
    case 'burnChecked':
      return tokens(info.account, null)
    case 'closeAccount':
      orders.closed.push({ address: String(info.account), to: String(info.destination) })
      return true
    default:
      return (type !== null && QUIET_TOKEN.has(type)) || !accounts.some(isOwn)
  }
}

function send({ sent }: Orders, from: unknown, to: unknown, mint: string | null, amount: unknown): boolean {
  const digits = typeof amount === 'number' && !Number.isSafeInteger(amount) ? '' : String(amount)
  if (!/^\d+$/.test(digits) || typeof from !== 'string' || (to !== null && typeof to !== 'string')) return false
  sent.push({ from, to, mint, amount: BigInt(digits) })
  return true
}
