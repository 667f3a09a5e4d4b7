/**
 * Runs transactions that the platform wallet signs: the user confirms, it signs under an idempotency key, and svc
 * follows.
 */

import type { Transaction } from '../../src/api/transactions.ts'
import type { FieldUnits } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { failure, usage } from '../ui/problem.ts'
import { confirmOn } from './confirm.ts'
import type { Wait } from './flags.ts'
import { waitForTransaction } from './following.ts'
import { requestPlatformSignature } from './requests.ts'
import { transactionFailure } from './run-failures.ts'
import { sentOutcome } from './run-outcomes.ts'
import { type SigningWalletFlags, signingWallet } from './signing-wallet.ts'

/** One signature, or those of several transactions in the order of sending. */
type PlatformAnswer = ({ signature: string } | { signatures: readonly string[] }) & {
  /** The bytes of the last transaction, which explain its failure. */
  transaction?: string | undefined
  /** The first fields of the answer; `confirmed` is null if the command did not wait. */
  show(confirmed: Transaction | null): Promise<Record<string, unknown>> | Record<string, unknown>
  /** Like those of the request, if only the answer says them. */
  decimals?: FieldUnits | undefined
}

export interface PlatformRequest {
  /** What the request does, for a question. */
  what: string
  sign(options: { idempotencyKey: string }): Promise<PlatformAnswer>
  /** The decimals of fields in raw units, which a terminal shows as whole tokens and SOL. */
  decimals?: FieldUnits
}

interface PlatformFlags {
  wait?: Wait | undefined
  idempotency_key?: string | undefined
}

/** The address of the platform wallet; throws a usage problem if no signer is configured. */
export async function platformAddress({ client }: Session): Promise<string> {
  const { address } = (await client.signer.get()).data
  if (address !== null) return address
  throw usage('no signer is configured, and --signed needs the platform wallet', {
    param: '--signed',
    next: 'svc config set signer keypair (docs/signer.md), or sign with your own keypair',
  })
}

/** The address that signs: with `--signed` that of the platform wallet. */
export const signerAddress = (
  session: Session,
  flags: SigningWalletFlags & { signed?: boolean | undefined },
): Promise<string> => (flags.signed ? platformAddress(session) : signingWallet(session, flags))

/**
 * Confirms, signs and follows a request. `transaction` is the previewed unsigned build; it explains a failure if the
 * answer has no bytes.
 */
export async function sendByPlatform(
  session: Session,
  { wait = 'confirmed', idempotency_key = crypto.randomUUID() }: PlatformFlags,
  request: PlatformRequest,
  transaction?: string,
): Promise<CommandOutcome> {
  await confirmOn(session, request.what, await session.cluster())
  const answer = await requestPlatformSignature(session, idempotency_key, request.sign)
  const signatures = 'signature' in answer ? { signature: answer.signature } : { signatures: answer.signatures }
  const last = 'signature' in answer ? answer.signature : answer.signatures.at(-1)
  if (last === undefined) throw failure('the API answered without signatures: it did not sign')
  const { decimals = request.decimals } = answer
  if (wait === 'none') return sentOutcome(await answer.show(null), undefined, { signatures, decimals })
  const confirmed = await waitForTransaction(session, last, wait)
  if (confirmed.lifecycle === 'failed') {
    throw await transactionFailure(session, answer.transaction ?? transaction, confirmed)
  }
  return sentOutcome(await answer.show(confirmed), confirmed, { signatures, decimals })
}
