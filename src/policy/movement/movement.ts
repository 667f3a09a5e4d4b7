/** The movement of a transaction from the point of view of one wallet. */
import type { Guard } from '../../solana/guards.ts'
import type { HolderPower } from '../../solana/token-authorities.ts'

/** The failure of a simulated transaction: the program that failed, the reason and the remedy. */
export interface SimulationFailure {
  /** Name or address of the program that failed, or null when none ran. */
  program: string | null
  name: string
  message: string
  hint: string | null
}

/** The failure in one line. */
export const failureText = ({ program, name, message, hint }: SimulationFailure): string =>
  `${program === null ? '' : `${program}: `}${name}: ${message}${hint === null ? '' : `; ${hint}`}`

export interface InvokedProgram {
  program: string
  /** Depth of the call: 1 for the message's own instruction, 2 for an instruction that it calls, and so on. */
  depth: number
  /** Position of the instruction, such as `instruction 0` or `instruction 0, inner 2`. */
  where: string
  /**
   * Whether the wallet is among the accounts. Only such an instruction, and those that it calls, can use the
   * signature.
   */
  wallet: boolean
  /** First eight bytes of the data of the message's own instruction, in hex; null for an inner one. */
  call: string | null
  /** First account that the instruction names, such as the multisig of a proposal; null if it names none. */
  first: string | null
}

export interface TokenAmount {
  mint: string
  /** Amount in raw units. */
  amount: bigint
}

/** An account of another owner that gains, by its balance or by an instruction that sends to it. */
export interface Destination {
  address: string
  /** Owner of a token account, or null for any other account. */
  owner: string | null
  /** Mint of the tokens, or null for lamports. */
  mint: string | null
  /** Amount in lamports or raw units. */
  amount: bigint
  /** Program that owns the account. */
  program: string
  /** Other addresses that could take from a token account: its close authority and its delegate. */
  others: string[]
  created: boolean
  /** Rent minimum of the account in lamports, which nobody receives. */
  minimum: bigint
}

export interface AuthorityChange {
  address: string
  /** The authority that the wallet loses, for example `token account owner`. */
  what: string
  /** The address that has the authority afterwards, or null when no one has it or it is unknown. */
  to: string | null
}

export interface Delegation {
  address: string
  kind: 'token account' | 'position' | 'core asset' | 'core collection' | 'metadata record'
  /** Address of the delegate, or null when the account does not name it. */
  delegate: string | null
  /** Raw units that the delegate may take, or null if it is not a token account. */
  amount: bigint | null
}

/** What the transaction does to holders of a mint with the power of one of its authorities. */
export interface PowerUse {
  mint: string
  /** The authority, or null if the changed extension is not known here. */
  power: HolderPower | null
  /** The frozen token account, or the mint itself. */
  account: string
  /** The effect as a clause, such as `every transfer would be paused`. */
  what: string
}

export interface AccountClosing {
  address: string
  what: string
  /** Lamports that the account held. */
  lamports: bigint
  /** Addresses that receive the lamports. */
  to: string[]
}

/** A part of the transaction whose effect cannot be determined. */
export interface UnreadPart {
  /** Position of the instruction, or address of the account. */
  where: string
  reason: string
}

export interface Movement {
  wallet: string
  slot: number
  /** The failure of the simulation. If set, only the programs of the message are known among the fields below. */
  err: SimulationFailure | null
  /** The log of a simulation that failed, else empty. */
  logs: string[]
  /** False when the accounts kept changing or an effect is undetermined; `unread` lists such parts. */
  stable: boolean
  unread: UnreadPart[]
  /** Every account that must sign, with the fee payer first. */
  signers: string[]
  fee_payer: string
  /** Fee in lamports with the priority fee, or 0 when another account pays. */
  fee: bigint
  programs: InvokedProgram[]
  /**
   * The larger of two amounts: the balance loss of the wallet and its wrapped SOL with rent and fee, and the sum that
   * instructions send out of them. A gain in the same transaction may shrink before it lands.
   */
  lamports_out: bigint
  /**
   * What others' wallets and token accounts gain, no matter who pays: the wallet also signs claims of fees and vesting.
   * The larger of the balance gain and the sum that instructions move there. Tokens into vaults of pools count too.
   */
  lamports_to_others: bigint
  /**
   * The larger of the net loss and the sum that instructions send out, by mint. Wrapped SOL counts as lamports. Tokens
   * that the wallet mints for others count as sent.
   */
  tokens_out: TokenAmount[]
  /** Like `lamports_to_others`, without transfers between vaults and without mints that the transaction creates. */
  tokens_to_others: TokenAmount[]
  destinations: Destination[]
  authority_changes: AuthorityChange[]
  delegates: Delegation[]
  powers: PowerUse[]
  closes: AccountClosing[]
  guards: GuardState
}

export interface GuardState {
  /** What the chain has to hold so that no more than this movement can land. */
  needed: Guard[]
  /** The guards in the transaction itself. */
  held: Guard[]
}
