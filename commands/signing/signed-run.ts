/** What a command hands over to be signed, by the keypair, the platform wallet or a vault. */

import type { Transaction } from '../../src/api/transactions.ts'
import type { FieldUnits } from '../cli/amounts.ts'
import type { BuiltTransactions } from './built-transactions.ts'
import type { OpenedAccounts } from './cost-parts.ts'
import type { Demand, Signing } from './demand.ts'
import type { SigningFlags } from './flags.ts'
import type { PlatformRequest } from './platform-wallet.ts'
import type { SentRun } from './sending.ts'

export interface SignedRun<D extends BuiltTransactions> {
  /** What the run does, for a question: `Create the token MTK`. */
  what: string | ((data: D) => string)
  build(payer: string): Promise<{ data: D }>
  /** What the transactions must be (`demanding`); anything else is refused before the user is asked. */
  demand(of: Signing, data: D): Promise<Demand>
  /** Secret keys of the answer that also sign; each signs the transactions that name it as a signer. */
  secretKeys?(data: D): readonly (readonly number[])[]
  /** Lines shown before the changes, such as a quote or the recipients. */
  preview?(data: D): readonly string[]
  /** Names the accounts that the transaction opens, so that each part of its cost is shown. */
  opened?(data: D): OpenedAccounts
  /** The first fields of the answer; `confirmed` is null if nothing was sent or the command did not wait. */
  show?(data: D, confirmed: readonly Transaction[] | null): Promise<Record<string, unknown>> | Record<string, unknown>
  /** The decimals of fields of `show` in raw units, which a terminal shows as whole tokens and SOL. */
  decimals?(data: D): FieldUnits
  /** What the user can do if only some of several transactions are known to be confirmed. */
  recovery?(data: D): string
  /** The same request with `mode: signed`; only commands with the flag --signed have it. */
  platform?(payer: string): PlatformRequest
  /** Transactions that a later run sends once these are confirmed; the total has them too. */
  follows?(data: D): readonly string[]
  /** Commands that people run next, from the fields of the answer, for a note after a success. */
  next?(fields: Record<string, unknown>): readonly string[]
  /** What the accounts of this build are, by address, for the changes of a preview. */
  names?(data: D): Readonly<Record<string, string>>
  /** Shows the cluster's consensus, and the total even of one transaction; that of several is always shown. */
  showsTotal?: boolean
  /** Signs and sends in another way, for a command that can continue after an interruption. */
  send?(agreed: AgreedBuild<D>): Promise<SentRun>
}

/** What the user has agreed to; nothing of it is signed with the keypair yet. */
export interface AgreedBuild<D> {
  data: D
  /** As the API built it, without the signatures of any key; has a fresh blockhash if a person was asked. */
  unsigned: D
  /** The same with the signatures of `secretKeys`. */
  built: BuiltTransactions & { transactions: readonly string[] }
  demand: Demand
  bundle: boolean
}

export type RunFlags = SigningFlags & {
  creator?: string | undefined
  authority?: string | undefined
  bundle?: boolean
  signed?: boolean
  idempotency_key?: string | undefined
}
