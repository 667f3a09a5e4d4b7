/** Computes what instructions move, and what they take out of a wallet's accounts even if it returns in the same transaction. */
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../solana/program-ids.ts'
import { isTokenProgram } from '../../solana/token-programs.ts'
import type { ExecutedInstruction } from './executed-instructions.ts'
import type { UnreadPart } from './movement.ts'
import type { TouchedAccounts } from './touched-accounts.ts'

export interface InstructedTransfer {
  /** Source account, or null for a mint. */
  from: string | null
  /** Receiving account, or null for a burn. */
  to: string | null
  /** Mint of the tokens, or null for lamports. */
  mint: string | null
  amount: bigint
}

export interface InstructionEffects {
  /**
   * Transfers out of the wallet and its token accounts at any time of the transaction, and transfers, burns and mints
   * under its authority.
   */
  outgoing: InstructedTransfer[]
  /** All transfers, whoever authorizes them. Only these move tokens, and lamports out of wallets and token accounts. */
  transfers: InstructedTransfer[]
  closed: { address: string; to: string }[]
  /** Accounts that are derived from the wallet by seed and assigned to a program. */
  assigned: { address: string; to: string | null }[]
  /** Token accounts that an instruction freezes. */
  frozen: string[]
  unread: UnreadPart[]
}

/** Instructions whose effects are visible in the accounts afterwards. */
const VISIBLE_SYSTEM = new Set([
  'assign',
  'advanceNonce',
  'initializeNonce',
  'authorizeNonce',
  'allocate',
  'upgradeNonce',
])
const VISIBLE_TOKEN = new Set([
  ...['initializeAccount', 'initializeAccount2', 'initializeAccount3', 'initializeImmutableOwner'],
  ...['approve', 'approveChecked', 'revoke', 'setAuthority', 'thawAccount'],
  ...['syncNative', 'getAccountDataSize', 'harvestWithheldTokensToMint'],
])

/**
 * Only the System program and the token programs move tokens and lamports out of wallets, so this list is complete.
 * One of their instructions that is not listed here is `unread`. The instructions are in the order of execution.
 */
export function instructionEffects(
  wallet: string,
  instructions: readonly ExecutedInstruction[],
  accounts: TouchedAccounts,
): InstructionEffects {
  const effects: InstructionEffects = {
    outgoing: [],
    transfers: [],
    closed: [],
    assigned: [],
    frozen: [],
    unread: [],
  }
  const state: EffectsState = { wallet, accounts, effects, lamports: new Map() }
  for (const instruction of instructions) {
    const isKnown =
      instruction.program === SYSTEM_PROGRAM
        ? systemEffect(instruction, state)
        : !isTokenProgram(instruction.program) || tokenEffect(instruction, state)
    if (isKnown) continue
    const what = instruction.type === null ? 'an instruction' : `the instruction ${instruction.type}`
    const reason = `${what} of ${instruction.program}, which is unknown here and uses accounts of the wallet`
    effects.unread.push({ where: instruction.where, reason })
  }
  return effects
}

interface EffectsState {
  wallet: string
  accounts: TouchedAccounts
  effects: InstructionEffects
  /** Balances of the accounts at this point. They are needed because closing an account does not state the amount. */
  lamports: Map<string, bigint>
}

/** Adds the effect of the instruction. Returns false when it is unknown and may be the wallet's. */
function systemEffect({ type, info, accounts }: ExecutedInstruction, state: EffectsState): boolean {
  const { wallet, effects } = state
  const lamports = (from: unknown, to: unknown, isOwn: boolean) =>
    addTransfer(state, { from, to, mint: null, amount: info.lamports }, isOwn)
  switch (type) {
    case 'transfer':
      return lamports(info.source, info.destination, info.source === wallet)
    case 'createAccount':
    case 'createAccountWithSeed':
      return lamports(info.source, info.newAccount, info.source === wallet)
    case 'withdrawFromNonce': {
      const isOwn = info.nonceAuthority === wallet
      if (isOwn) effects.closed.push({ address: String(info.nonceAccount), to: String(info.destination) })
      return lamports(info.nonceAccount, info.destination, isOwn)
    }
    case 'transferWithSeed':
      return lamports(info.source, info.destination, info.sourceBase === wallet)
    case 'allocateWithSeed':
    case 'assignWithSeed':
      if (info.base === wallet) effects.assigned.push({ address: String(info.account), to: String(info.owner) })
      return true
    default:
      return (type !== null && VISIBLE_SYSTEM.has(type)) || !accounts.includes(wallet)
  }
}

