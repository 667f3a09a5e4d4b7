/** Computes the movement of a transaction out of a wallet from its simulation. */
import type { ChainAccount } from '../../solana/accounts.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { guardMemory, guardsOfMessage } from '../../solana/guards.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import type { RentRate } from '../../solana/rent.ts'
import { EXTENSIONS_OFFSET } from '../../solana/token-accounts.ts'
import type { HolderPower } from '../../solana/token-authorities.ts'
import { changedSettings, readMintExtensions } from '../../solana/token-extensions.ts'
import { accountOpenings } from './account-openings.ts'
import { balanceFlows } from './balance-flows.ts'
import { accountClosings, authorityChanges, delegations } from './control-changes.ts'
import {
  type ExecutedInstruction,
  inExecutionOrder,
  innerInstructions,
  messageInstructions,
} from './executed-instructions.ts'
import { type AssetRelease, withoutReleased } from './freeze-release.ts'
import { neededGuards } from './guards.ts'
import { type InstructedTransfer, type InstructionEffects, instructionEffects } from './instruction-effects.ts'
import type { InvokedProgram, Movement, PowerUse, SimulationFailure, UnreadPart } from './movement.ts'
import { nonceAuthority, type TouchedAccount, type TouchedAccounts, touchedAccounts } from './touched-accounts.ts'

/** A simulation of exactly this message, whether it succeeded or failed. */
export interface SimulatedMessage {
  wallet: string
  message: DecodedMessage
  /** The message's own keys and the addresses loaded from lookup tables, in the order of instruction indexes. */
  keys: readonly string[]
  slot: number
  /** Lamports that the wallet pays as fee, or 0 when another account pays. */
  fee: bigint
  /** Whether the accounts were the same before and after the simulation. */
  stable: boolean
}

/** The accounts that the message may write to, as a successful simulation shows them. */
interface SimulatedEffects {
  addresses: readonly string[]
  /** Accounts in the order of `addresses`, with null for an address without an account. */
  before: readonly (ChainAccount | null)[]
  after: readonly (ChainAccount | null)[]
  /** Inner instructions in the form that the node returns. */
  inner: unknown
  /**
   * The asset of Metaplex Core that the transaction may release, if any. The loss of its freeze authority is then
   * permitted.
   */
  release: AssetRelease | null
  /** The cluster's rent. */
  minimumOf: RentRate
}

/** Returns the movement of a simulation that succeeded. */
export function movementOf(simulated: SimulatedMessage, effects: SimulatedEffects): Movement {
  const { wallet, message, fee, stable } = simulated
  const own = messageInstructions(message, simulated.keys)
  const inner = innerInstructions(effects.inner)
  const all = [...own, ...(inner ?? [])]
  const { addresses, before, after, release, minimumOf } = effects
  const payer = feePayerOf(message)
  const rentOfGuards = guardMemory(payer).address
  const memory = payer === wallet ? rentOfGuards : undefined
  const touched = touchedAccounts(wallet, addresses, before, after, accountOpenings(all), { minimumOf, memory })
  const accounts = release === null ? touched : withoutReleased(wallet, release, message, touched)
  const instructed = instructionEffects(wallet, inExecutionOrder(own, inner ?? []), accounts)
  // What another payer lends to its own guards comes back to that payer.
  const isLent = ({ from, to }: InstructedTransfer) => payer !== wallet && from === payer && to === rentOfGuards
  const transfers = instructed.transfers.filter((transfer) => !isLent(transfer))
  const flows = balanceFlows(wallet, accounts, { ...instructed, transfers }, fee)
  const unread = [
    ...(inner === null ? [{ where: 'the RPC node', reason: 'does not show inner instructions' }] : []),
    ...instructed.unread,
    ...confidentialBalances(wallet, accounts),
    ...foreignNonce(message, wallet, accounts),
  ]
  return {
    ...commonOf(simulated),
    err: null,
    logs: [],
    stable: stable && unread.length === 0,
    unread,
    programs: invokedPrograms(all, wallet),
    ...flows,
    authority_changes: authorityChanges(wallet, accounts, instructed),
    delegates: delegations(wallet, accounts),
    powers: powerUses(wallet, accounts, instructed),
    closes: accountClosings(wallet, accounts, instructed, flows.destinations),
    guards: {
      needed: neededGuards(wallet, accounts, instructed, { fee, memory }),
      held: [...guardsOfMessage(message, simulated.keys).guards],
    },
  }
}

/** Returns the movement of a simulation that failed. No policy permits it. */
export function failedMovement(simulated: SimulatedMessage, err: SimulationFailure, logs: string[]): Movement {
  const { wallet, message, keys, stable } = simulated
  const programs = invokedPrograms(messageInstructions(message, keys), wallet)
  return { ...commonOf(simulated), ...NO_MOVEMENT, err, logs, stable, programs }
}

const NO_MOVEMENT = {
  unread: [],
  lamports_out: 0n,
  lamports_to_others: 0n,
  tokens_out: [],
  tokens_to_others: [],
  destinations: [],
  authority_changes: [],
  delegates: [],
  powers: [],
  closes: [],
  guards: { needed: [], held: [] },
} satisfies Partial<Movement>

