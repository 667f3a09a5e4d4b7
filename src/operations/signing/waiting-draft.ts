/** What a signing keeps while it waits for approvals: the draft with its generated keys, and what people approve. */
import { hash } from 'node:crypto'
import { withBlockhash } from '../../chain/sending/cosign.ts'
import { approvedMovement } from '../../policy/approved-movement.ts'
import { guardedExtent, type Slack } from '../../policy/movement/guards.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import type { Refusal } from '../../policy/rules/check-policy.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import type { SigningDraft, WaitingDraft } from './types.ts'

/** A first transaction that needs approvals. */
export interface MustWait {
  draft: SigningDraft
  movement: Movement
  /** The rules that would refuse it without approvals. */
  refusals: readonly [Refusal, ...Refusal[]]
  genesis: string
  /** Seconds that the people have. */
  expiresIn: number
}

/** The blockhash of 32 zero bytes. */
const ZERO_BLOCKHASH = '11111111111111111111111111111111'

/** Returns the transaction, unsigned, with a zero blockhash: what people approve does not depend on the time. */
export const timeless = (transaction: Uint8Array): Buffer => Buffer.from(withBlockhash(transaction, ZERO_BLOCKHASH))

/** SHA-256 in hex of the message with a zero blockhash. */
export const timelessSha256 = (transaction: Uint8Array): string =>
  hash('sha256', decodeWireTransaction(timeless(transaction)).messageBytes, 'hex')

export const waitingDraft = (
  { transaction, secretKeys = [], cosigners = [], uncapped = [], slack = [] }: SigningDraft,
  movement: Movement,
): WaitingDraft => ({
  transaction: Buffer.from(transaction).toString('base64'),
  keys: secretKeys.map((key) => Buffer.from(key).toString('base64')),
  cosigners: [...cosigners],
  uncapped: [...uncapped],
  ...(slack.length === 0 ? {} : { slack: slack.map((each) => ({ ...each, amount: String(each.amount) })) }),
  approved: approvedMovement(movement),
  guarded: guardedExtent(movement),
})

export const draftKeys = ({ keys }: WaitingDraft): Uint8Array[] => keys.map((key) => Buffer.from(key, 'base64'))

export const draftSlack = ({ slack = [] }: WaitingDraft): Slack[] =>
  slack.map((each) => ({ ...each, amount: BigInt(each.amount) }))
