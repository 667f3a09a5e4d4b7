/** `svc tx submit`: sends what was signed, alone, in order or as a bundle, and follows it. */
import type { Transaction } from '../../src/api/transactions.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { trackedField } from '../signing/built-transactions.ts'
import type { Wait } from '../signing/flags.ts'
import { waitForTransaction } from '../signing/following.ts'
import { submitSigned } from '../signing/requests.ts'
import { transactionFailure } from '../signing/run-failures.ts'
import { sendAll } from '../signing/sending.ts'
import { readTransactions, type TransactionInput } from '../signing/transaction-input.ts'
import { usage } from '../ui/problem.ts'

const BUNDLE_MAX = 5

interface SubmitInput {
  transaction: string[]
  bundle: boolean
  skip_preflight: boolean
  max_retries: number | undefined
  wait: Wait | undefined
}

/** Sends one transaction, several as a bundle, or those of one build in order. */
export async function submitTransactions(input: SubmitInput, session: Session): Promise<CommandOutcome> {
  const { bundle, skip_preflight, max_retries, wait = 'confirmed' } = input
  const read: TransactionInput[] = []
  for (const word of input.transaction) read.push(await readTransactions(word))
  if (!bundle && read.length > 1)
    throw usage('several transactions go as a bundle: add --bundle', { param: '--bundle' })
  const typed = read.flatMap(({ transactions, tracked_resource }) =>
    transactions.map((transaction, i) => ({
      transaction,
      // What a series tracks belongs to its last transaction.
      ...(tracked_resource === undefined || i < transactions.length - 1 ? {} : { tracked_resource }),
    })),
  )
  if (typed.length > BUNDLE_MAX) throw usage(`a bundle holds at most ${BUNDLE_MAX} transactions, not ${typed.length}`)
  const signatures: string[] = []
  for (const { transaction } of typed) signatures.push(await completeSignature(session, transaction))

  const options = {
    ...(skip_preflight ? { skip_preflight } : {}),
    ...(max_retries === undefined ? {} : { max_retries }),
  }
  const tracked = typed.at(-1)?.tracked_resource
  if (!bundle && typed.length > 1) {
    const signed = typed.map(({ transaction }, i) => ({ transaction, signature: signatures[i] ?? '' }))
    const built = {
      transactions: typed.map(({ transaction }) => transaction),
      ...trackedField({ tracked_resource: tracked }),
    }
    return followedOutcome(
      {},
      (await sendAll(session, signed, { built, wait, bundle, recovery: RECOVERY, options })) ?? signed,
    )
  }
  const dropped = typed.slice(0, -1).filter(({ tracked_resource }) => tracked_resource !== undefined)
  if (dropped.length > 0) {
    session.ui.warn(
      'a bundle tracks what its last transaction is about; the tracked_resource of the others is left out',
    )
  }
  const [first = { transaction: '' }] = typed
  const answer = await submitSigned(session, signatures[0] ?? '', {
    ...(bundle
      ? { bundle: true, signed_transactions: typed.map(({ transaction }) => transaction) }
      : { transaction: first.transaction }),
    ...options,
    ...(tracked === undefined ? {} : { tracked_resource: tracked }),
  })
  if (wait === 'none') return { data: answer }
  const followed: Transaction[] = []
  for (const signature of signatures) followed.push(await waitForTransaction(session, signature, wait))
  const failed = followed.find(({ lifecycle }) => lifecycle === 'failed')
  if (failed !== undefined) {
    throw await transactionFailure(session, typed[followed.indexOf(failed)]?.transaction, failed)
  }
  if (!bundle) return { data: followed[0] }
  return followedOutcome(answer, followed)
}

const RECOVERY = '`svc tx get` shows each; send the rest with `svc tx submit` once the one before it is confirmed'

function followedOutcome(answer: object, followed: readonly (Transaction | { signature: string })[]): CommandOutcome {
  const columns = ['signature', 'lifecycle', 'slot'] as const
  const rows = followed.map((one) =>
    columns.map((column) => ('lifecycle' in one ? one[column] : column === 'signature' ? one.signature : '-')),
  )
  return { data: { ...answer, transactions: followed }, rows: { columns, rows } }
}

async function completeSignature({ wallet }: Session, transaction: string): Promise<string> {
  const { signature, signers } = await wallet.decode(transaction)
  const unsigned = signers.filter(({ signature }) => signature !== 'valid')
  if (signature !== null && unsigned.length === 0) return signature
  throw usage(`not signed: ${unsigned.map(({ address, signature }) => `${address} (${signature})`).join(', ')}`, {
    param: '<transaction>',
    next: '`svc tx sign` adds a signature',
  })
}
