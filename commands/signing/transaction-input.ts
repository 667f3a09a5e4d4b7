/** Reads transactions from arguments: base64, `@FILE`, `-`, or the JSON that a build or a signing printed. */

import { existsSync } from 'node:fs'
import type { TrackedResource } from '../../src/api/payloads.ts'
import { calendarMoment } from '../../src/platform/calendar.ts'
import { readText } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import type { PrintedLifetime } from './lifetime.ts'

export interface TransactionInput extends PrintedLifetime {
  /** One, or several in the order of confirmation. */
  transactions: string[]
  /** Whether the JSON contains several, which are printed as several again. */
  isSeries: boolean
  /** The resource of a printed build, which the API checks. */
  tracked_resource?: TrackedResource
  last_valid_block_height?: number
  /** Generated keys, encrypted by the API. */
  generated_keys?: string
}

/** Reads one transaction or a series; throws a usage problem for a file that cannot be read, or has none. */
export async function readTransactions(argument: string): Promise<TransactionInput> {
  const file = argument === '-' ? '-' : argument.startsWith('@') ? argument.slice(1) : undefined
  if (file === undefined && existsSync(argument)) {
    throw usage(`${argument} is a file`, { param: '<transaction>', next: `give its content as @${argument}` })
  }
  const text = file === undefined ? argument : (await readText(file)).trim()
  return transactionsIn(text, file === undefined ? '<transaction>' : argument)
}

/** Reads one transaction; also throws a usage problem for a series. */
export async function readTransaction(argument: string): Promise<TransactionInput & { transaction: string }> {
  const input = await readTransactions(argument)
  const [transaction = ''] = input.transactions
  if (input.transactions.length === 1) return { ...input, transaction }
  throw usage(`${argument} contains ${counted(input.transactions.length, 'transaction')}: give one of them`, {
    param: '<transaction>',
  })
}

/** The transactions in the text of a file or an argument, which `shown` names in errors. */
export function transactionsIn(text: string, shown: string): TransactionInput {
  if (!text.startsWith('{')) return { transactions: [text], isSeries: false }
  const { transaction, transactions, tracked_resource, ...lifetime } = printedJson(text)
  const { last_valid_block_height, expires_at, genesis_hash, generated_keys } = lifetime
  const all = Array.isArray(transactions) ? transactions : [transaction]
  if (all.length === 0 || !all.every((one) => typeof one === 'string')) {
    throw usage(`${shown} is JSON without a transaction`, { param: '<transaction>' })
  }
  return {
    transactions: all,
    isSeries: Array.isArray(transactions),
    ...(tracked_resource === undefined ? {} : { tracked_resource: tracked_resource as TrackedResource }),
    ...(Number.isSafeInteger(last_valid_block_height)
      ? { last_valid_block_height: last_valid_block_height as number }
      : {}),
    ...(typeof expires_at === 'string' && calendarMoment(expires_at) !== null ? { expires_at } : {}),
    ...(typeof genesis_hash === 'string' ? { genesis_hash } : {}),
    ...(typeof generated_keys === 'string' ? { generated_keys } : {}),
  }
}

/** The printed answer; with `-o json` it may be inside an envelope. */
function printedJson(text: string): Record<string, unknown> {
  try {
    const { data, ...printed } = JSON.parse(text) as Record<string, unknown>
    return typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...printed, ...data } : printed
  } catch {
    return {}
  }
}
