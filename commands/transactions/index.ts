/** `svc tx`: submitting signed transactions, signing, refreshing, following, simulating and reading them. */

import { paths } from '../../src/api/paths.ts'
import type { StoredTransaction, Transaction } from '../../src/api/transactions.ts'
import {
  type CommandOutcome,
  choiceOf,
  integer,
  listOf,
  type Noun,
  required,
  text,
  toggle,
  verb,
} from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { WAIT } from '../signing/flags.ts'
import { waitForTransaction } from '../signing/following.ts'
import { effectLines, failureLines } from '../signing/preview.ts'
import { readTransaction } from '../signing/transaction-input.ts'
import { EXIT } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { combine } from './combine.ts'
import { decode } from './decode.ts'
import { refresh } from './refresh.ts'
import { sign } from './sign.ts'
import { submitTransactions } from './submit.ts'

const transactionPaths = paths.transactions
const TRANSACTION_INPUT = required(text('The transaction in base64, @FILE that holds it, or - for standard input'))
const SIGNATURE = required(text('Signature of the transaction'))

/** The status for people: its error in words, with what to do. */
function statusOutcome(data: Transaction): CommandOutcome {
  const { err, error, ...record } = data
  if (error === null || error === undefined) return { data }
  const { program, message, hint } = error
  const failure = { error: program === null ? message : `${program}: ${message}`, ...(hint === null ? {} : { hint }) }
  return { data, record: { ...record, ...failure } }
}

export const transactionsNoun: Noun = {
  aliases: { status: 'get' },
  verbs: {
    submit: verb({
      about: 'Submit a signed transaction, or up to five as an atomic bundle, and wait',
      details:
        'Also takes the --json output of --build-only, `svc tx sign` and `svc tx combine`, and what that tracks. Several transactions are sent in order, each confirmed before the next, or as one bundle with --bundle.',
      calls: [transactionPaths.submit, transactionPaths.get],
      args: { transaction: required(listOf('Signed, in base64, @FILE that holds it, or - for standard input')) },
      flags: {
        bundle: toggle('As a bundle: all land in one slot, or none'),
        skip_preflight: toggle('Send without a simulation by the node'),
        max_retries: integer(
          'How often the node sends it again (default 2); with 0, svc does not send it again either',
          {
            min: 0,
            max: 10,
          },
        ),
        wait: WAIT,
      },
      examples: ['svc tx submit @signed.txt', 'svc tx submit --bundle @first.txt @second.txt --wait finalized'],
      run: submitTransactions,
    }),
    list: listVerb({
      about: 'List the transactions that were submitted here, newest first',
      at: transactionPaths.list,
      filters: {
        lifecycle: choiceOf(
          ['submitted', 'processing', 'confirmed', 'finalized', 'failed'],
          'Only with this lifecycle',
        ),
      },
      examples: ['svc tx list', 'svc tx list --lifecycle failed --limit 5'],
      columns: ['signature', 'lifecycle', 'slot', 'created_at'],
      table: (items: readonly StoredTransaction[]) => ({
        columns: ['signature', 'lifecycle', 'for', 'error', 'created_at'],
        rows: items.map(({ signature, lifecycle, tracked_resource, error, created_at }) => [
          signature,
          lifecycle,
          tracked_resource?.resource_type ?? null,
          error?.message ?? null,
          created_at,
        ]),
      }),
      call: (client, query) => client.transactions.list(query),
    }),
    get: verb({
      about: 'Read the status of a transaction',
      calls: [transactionPaths.get],
      args: { signature: SIGNATURE },
      examples: [
        'svc tx get 2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY',
        'svc tx get 2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY --json',
      ],
      run: async (input, { client }) => statusOutcome((await client.transactions.get(input)).data),
    }),
    watch: verb({
      about: 'Follow a transaction until it is finalized or failed',
      details:
        'Every step is a line on stderr; the answer is the last status. Exit code 1 if it failed or the time ran out, 3 if nobody knows the signature and it can no longer land.',
      calls: [transactionPaths.get, paths.accounts.get],
      args: { signature: SIGNATURE },
      flags: {
        until: choiceOf(['confirmed', 'finalized'], 'Stop when it is confirmed, or finalized (default)'),
        timeout: integer('Seconds to wait at most (default 180)', { min: 1, max: 86_400, placeholder: 'S' }),
      },
      examples: [
        'svc tx watch 2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY',
        'svc tx watch 2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY --until confirmed --timeout 60',
      ],
      async run({ signature, until, timeout }, session) {
        const data = await waitForTransaction(session, signature, until ?? 'finalized', {
          ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
          onChange({ lifecycle, slot }) {
            const time = timeText(session.clock.now())
            session.ui.note(`${time}  ${lifecycle}${slot > 0 ? `  slot ${slot}` : ''}`)
          },
        })
        return { ...statusOutcome(data), exitCode: data.lifecycle === 'failed' ? EXIT.failed : EXIT.done }
      },
    }),
    simulate: verb({
      about: 'Run a transaction without submitting it',
      calls: [transactionPaths.simulate],
      args: { transaction: TRANSACTION_INPUT },
      examples: ['svc tx simulate @transaction.txt', 'svc tx simulate @built.json --json'],
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
    sign,
    refresh,
    combine,
    decode,
  },
}
