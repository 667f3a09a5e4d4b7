/**
 * Makes the answer of commands that add signatures without sending: the transactions, who has signed, and who is
 * missing.
 */
import type { CommandOutcome } from '../cli/command.ts'
import { trackedField } from './built-transactions.ts'
import type { TransactionInput } from './transaction-input.ts'
import type { SignedTransaction } from './wallet.ts'

/** `input` is what was read; its tracked resource and its lifetime are passed on to the next command. */
export function partialOutcome(
  input: TransactionInput,
  partial: readonly SignedTransaction[],
  notes: readonly string[] = [],
): CommandOutcome {
  const transactions = partial.map(({ transaction }) => transaction)
  const missing = [...new Set(partial.flatMap((one) => one.missing))]
  const { last_valid_block_height } = input
  const [first] = partial
  return {
    data: {
      ...(input.isSeries
        ? { transactions, signatures: partial.map(({ signature }) => signature) }
        : { transaction: first?.transaction, signature: first?.signature ?? null }),
      signed_by: [...new Set(partial.flatMap(({ signed }) => signed))],
      missing_signers: missing,
      ...(last_valid_block_height === undefined ? {} : { last_valid_block_height }),
      ...trackedField(input),
    },
    rows: { columns: ['transaction'], rows: transactions.map((transaction) => [transaction]) },
    text: transactions.join('\n'),
    notes: [
      missing.length === 0
        ? 'Signed by all; send it with `svc tx submit`.'
        : `Must still be signed by ${missing.join(', ')}.`,
      ...notes,
    ],
  }
}
