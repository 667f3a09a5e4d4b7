/** `svc tx`: submitting signed transactions, signing, refreshing, following, simulating and reading them. */
import { paths } from '../../src/api/paths.ts'
import type {
  LookedUpTransaction,
  StoredTransaction,
  Transaction,
  TransactionContent,
} from '../../src/api/transactions.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { solOf } from '../cli/amounts.ts'
import {
  type CommandOutcome,
  choiceOf,
  integer,
  listOf,
  type Noun,
  type Rows,
  required,
  text,
  toggle,
  verb,
} from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { addressNames } from '../signing/address-names.ts'
import { trackedField } from '../signing/built-transactions.ts'
import { contentOutcome, type Findings } from '../signing/content.ts'
import { WAIT, type Wait } from '../signing/flags.ts'
import { waitForTransaction } from '../signing/following.ts'
import { clusterState, secondsLeft } from '../signing/lifetime.ts'
import { describeWithTables } from '../signing/lookup-tables.ts'
import { partialOutcome } from '../signing/partial-outcome.ts'
import { effectLines, failureLines } from '../signing/preview.ts'
import { submitSigned } from '../signing/requests.ts'
import { transactionFailure } from '../signing/run-failures.ts'
import { sendAll } from '../signing/sending.ts'
import {
  readTransaction,
  readTransactions,
  type TransactionInput,
  transactionsIn,
} from '../signing/transaction-input.ts'
import { readText } from '../ui/files.ts'
import { EXIT, usage } from '../ui/problem.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { refresh } from './refresh.ts'
import { sign } from './sign.ts'

// `svc tx submit`: sends what was signed, alone, in order or as a bundle, and follows it.

const BUNDLE_MAX = 5

interface SubmitInput {
  transaction: string[]
  bundle: boolean
  skip_preflight: boolean
  max_retries: number | undefined
  wait: Wait | undefined
}

