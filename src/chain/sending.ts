/** Sending signed transactions: a trial run that explains a failure, and the broadcast itself. */
import { badRequest } from '../errors.ts'
import type { DecodedTransaction } from '../solana/messages.ts'
import type { Chain } from './connection.ts'
import { explainTransactionError } from './errors/index.ts'
import { atSlot, NodeRefusal } from './node-call.ts'
import { askNode, nodeReason } from './rpc-faults.ts'
import { readStatuses } from './statuses.ts'
import { namesIn } from './transactions.ts'

type SendingNode = Pick<Chain, 'call'>

interface Trial {
  err: unknown
  logs: string[] | null
}

export interface Preflight {
  /** Slot of the node's bank. */
  slot: number
  /** It has landed before, by another way: there is nothing to send. */
  landed: boolean
}

/**
 * Runs a signed transaction without sending it. Throws bad_request with the decoded program error (`details.error`) and
 * the log where it would fail, internal_error where the node does.
 */
export async function preflight(node: SendingNode, transaction: DecodedTransaction, param: string): Promise<Preflight> {
  const options = { sigVerify: true, encoding: 'base64', commitment: 'confirmed' }
  const { slot, value } = await askNode('The preflight', async () => {
    try {
      return atSlot<Trial>(await node.call('simulateTransaction', [base64Of(transaction), options]), isTrial)
    } catch (error) {
      if (!isInvalid(error)) throw error
      throw badRequest(`${param}: ${nodeReason(error)}`, { param, cause: error })
    }
  })
  const { err, logs } = value
  if (err === null || err === undefined) return { slot, landed: false }
  if (err === 'AlreadyProcessed') return { slot, landed: true }
  // A validator looks at the age of the blockhash first, and forgets within minutes what it has processed.
  if (err === 'BlockhashNotFound' && (await isKnownTransaction(node, transaction))) return { slot, landed: true }
  const error = explainTransactionError(err, { logs: logs ?? null, ...namesIn(transaction.message) })
  const { program, name, message, hint } = error
  const whole = [`${program === null ? '' : `${program}: `}${name}: ${message}`, ...(hint === null ? [] : [hint])]
  throw badRequest(`The transaction would fail, and was not sent. ${whole.join('; ')}`, {
    param,
    details: { error, err, logs: logs ?? [] },
  })
}

/**
 * Hands the bytes to the node, which passes them on unchecked; `maxRetries` is how often it repeats that by itself.
 * Throws internal_error where the node did not take them.
 */
export async function broadcast(node: SendingNode, raw: Uint8Array, maxRetries: number): Promise<void> {
  const options = { skipPreflight: true, maxRetries, encoding: 'base64' }
  await askNode('Sending the transaction', () =>
    node.call('sendTransaction', [Buffer.from(raw).toString('base64'), options]),
  )
}

const isTrial = (value: unknown) => typeof value === 'object' && value !== null && 'err' in value
const base64Of = ({ raw }: DecodedTransaction) => Buffer.from(raw).toString('base64')

async function isKnownTransaction(node: SendingNode, { signature }: DecodedTransaction): Promise<boolean> {
  const { statuses } = await readStatuses(node, [signature], true)
  return statuses[0] !== null
}

/** What a validator says of the transaction itself; a provider's own limits share its codes. */
const INVALID =
  /^(invalid transaction|failed to deserialize|transaction signature verification|transaction version|.*too large)/i
const isInvalid = (error: unknown): error is NodeRefusal => error instanceof NodeRefusal && INVALID.test(error.message)
