/** What a transaction would really move, as one wallet sees it. */

/** The failure of a simulated transaction, explained: which program failed, how, and what to do about it. */
export interface SimulationFailure {
  /** Name of the program that failed, or its address; null where none ran. */
  program: string | null
  name: string
  message: string
  hint: string | null
}

export interface InvokedProgram {
  program: string
  /** 1 is the message's own instruction, 2 what that one calls, and so on. */
  depth: number
  /** `instruction 0`, `instruction 0, inner 2`. */
  where: string
  /** Whether the wallet is among its accounts: only such an instruction, and what it calls, can use the signature. */
  wallet: boolean
}

export interface TokenAmount {
  mint: string
  /** Raw units. */
  amount: bigint
}

/** An account that is not the wallet's and gains, by its balance or by an instruction that sends to it. */
export interface Destination {
  address: string
  /** Owner of a token account; null for any other. */
  owner: string | null
  /** Null for lamports. */
  mint: string | null
  /** Lamports or raw units. */
  amount: bigint
  /** Program that owns the account. */
  program: string
  /** Who else could take from a token account: its close authority and its delegate. */
  others: string[]
  created: boolean
  /** Bytes of its data. */
  space: number
}

export interface AuthorityChange {
  address: string
  /** What of the account the wallet loses, for example `token account owner`. */
  what: string
  /** Who has it afterwards; null where nobody has, or it cannot be told. */
  to: string | null
}

export interface Delegation {
  address: string
  kind: 'token account' | 'core asset' | 'core collection' | 'metadata record'
  /** Null where the account does not tell. */
  delegate: string | null
  /** Raw units that the delegate may take; null for what is no token account. */
  amount: bigint | null
}

export interface AccountClosing {
  address: string
  what: string
  /** Lamports that it held. */
  lamports: bigint
  /** Who gets them. */
  to: string[]
}

/** A part of the transaction whose effect cannot be told. */
export interface UnreadPart {
  /** An instruction or an account. */
  where: string
  reason: string
}

export interface Movement {
  wallet: string
  slot: number
  /** Why the simulation failed: nothing below but the programs of the message is known then. */
  err: SimulationFailure | null
  /** The log of a simulation that failed; empty otherwise. */
  logs: string[]
  /** False where the accounts kept changing, or something of the transaction cannot be told: then see `unread`. */
  stable: boolean
  unread: UnreadPart[]
  /** Every account that must sign, the fee payer first. */
  signers: string[]
  fee_payer: string
  /** Lamports, priority fee included; 0 where another pays. */
  fee: bigint
  programs: InvokedProgram[]
  /**
   * The larger of what the wallet and its wrapped SOL lose on balance, rent and fee included, and of what instructions
   * send out of them: a gain within the same transaction may shrink until it lands.
   */
  lamports_out: bigint
  /**
   * What wallets and token accounts of others gain, whoever pays: fees and vesting are claimed by the wallet's authority.
   * The larger of the balance and of what instructions move there; tokens that come into vaults of the pools count too.
   */
  lamports_to_others: bigint
  /**
   * The larger of net loss and of what instructions send out, by mint; wrapped SOL counts as lamports. What the wallet
   * has a mint print for others is sent out too.
   */
  tokens_out: TokenAmount[]
  /** Like `lamports_to_others`; what goes from vault to vault and mints that the transaction creates are left out. */
  tokens_to_others: TokenAmount[]
  destinations: Destination[]
  authority_changes: AuthorityChange[]
  delegates: Delegation[]
  closes: AccountClosing[]
}