/** Sends one transaction, several as a bundle, or those of one build in order. */
async function submitTransactions(input: SubmitInput, session: Session): Promise<CommandOutcome> {
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
  const [only] = followed
  if (!bundle && only !== undefined) return statusOutcome(only)
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

// `svc tx decode`: what is in a transaction, how long it can land, and what a simulation of it changes.

const OFFLINE = 'not requested: --offline'

const decode = verb({
  about: 'Show what a transaction does, who has signed it, and how long it can land',
  details:
    'Names, roles and amounts come from its bytes; the simulation and the expiry come from the API. --offline makes no request, for example on a machine that only has a key. An account of a lookup table is shown by the address that the table has now; with --offline as TABLE[place], because only the chain knows it.',
  calls: [paths.transactions.simulate, paths.service.cluster, paths.tokens.batchFetch, paths.accounts.get],
  args: { transaction: required(text('The transaction in base64, @FILE that holds it, or - for standard input')) },
  flags: { offline: toggle('Make no request: no simulation and no expiry') },
  examples: ['svc tx decode @transaction.txt', 'svc tx decode @built.json --offline'],
  async run({ transaction: argument, offline }, session) {
    const { transaction, last_valid_block_height: lastValid, expires_at } = await readTransaction(argument)
    const left = secondsLeft(expires_at, session.clock.now())
    if (offline) {
      const content = await session.wallet.describe(transaction)
      return contentOutcome(content, { trial: null, state: null, lastValid, left, untried: OFFLINE })
    }
    const { content, taken } = await describeWithTables(session, transaction)
    const [{ trial, untried }, names, state] = await Promise.all([
      tried(session, transaction),
      addressNames(session, content),
      clusterState(session, content.nonce_account === null ? content.recent_blockhash : undefined),
    ])
    return contentOutcome(content, { trial, state, lastValid, left, untried, names, taken })
  },
})

/** A simulation that cannot be made becomes a text; what the bytes say is shown anyway. */
async function tried(session: Session, transaction: string): Promise<Pick<Findings, 'trial' | 'untried'>> {
  try {
    const { data: simulation } = await session.client.transactions.simulate({ transaction })
    const { err, logs } = simulation
    const failed = err !== null && err !== undefined
    const fault = failed ? await session.wallet.explain(transaction, err, logs) : null
    return { trial: { simulation, fault }, untried: '' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { trial: null, untried: `could not be made: ${error.message}` }
  }
}

// `svc tx combine`: joins the signatures that were made in different places, without a request.

const combine = verb({
  about: 'Join copies of a transaction that were signed in different places',
  details:
    'Each file holds base64, or the JSON of a build or of `svc tx sign`. Every signature is verified; a copy of another message, or an invalid signature, is reported by name.',
  args: { file: required(listOf('Files, - for standard input')) },
  examples: [
    'svc tx combine alice.json bob.json --json > signed.json',
    'svc tx combine alice.json bob.json carol.json',
  ],
  async run({ file: files }, { wallet, clock }) {
    const copies: (ReturnType<typeof transactionsIn> & { name: string })[] = []
    for (const argument of files) {
      const file = argument.startsWith('@') ? argument.slice(1) : argument
      copies.push({ name: file, ...transactionsIn((await readText(file)).trim(), file) })
    }
    const [first, ...others] = copies
    if (first === undefined) throw usage('give the files to combine', { param: '<file>' })
    const odd = others.find(({ transactions }) => transactions.length !== first.transactions.length)
    if (odd !== undefined) {
      throw usage(
        `${odd.name} holds ${counted(odd.transactions.length, 'transaction')}, and ${first.name} ${first.transactions.length}`,
        { param: '<file>' },
      )
    }
    const tracking = copies.filter(({ tracked_resource }) => tracked_resource !== undefined)
    const [tracked] = tracking
    const other = tracking.find(
      (one) => JSON.stringify(one.tracked_resource) !== JSON.stringify(tracked?.tracked_resource),
    )
    if (other !== undefined && tracked !== undefined) {
      throw usage(`${other.name} tracks another resource than ${tracked.name}`, { param: '<file>' })
    }
    const combined = await Promise.all(
      first.transactions.map((_, i) =>
        wallet.combine(copies.map(({ name, transactions }) => ({ name, transaction: transactions[i] ?? '' }))),
      ),
    )
    const tracked_resource = tracked?.tracked_resource
    const input = { ...first, ...(tracked_resource === undefined ? {} : { tracked_resource }) }
    return partialOutcome(input, combined, { now: clock.now() })
  },
})

const transactionPaths = paths.transactions
const TRANSACTION_INPUT = required(text('The transaction in base64, @FILE that holds it, or - for standard input'))
const SIGNATURE = required(text('Signature of the transaction'))

export const transactionRows = (items: readonly StoredTransaction[]): Rows => ({
  columns: ['signature', 'lifecycle', 'for', 'error', 'created_at'],
  rows: items.map(({ signature, lifecycle, tracked_resource, error, created_at }) => [
    signature,
    lifecycle,
    trackedText(tracked_resource),
    error?.message ?? null,
    created_at,
  ]),
})

const trackedText = (tracked: StoredTransaction['tracked_resource'] | undefined) =>
  tracked ? `${tracked.resource_type} ${tracked.resource_id}` : null

/** The status for people: its error in words, with what to do, and what its submission said. */
function statusOutcome(data: LookedUpTransaction): CommandOutcome {
  const { err, error, tracked_resource: tracked, bundle_id, external_uid, bytes_removed_at, ...status } = data
  const said = {
    for: trackedText(tracked),
    bundle_id,
    external_uid,
    bytes_removed_at,
  }
  const known = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null && value !== undefined))
  if (error === null || error === undefined) return { data, record: { ...status, err, ...known } }
  const { program, message, hint } = error
  const failure = { error: program === null ? message : `${program}: ${message}`, ...(hint === null ? {} : { hint }) }
  return { data, record: { ...status, ...failure, ...known } }
}

/** The status, and below it what the transaction does. */
function withContent(status: LookedUpTransaction, content: TransactionContent): CommandOutcome {
  const { signature, transaction, ...facts } = content
  const { record } = statusOutcome(status)
  return {
    data: { ...status, content },
    record: { ...record, ...facts, fee: `${solOf(BigInt(content.fee))} SOL` },
  }
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
        external_uid: text('Only those that were submitted with this id of your own', { placeholder: 'ID' }),
        resource_id: text('Only those of this resource, such as a pool or a mint', { placeholder: 'ID' }),
        bundle_id: text('Only those of this bundle', { placeholder: 'ID' }),
      },
      examples: ['svc tx list', 'svc tx list --lifecycle failed --limit 5'],
      columns: ['signature', 'lifecycle', 'slot', 'created_at'],
      table: transactionRows,
      call: (client, query) => client.transactions.list(query),
    }),
    get: verb({
      about: 'Read the status of a transaction, and what it does',
      details:
        'With --content each instruction is shown whole, from the stored bytes or from the chain; --json has the signed bytes too.',
      calls: [transactionPaths.get, transactionPaths.content],
      args: { signature: SIGNATURE },
      flags: { content: toggle('Show every instruction, with its accounts and arguments') },
      examples: [
        'svc tx get 2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY',
        'svc tx get 2uRZX4aJqCEnA39EcYq1gXk6R35g9vNymNxWrv85mvy8YWKD6AMkzzBRjcMnFdqwS2KFpWrjmfNfWeHrTW42fiwY --content',
      ],
      async run({ signature, content }, { client }) {
        const { data } = await client.transactions.get({ signature })
        if (!content) return statusOutcome(data)
        return withContent(data, (await client.transactions.content({ signature })).data)
      },
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
