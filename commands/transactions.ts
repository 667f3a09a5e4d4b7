/** `svc tx`: submitting signed transactions, signing, following, simulating and reading them. */

import { paths } from '../src/api/paths.ts'
import type { Transaction } from '../src/api/transactions.ts'
import { type CommandOutcome, choiceOf, integer, listOf, type Noun, required, text, toggle, verb } from './command.ts'
import { recordVerb } from './reads.ts'
import type { Session } from './session.ts'
import { contentOutcome } from './signing/content.ts'
import { KEYPAIR, WAIT, type Wait } from './signing/flags.ts'
import { waitForTransaction } from './signing/following.ts'
import { effectLines, failureLines } from './signing/preview.ts'
import { submitSigned } from './signing/requests.ts'
import { transactionFailure } from './signing/run-failures.ts'
import { readTransaction, type TransactionInput } from './signing/transaction-input.ts'
import { EXIT, usage } from './ui/problem.ts'

const transactionPaths = paths.transactions
const TRANSACTION_INPUT = required(text('The transaction in base64, @FILE that holds it, or - for standard input'))
const SIGNATURE = required(text('Signature of the transaction'))
const BUNDLE_MAX = 5

export const transactionsNoun: Noun = {
  verbs: {
    submit: verb({
      about: 'Submit a signed transaction, or up to five as an atomic bundle, and wait',
      details: 'What --build-only and `svc tx sign` print with --json is taken too, with what it tracks.',
      calls: [transactionPaths.submit, transactionPaths.get],
      args: { transaction: required(listOf('Signed, in base64, @FILE that holds it, or - for standard input')) },
      flags: {
        bundle: toggle('As a bundle: all land in one slot, or none'),
        skip_preflight: toggle('Send without a simulation by the node'),
        max_retries: integer('Times the node sends again (default 2); 0 also stops sending again from here', {
          min: 0,
          max: 10,
        }),
        wait: WAIT,
      },
      examples: ['svc tx submit @signed.txt', 'svc tx submit --bundle @first.txt @second.txt --wait finalized'],
      run: submitTransactions,
    }),
    status: recordVerb({
      about: 'Read how far a transaction has come',
      at: transactionPaths.get,
      args: { signature: SIGNATURE },
      call: (client, input) => client.transactions.get(input),
    }),
    watch: verb({
      about: 'Follow a transaction until it is finalized or failed',
      details:
        'Every step is a line on stderr; the answer is where it has come to. Exit code 1 where it failed or the time was over, 3 where nobody knows the signature and it can no longer land.',
      calls: [transactionPaths.get, paths.accounts.get],
      args: { signature: SIGNATURE },
      flags: {
        until: choiceOf(['confirmed', 'finalized'], 'Stop when it is confirmed, or finalized (default)'),
        timeout: integer('Seconds after which it is given up (default 180)', { min: 1, max: 86_400, placeholder: 'S' }),
      },
      async run({ signature, until, timeout }, session) {
        const data = await waitForTransaction(session, signature, until ?? 'finalized', {
          ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
          onChange({ lifecycle, slot }) {
            const time = new Date(session.clock.now()).toISOString()
            session.ui.note(`${time}  ${lifecycle}${slot > 0 ? `  slot ${slot}` : ''}`)
          },
        })
        return { data, exitCode: data.lifecycle === 'failed' ? EXIT.failed : EXIT.done }
      },
    }),
    simulate: verb({
      about: 'Run a transaction without submitting it',
      calls: [transactionPaths.simulate],
      args: { transaction: TRANSACTION_INPUT },
      examples: ['svc tx simulate @transaction.txt'],
      async run({ transaction }, { client, wallet }) {
        const typed = await readTransaction(transaction)
        const { data } = await client.transactions.simulate({ transaction: typed.transaction })
        const failed = data.err !== null && data.err !== undefined
        const fault = failed ? failureLines(data, await wallet.explain(typed.transaction, data.err, data.logs)) : []
        const head = failed
          ? 'It would fail.'
          : `It would succeed, with ${data.units_consumed ?? 'unknown'} compute units.`
        return {
          data,
          text: [head, ...effectLines(data), ...fault].join('\n'),
          exitCode: failed ? EXIT.failed : EXIT.done,
        }
      },
    }),
    sign: verb({
      about: 'Add your signature to a transaction; nothing is sent',
      details: '`svc tx decode` and `svc tx simulate` show what you sign.',
      args: { transaction: TRANSACTION_INPUT },
      flags: { keypair: KEYPAIR },
      examples: ['svc tx sign @transaction.txt -k cold.json > signed.txt'],
      async run({ transaction, keypair }, { wallet }) {
        const typed = await readTransaction(transaction)
        const { signed, missing, ...rest } = await wallet.sign(typed.transaction, { keypair })
        const tracked = typed.tracked_resource === undefined ? {} : { tracked_resource: typed.tracked_resource }
        return {
          data: { ...rest, signed_by: signed, missing_signers: missing, ...tracked },
          rows: { columns: ['transaction'], rows: [[rest.transaction]] },
          text: rest.transaction,
          notes: [
            missing.length === 0
              ? 'Signed by all; send it with `svc tx submit`.'
              : `Must still be signed by ${missing.join(', ')}.`,
          ],
        }
      },
    }),
    decode: verb({
      about: 'Show what is in a transaction, without asking anybody',
      details: 'An account of a lookup table is shown as TABLE[place]: what it is only the chain knows.',
      args: { transaction: TRANSACTION_INPUT },
      examples: ['svc tx decode @transaction.txt'],
      async run({ transaction }, { wallet }) {
        return contentOutcome(await wallet.decode((await readTransaction(transaction)).transaction))
      },
    }),
  },
}

interface SubmitInput {
  transaction: string[]
  bundle: boolean
  skip_preflight: boolean
  max_retries: number | undefined
  wait: Wait | undefined
}

async function submitTransactions(input: SubmitInput, session: Session): Promise<CommandOutcome> {
  const { bundle, skip_preflight, max_retries, wait = 'confirmed' } = input
  const typed: TransactionInput[] = []
  for (const word of input.transaction) typed.push(await readTransaction(word))
  if (!bundle && typed.length > 1)
    throw usage('several transactions go as a bundle: add --bundle', { param: '--bundle' })
  if (typed.length > BUNDLE_MAX) throw usage(`a bundle holds at most ${BUNDLE_MAX} transactions, not ${typed.length}`)
  const signatures: string[] = []
  for (const { transaction } of typed) signatures.push(await completeSignature(session, transaction))

  const tracked = typed.at(-1)?.tracked_resource
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
    ...(skip_preflight ? { skip_preflight } : {}),
    ...(max_retries === undefined ? {} : { max_retries }),
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
  const columns = ['signature', 'lifecycle', 'slot'] as const
  return {
    data: { ...answer, transactions: followed },
    rows: { columns, rows: followed.map((one) => columns.map((column) => one[column])) },
  }
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
