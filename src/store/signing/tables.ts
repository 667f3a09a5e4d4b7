/** Tables of the platform wallet: policies, signings and spending. */
import type { Generated } from 'kysely'

/** Policy and state of each signing key. */
interface SignerPoliciesTable {
  /** Address of the signing key. */
  signer: string
  paused: number
  paused_reason: string | null
  /** Policy as JSON, in which amounts are digit strings. */
  policy_json: string
  /** Time of the last reset of the daily spending; 0 before the first. */
  spend_since: number
  /** `seq` of the last spend before the reset; it and earlier spends do not count. */
  spend_mark: number
  updated_at: number
}

/** Messages that the platform's key signs or has signed; each row is stored before the provider is called. */
interface SigningsTable {
  seq: Generated<number>
  id: string
  signer: string
  /** Operation that requested the signature, for example `signer.test`. */
  operation: string
  /** Wire format with every signature except the platform's. */
  transaction: Buffer
  /**
   * SHA-256 of the message in hex. Two requests never sign the same message, because one payment would count for both.
   */
  message_sha256: string
  /** Sealed response and next steps of the request; present only in its first signing. */
  plan: Buffer | null
  genesis: string
  since_slot: number | null
  /**
   * `waiting` for approvals: nothing is counted or signed. `intended` until the signature is stored. `abandoned`: the provider certainly created no signature, so its spend is
   * deleted (`abandonSigning`); or its blockhash has expired, and a signature that was never sent may exist
   * (`supersedeSigning`). Then the spend counts until it is a day old.
   */
  state: 'waiting' | 'intended' | 'signed' | 'abandoned'
  signature: string | null
  created_at: number
}

/** Amount of a signing that counts against the daily limit; deleted if certainly nothing was signed. */
interface SignerSpendsTable {
  seq: Generated<number>
  signing_id: string
  signer: string
  /** Mint of the token; empty for lamports. */
  mint: string
  /** Raw amount as decimal digits. */
  amount: string
  at: number
}

export interface SigningTables {
  signer_policies: SignerPoliciesTable
  signings: SigningsTable
  signer_spends: SignerSpendsTable
}