/** Returns the first key of a message, which pays its fee. Throws without keys, but every decoded message has one. */
export function feePayerOf({ keys: [feePayer] }: DecodedMessage): string {
  if (feePayer === undefined) throw new Error('a message without keys has no fee payer')
  return feePayer
}

const commonOf = ({ wallet, slot, message, fee }: SimulatedMessage) => ({
  wallet,
  slot,
  signers: message.keys.slice(0, message.signers),
  fee_payer: feePayerOf(message),
  fee,
})

const invokedPrograms = (instructions: readonly ExecutedInstruction[], wallet: string): InvokedProgram[] =>
  instructions.map(({ program, depth, where, accounts, call }) => ({
    program,
    depth,
    where,
    call,
    first: accounts[0] ?? null,
    wallet: accounts.includes(wallet),
  }))

// Finds what a transaction does to the holders of a mint that exists: accounts frozen, transfers paused, fees
// changed.

const CHANGES: Readonly<Record<HolderPower, string>> = {
  freeze: 'new token accounts would start frozen',
  pause: 'every transfer would be paused',
  transfer_fee_config: 'the transfer fee would change',
  interest_rate: 'the interest rate that wallets show would change',
  scaled_amount: 'the multiplier that wallets show would change',
  transfer_hook: 'the program that every transfer calls would change',
  close: 'the mint would be closed',
}

/** Whose authority it is does not count: no transaction of the wallet does this unless the policy names it. */
function powerUses(wallet: string, accounts: TouchedAccounts, { frozen }: InstructionEffects): PowerUse[] {
  return [...accounts.values()].flatMap((touched) => [...mintUses(touched), ...freezing(wallet, touched, frozen)])
}

/** A mint that the transaction creates has no holders yet. */
function mintUses({ address: mint, before, after }: TouchedAccount): PowerUse[] {
  if (before.account === null || before.mint === null) return []
  if (after.account === null) return [{ mint, power: 'close', account: mint, what: CHANGES.close }]
  const { isPaused, isFrozenByDefault } = readMintExtensions(after.account.data)
  // To resume a token, or to let new accounts start thawed, takes nothing from anybody.
  const isRelief = (power: HolderPower | null) =>
    (power === 'pause' && isPaused === false) || (power === 'freeze' && !isFrozenByDefault)
  return changedSettings(before.account.data, after.account.data)
    .filter(({ power }) => !isRelief(power))
    .map(({ power, type }) => ({
      mint,
      power,
      account: mint,
      what: power === null ? `the settings of extension ${type} would change` : CHANGES[power],
    }))
}

/** An account that is opened here may start frozen, which is not an act of this transaction. */
function freezing(wallet: string, { address, before, after }: TouchedAccount, frozen: readonly string[]): PowerUse[] {
  const { token } = after
  if (token === null || token.state !== 'frozen' || token.owner === wallet) return []
  const isAct = before.token === null ? frozen.includes(address) : before.token.state !== 'frozen'
  if (!isAct) return []
  const what = `the token account ${address} of ${token.owner} would be frozen`
  return [{ mint: token.mint, power: 'freeze', account: address, what }]
}

// Finds reasons why a movement is uncertain: encrypted balances, and nonces of others that keep a transaction valid.

/** Token-2022's extension ConfidentialTransferAccount (spl-token-2022, `ExtensionType`). */
const CONFIDENTIAL_TRANSFER = 5

/** Balances of a confidential transfer are encrypted, so the amount that leaves is unknown. */
function confidentialBalances(wallet: string, accounts: TouchedAccounts): UnreadPart[] {
  return [...accounts.values()].flatMap(({ address, before, after, isOwnToken }) => {
    if (!isOwnToken || address === wallet) return []
    const [old, now] = [before.account?.data, after.account?.data]
    if (old !== undefined && now !== undefined && Buffer.from(old).equals(now)) return []
    const isHidden = [old, now].some((data) => data !== undefined && hasExtension(data, CONFIDENTIAL_TRANSFER))
    return isHidden ? [{ where: address, reason: 'has a confidential balance, which cannot be read' }] : []
  })
}

/** Data whose extensions cannot be read to the end counts as having the extension. */
function hasExtension(data: Uint8Array, type: number): boolean {
  if (data.length < EXTENSIONS_OFFSET) return false
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let at = EXTENSIONS_OFFSET
  while (at + 4 <= data.length) {
    const current = view.getUint16(at, true)
    if (current === 0) return false
    if (current === type) return true
    at += 4 + view.getUint16(at + 2, true)
  }
  return at > data.length
}

/** With another's durable nonce, the signature would remain valid until that authority advances the nonce. */
function foreignNonce(message: DecodedMessage, wallet: string, accounts: TouchedAccounts): UnreadPart[] {
  const { nonceAccount } = lifetimeOf(message)
  if (nonceAccount === null) return []
  const authority = nonceAuthority(accounts.get(nonceAccount)?.before.account ?? null)
  if (authority === wallet) return []
  const reason = `a durable nonce of ${authority ?? 'somebody'} keeps the transaction from expiring`
  return [{ where: nonceAccount, reason }]
}
