/** `svc tx refresh`: gives a build that waits for its signatures a fresh blockhash. */
import { paths } from '../../src/api/paths.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { required, text, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { lifetimeFields, trackedField } from '../signing/built-transactions.ts'
import { clusterState, lifetimeText, printedLifetime } from '../signing/lifetime.ts'
import { readTransactions, type TransactionInput } from '../signing/transaction-input.ts'
import { failure } from '../ui/problem.ts'

export const refresh = verb({
  about: 'Put a fresh blockhash into a build that nobody else has signed yet',
  details:
    'For a build whose signing elsewhere took longer than a blockhash lasts. svc checks that nothing else in it changes. Give the JSON that --build-only printed: only its `generated_keys` let the generated keys sign again. Refused if another version of it was submitted and has landed, or still can.',
  calls: [paths.transactions.refresh, paths.service.cluster],
  args: {
    transaction: required(text('JSON of --build-only as @FILE, or - for standard input; or a transaction in base64')),
  },
  examples: ['svc tx refresh @built.json --json > fresh.json', 'svc tx refresh - --json < built.json > fresh.json'],
  async run({ transaction }, session) {
    const input = await readTransactions(transaction)
    const { data, landed, lifetime, printed } = await refreshed(session, input)
    const { transactions, requiredSigners: missing_signers } = data
    return {
      data: {
        ...(input.isSeries ? { transactions } : { transaction: transactions[0] }),
        missing_signers,
        ...lifetimeFields(data, printed),
        ...trackedField(input),
      },
      rows: { columns: ['transaction'], rows: transactions.map((one) => [one]) },
      text: transactions.join('\n'),
      notes: [
        ...landed.map((signature) => `${signature} has landed already, and is left out.`),
        `Must still be signed by ${missing_signers.join(', ')}.`,
        ...(lifetime === null ? [] : [`It can be sent ${lifetime}.`]),
      ],
    }
  },
})

/**
 * Gives the transactions of a build a fresh blockhash, and checks that nothing else in them changes. `fresh` is what the
 * build is then, without those that have landed.
 */
export async function refreshed(session: Session, input: TransactionInput) {
  const before = input.genesis_hash === undefined ? null : await clusterState(session)
  if (before !== null && before.genesis_hash !== input.genesis_hash) {
    throw failure('the API works on another chain than the build: give --url or --api of the one that built it')
  }
  const { data, open, landed } = await refreshOpen(session, input)
  for (const [i, transaction] of open.entries()) {
    if (!(await session.wallet.differsInBlockhashAlone(transaction, data.transactions[i] ?? ''))) {
      throw failure('the API put more than a fresh blockhash into the transaction: do not sign what it answered')
    }
  }
  const { transactions, last_valid_block_height, generated_keys } = data
  const state = await clusterState(session)
  const printed = printedLifetime(last_valid_block_height, state, session.clock.now())
  const { expires_at: _, ...kept } = input
  const fresh: TransactionInput = {
    ...kept,
    transactions: [...transactions],
    last_valid_block_height,
    ...(generated_keys === undefined ? {} : { generated_keys }),
    ...printed,
  }
  return { data, landed, fresh, printed, lifetime: lifetimeText(last_valid_block_height, state) }
}

/** Leaves out the transactions of a build that have landed, so that the rest can follow them. */
async function refreshOpen({ client }: Session, { transactions, isSeries, generated_keys }: TransactionInput) {
  const generated = generated_keys === undefined ? {} : { generated_keys }
  const open = [...transactions]
  const landed: string[] = []
  for (;;) {
    try {
      return { ...(await client.transactions.refresh({ transactions: open, ...generated })), open, landed }
    } catch (error) {
      const place = landedPlace(error)
      if (place === null || !isSeries || open.length === 1) throw error
      open.splice(place.index, 1)
      landed.push(place.signature)
    }
  }
}

function landedPlace(error: unknown): { index: number; signature: string } | null {
  if (!(error instanceof ApiError)) return null
  const { lifecycle, signature } = error.details ?? {}
  const [, index] = /^transactions\.(\d)$/.exec(error.param ?? '') ?? []
  const isLanded = lifecycle === 'confirmed' || lifecycle === 'finalized'
  return isLanded && index !== undefined && typeof signature === 'string' ? { index: Number(index), signature } : null
}
