/**
 * Makes the answer of commands that add signatures without sending: the transactions, who has signed, and who is
 * missing.
 */
import type { CommandOutcome } from '../cli/command.ts'
import { lifetimeFields, trackedField } from './built-transactions.ts'
import { secondsLeft, secondsLeftText } from './lifetime.ts'
import type { TransactionInput } from './transaction-input.ts'
import type { SignedTransaction } from './wallet.ts'

/** `input` is what was read; its tracked resource and its lifetime are passed on to the next command. */
export function partialOutcome(
  input: TransactionInput,
  partial: readonly SignedTransaction[],
  { now, notes = [] }: { now: number; notes?: readonly string[] },
): CommandOutcome {
  const transactions = partial.map(({ transaction }) => transaction)
  const missing = [...new Set(partial.flatMap((one) => one.missing))]
  const { last_valid_block_height, expires_at, genesis_hash } = input
  const left = secondsLeft(expires_at, now)
  const [first] = partial
  return {
    data: {
      ...(input.isSeries
        ? { transactions, signatures: partial.map(({ signature }) => signature) }
        : { transaction: first?.transaction, signature: first?.signature ?? null }),
      signed_by: [...new Set(partial.flatMap(({ signed }) => signed))],
      missing_signers: missing,
      ...lifetimeFields({ last_valid_block_height }),
      ...(expires_at === undefined ? {} : { expires_at }),
      ...(genesis_hash === undefined ? {} : { genesis_hash }),
      ...trackedField(input),
    },
    rows: { columns: ['transaction'], rows: transactions.map((transaction) => [transaction]) },
    text: transactions.join('\n'),
    notes: [
      missing.length === 0
        ? 'Signed by all; send it with `svc tx submit`.'
        : `Must still be signed by ${missing.join(', ')}.`,
      ...(left === undefined ? [] : [leftNote(left)]),
      ...notes,
    ],
  }
}

const leftNote = (seconds: number): string =>
  seconds > 0
    ? `It can be sent ${secondsLeftText(seconds)}.`
    : `It ${secondsLeftText(seconds)}: give the build to \`svc tx refresh\`, and sign what that prints.`
