/** Reads transactions from arguments: base64, `@FILE`, `-`, or the JSON that a build or a signing printed. */
import type { TrackedResource } from '../../src/api/payloads.ts'
import { readText } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

export interface TransactionInput {
  transaction: string
  /** The resource of a printed build, which the API checks. */
  tracked_resource?: TrackedResource
}

/** Reads a transaction; throws a usage problem for a file that cannot be read and for JSON without a transaction. */
export async function readTransaction(argument: string): Promise<TransactionInput> {
  const file = argument === '-' ? '-' : argument.startsWith('@') ? argument.slice(1) : undefined
  const text = file === undefined ? argument : (await readText(file)).trim()
  if (!text.startsWith('{')) return { transaction: text }
  const { transaction, tracked_resource } = printedJson(text)
  if (typeof transaction !== 'string') {
    throw usage(`${file === undefined ? '<transaction>' : argument} is JSON without a transaction`, {
      param: '<transaction>',
    })
  }
  return {
    transaction,
    ...(tracked_resource === undefined ? {} : { tracked_resource: tracked_resource as TrackedResource }),
  }
}

function printedJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
