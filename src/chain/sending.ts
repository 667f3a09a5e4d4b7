/** Sending signed transactions: a trial run that explains a failure, and the broadcast itself. */
import { badRequest } from '../errors.ts'
import type { Chain } from './connection.ts'
import { explainTransactionError } from './errors/index.ts'
import type { DecodedTransaction } from './localnet/messages.ts'
import { atSlot, NodeRefusal } from './node-call.ts'
import { askNode } from './rpc-faults.ts'
import { namesIn } from './transactions.ts'

type Node = Pick<Chain, 'call'>

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
export async function preflight(node: Node, transaction: DecodedTransaction, param: string): Promise<Preflight> {
  const options = { sigVerify: true, encoding: 'base64', commitment: 'confirmed' }
  const { slot, value } = await askNode('The preflight', async () => {
    try {
      return atSlot<Trial>(await node.call('simulateTransaction', [base64Of(transaction), options]), isTrial)
    } catch (error) {
      if (!isInvalid(error)) throw error
      throw badRequest(`${param}: ${error.message}`, { param, cause: error })
    }
  })
  const { err, logs } = value
  if (err === null || err === undefined) return { slot, landed: false }
  if (err === 'AlreadyProcessed') return { slot, landed: true }
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
export async function broadcast(node: Node, raw: Uint8Array, maxRetries: number): Promise<void> {
  const options = { skipPreflight: true, maxRetries, encoding: 'base64' }
  await askNode('Sending the transaction', () =>
    node.call('sendTransaction', [Buffer.from(raw).toString('base64'), options]),
  )
}

const isTrial = (value: unknown) => typeof value === 'object' && value !== null && 'err' in value
const base64Of = ({ raw }: DecodedTransaction) => Buffer.from(raw).toString('base64')

/** JSON-RPC's invalid params, and Solana's own "signature verification failure" and "unsupported version". */
const INVALID = new Set([-32602, -32003, -32015])
const isInvalid = (error: unknown): error is NodeRefusal => error instanceof NodeRefusal && INVALID.has(error.code)