/** Adds the effect of the instruction. Returns false when it is unknown and may be the wallet's. */
function tokenEffect({ type, info, accounts }: ExecutedInstruction, state: EffectsState): boolean {
  const { wallet, effects } = state
  const isOwn = (address: unknown) => state.accounts.get(String(address))?.isOwnToken ?? false
  const amount = info.amount ?? (info.tokenAmount as { amount?: unknown } | undefined)?.amount
  switch (type) {
    case 'transfer':
    case 'transferChecked':
    case 'transferCheckedWithFee': {
      const mints = mintsOf(info, state.accounts)
      // A delegate, also a permanent one, moves what others hold.
      const isOwnSource = isOwn(info.source) || isAuthorizedBy(wallet, info)
      if (mints.length === 0) return !isOwnSource
      const { source: from, destination: to } = info
      return mints.every((mint) => addTransfer(state, { from, to, mint, amount }, isOwnSource))
    }
    case 'burn':
    case 'burnChecked':
      return addTransfer(
        state,
        { from: info.account, to: null, mint: String(info.mint), amount },
        isOwn(info.account) || isAuthorizedBy(wallet, info),
      )
    case 'mintTo':
    case 'mintToChecked': {
      const mayPrint = mayPrintBy(wallet, info, state.accounts)
      return addTransfer(state, { from: null, to: info.account, mint: String(info.mint), amount }, mayPrint)
    }
    case 'closeAccount': {
      const [from, to] = [String(info.account), String(info.destination)]
      effects.closed.push({ address: from, to })
      return addTransfer(state, { from, to, mint: null, amount: lamportsIn(state, from) }, isOwn(from))
    }
    case 'freezeAccount':
      effects.frozen.push(String(info.account))
      return true
    case 'withdrawExcessLamports':
      return excessEffect(info, state, isOwn(info.source))
    case 'withdrawWithheldTokensFromMint':
    case 'withdrawWithheldTokensFromAccounts':
      // What arrives in the wallet's own account leaves nobody of its; the fees of its mint may go nowhere else.
      return isOwn(info.feeRecipient) || !accounts.includes(wallet)
    case 'batch':
      return !accounts.includes(wallet) && !accounts.some(isOwn)
    default:
      return (type !== null && VISIBLE_TOKEN.has(type)) || !accounts.some(isOwn)
  }
}

/**
 * The instruction does not state its amount, which is at most what the account holds. The account counts as full
 * afterwards, so a later closing counts in full too.
 */
function excessEffect(info: ExecutedInstruction['info'], state: EffectsState, isOwnSource: boolean): boolean {
  const { wallet, effects } = state
  const { source: from, destination: to, authority, signers } = info
  const isOwn = isOwnSource || authority === wallet || (Array.isArray(signers) && signers.includes(wallet))
  if (typeof from !== 'string' || typeof to !== 'string') return !isOwn
  if (from === to) return true
  const transfer: InstructedTransfer = { from, to, mint: null, amount: lamportsIn(state, from) }
  effects.transfers.push(transfer)
  if (isOwn) effects.outgoing.push(transfer)
  moveLamports(state, { ...transfer, from: null })
  return true
}

/**
 * Returns the mint of both accounts of a transfer, or every candidate if an account is opened for several mints in
 * turn.
 */
function mintsOf({ mint, source, destination }: ExecutedInstruction['info'], accounts: TouchedAccounts): string[] {
  if (typeof mint === 'string') return [mint]
  const mintsAt = (address: unknown) => [...(accounts.get(String(address))?.mints ?? [])]
  const [from, to] = [mintsAt(source), mintsAt(destination)]
  const shared = from.filter((each) => to.includes(each))
  return shared.length > 0 ? shared : [...from, ...to]
}

const isAuthorizedBy = (wallet: string, { authority, signers }: ExecutedInstruction['info']): boolean =>
  authority === wallet || (Array.isArray(signers) && signers.includes(wallet))

/** Whether the wallet may authorize the mint. Tokens of a mint that this transaction creates have no value yet. */
function mayPrintBy(wallet: string, info: ExecutedInstruction['info'], accounts: TouchedAccounts): boolean {
  // Inner instructions have the node's form, which names the mint authority differently.
  const { mint, authority = info.mintAuthority } = info
  if (accounts.get(String(mint))?.before.account === null) return false
  return isAuthorizedBy(wallet, { ...info, authority })
}

const lamportsIn = ({ lamports, accounts }: EffectsState, address: string): bigint =>
  lamports.get(address) ?? accounts.get(address)?.before.account?.lamports ?? 0n

/** A transfer before its fields are checked. */
interface ShownTransfer {
  from: unknown
  to: unknown
  mint: string | null
  amount: unknown
}

/** Returns false when the transfer cannot be read and is the wallet's. */
function addTransfer(state: EffectsState, { from, to, mint, amount }: ShownTransfer, isOwn: boolean): boolean {
  const digits = typeof amount === 'number' && !Number.isSafeInteger(amount) ? '' : String(amount)
  if (!/^\d+$/.test(digits) || !isAddressOrNull(from) || !isAddressOrNull(to)) return !isOwn
  // A transfer to itself moves nothing. A claim uses it to assert that the amount is available.
  if (from === to) return true
  const transfer: InstructedTransfer = { from, to, mint, amount: BigInt(digits) }
  state.effects.transfers.push(transfer)
  if (isOwn) state.effects.outgoing.push(transfer)
  if (mint === null || mint === WRAPPED_SOL) moveLamports(state, transfer)
  return true
}

const isAddressOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string'

function moveLamports(state: EffectsState, { from, to, amount }: InstructedTransfer): void {
  for (const [address, change] of [[from, -amount] as const, [to, amount] as const]) {
    if (address === null) continue
    const left = lamportsIn(state, address) + change
    state.lamports.set(address, left > 0n ? left : 0n)
  }
}
