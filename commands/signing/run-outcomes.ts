/** Makes the results of a signed run: unsigned transactions, a dry run, or what was sent with its lifecycle. */
import type { Transaction } from '../../src/api/transactions.ts'
import { type FieldUnits, inWhole } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { EXIT } from '../ui/problem.ts'
import { type BuiltTransactions, lifetimeFields, trackedField } from './built-transactions.ts'
import { canPay, type Funds, fundsRecord } from './funds.ts'
import { guardRecord } from './guard-lines.ts'
import type { PrintedLifetime } from './lifetime.ts'
import type { SimulatedBuild } from './run-failures.ts'
import type { SignedTransaction } from './wallet.ts'

type AnswerFields = Record<string, unknown>

interface UnsignedFields {
  fields?: AnswerFields | undefined
  lifetime: string | null
  printed: PrintedLifetime
}

/** The result of --build-only. Returned keys have already signed, so no secret is printed. */
export function unsignedOutcome(
  built: BuiltTransactions,
  partial: readonly SignedTransaction[],
  { fields = {}, lifetime, printed }: UnsignedFields,
): CommandOutcome {
  const transactions = partial.map(({ transaction }) => transaction)
  const missing_signers = [...new Set(partial.flatMap(({ missing }) => missing))]
  const signed_by = [...new Set(partial.flatMap(({ signed }) => signed))]
  const isSeries = 'transactions' in built
  const [first] = transactions
  return {
    data: {
      ...fields,
      ...(transactions.length === 1 ? { transaction: first } : {}),
      ...(isSeries ? { transactions } : {}),
      signed_by,
      missing_signers,
      ...lifetimeFields(built, printed),
      ...trackedField(built),
    },
    rows: { columns: ['transaction'], rows: transactions.map((transaction) => [transaction]) },
    text: transactions.join('\n'),
    notes: [
      `Must still be signed by ${missing_signers.join(', ')}: ${nextSteps(isSeries && transactions.length > 1)}`,
      ...(lifetime === null
        ? []
        : [`It can be sent ${lifetime}; after that, give the --json output to \`svc tx refresh\`.`]),
    ],
  }
}

function nextSteps(isSeries: boolean): string {
  if (!isSeries) return 'svc tx sign, then svc tx submit.'
  return 'svc tx sign, then svc tx submit in this order, each confirmed before the next, or --bundle.'
}

export function dryRunOutcome(
  built: BuiltTransactions,
  { cluster, signer, simulation, fault, ...shown }: SimulatedBuild,
  lines: readonly string[],
  { fields = {}, funds = null, note }: { fields?: AnswerFields | undefined; funds?: Funds | null; note: string },
): CommandOutcome {
  const count = 'transactions' in built ? { transactions: built.transactions.length } : {}
  return {
    data: {
      ...fields,
      cluster,
      signer,
      ...count,
      guard: guardRecord(shown),
      ...(funds === null ? {} : fundsRecord(funds)),
      ...simulation,
    },
    text: lines.join('\n'),
    notes: [note],
    exitCode: fault === null && (funds === null || canPay(funds)) ? EXIT.done : EXIT.failed,
  }
}

interface SentFields {
  signatures: AnswerFields
  decimals?: FieldUnits | undefined
}

/** Adds the commands that people run next to the outcome of transactions that have landed. */
export function withNext(
  outcome: CommandOutcome,
  next: ((fields: AnswerFields) => readonly string[]) | undefined,
): CommandOutcome {
  const fields = outcome.data as AnswerFields
  const isDone = fields.lifecycle === 'confirmed' || fields.lifecycle === 'finalized'
  const commands = isDone && next !== undefined ? next(fields) : []
  if (commands.length === 0) return outcome
  const note = `Next: ${commands.map((command) => `\`${command}\``).join(', or ')}`
  return { ...outcome, notes: [...(outcome.notes ?? []), note] }
}

/** The result of a run that sent transactions; `last` is undefined if the command did not wait. */
export function sentOutcome(
  fields: AnswerFields = {},
  last: Transaction | undefined,
  { signatures, decimals = {} }: SentFields,
): CommandOutcome {
  const progress = last === undefined ? { lifecycle: 'submitted' } : { lifecycle: last.lifecycle, slot: last.slot }
  const data = { ...fields, ...signatures, ...progress }
  return { data, record: inWhole(data, decimals) }
}
