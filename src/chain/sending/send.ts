/** Sends signed transactions: a simulation that explains a failure, and the broadcast. */
import { badRequest, internal } from '../../platform/errors.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import type { Chain } from '../connection.ts'
import { explainTransactionError } from '../errors/index.ts'
import { atSlot, type NodeCalls, NodeRefusal } from '../nodes/node-call.ts'
import { askNode, nodeReason } from '../nodes/rpc-faults.ts'
import { readLatestBlockhash } from '../reads/rpc-reads.ts'
import { readStatuses } from '../reads/statuses.ts'
import { namesIn, requireValidSignatures } from './transactions.ts'

type SendingNode = NodeCalls & { cluster: Pick<Chain['cluster'], 'label'> }

interface Simulated {
  err: unknown
  logs: string[] | null
}

interface Preflight {
  /** Slot of the node's bank. */
  slot: number
  /** Whether the transaction has already landed by other means and need not be sent. */
  landed: boolean
}

/**
 * Whether a preflight checks the signatures, so that no separate check is needed. The embedded chain always does;
 * other nodes are not trusted with it.
 */
export const preflightChecksSignatures = ({ cluster }: Pick<Chain, 'cluster'>): boolean => cluster.kind === 'embedded'

/**
 * Simulates a signed transaction. Throws bad_request with the decoded program error (`details.error`) and the log when
 * it would fail, internal_error when the node fails.
 */
export async function preflight(node: SendingNode, transaction: DecodedTransaction, param: string): Promise<Preflight> {
  const options = { sigVerify: true, encoding: 'base64', commitment: 'confirmed' }
  const { slot, value } = await askNode('The preflight', async () => {
    try {
      return atSlot<Simulated>(await node.call('simulateTransaction', [base64Of(transaction), options]), isSimulated)
    } catch (error) {
      if (!isInvalid(error)) throw error
      // The node does not say whose signature is wrong.
      requireValidSignatures(transaction, param)
      throw badRequest(`${param}: ${nodeReason(error)}`, { param, cause: error })
    }
  })
  const { err, logs } = value
  if (err === null || err === undefined) return { slot, landed: false }
  // Agave before 3.1 refused the call instead of reporting it as the run's error; neither says whose signature it is.
  if (err === 'SignatureFailure') requireValidSignatures(transaction, param)
  if (err === 'AlreadyProcessed') return { slot, landed: true }
  // A validator checks the age of the blockhash first, and forgets processed transactions within minutes.
  if (err === 'BlockhashNotFound') {
    if (await isKnownTransaction(node, transaction)) return { slot, landed: true }
    await refuseStuckNode(node, transaction)
  }
  const error = explainTransactionError(err, { logs: logs ?? null, ...namesIn(transaction.message) })
  const { program, name, message, hint } = error
  const whole = [`${program === null ? '' : `${program}: `}${name}: ${message}`, ...(hint === null ? [] : [hint])]
  throw badRequest(`The transaction would fail, and was not sent. ${whole.join('; ')}`, {
    param,
    details: { error, err, logs: logs ?? [] },
  })
}

/**
 * Sends the bytes to the node, which forwards them unchecked and repeats that up to `maxRetries` times. Throws
 * internal_error when the node did not accept them.
 */
export async function broadcast(node: NodeCalls, raw: Uint8Array, maxRetries: number): Promise<void> {
  const options = { skipPreflight: true, maxRetries, encoding: 'base64' }
  await askNode('Sending the transaction', () =>
    node.call('sendTransaction', [Buffer.from(raw).toString('base64'), options]),
  )
}

const isSimulated = (value: unknown) => typeof value === 'object' && value !== null && 'err' in value
const base64Of = ({ raw }: DecodedTransaction) => Buffer.from(raw).toString('base64')

/**
 * Throws internal_error if the node itself shows that its blockhashes are stuck: the one that it does not accept is its
 * newest, or its newest one is over.
 */
async function refuseStuckNode(node: SendingNode, { message }: DecodedTransaction): Promise<void> {
  const [newest, height] = await Promise.all([
    readLatestBlockhash(node).catch(() => null),
    node.call<unknown>('getBlockHeight', [{ commitment: 'confirmed' }]).catch(() => null),
  ])
  if (newest === null) return
  const isOver = typeof height === 'number' && newest.lastValidBlockHeight < height
  if (newest.blockhash !== message.recentBlockhash && !isOver) return
  throw internal(
    `The RPC node of ${node.cluster.label} does not accept the newest blockhash that it hands out: it is stuck or behind. Nothing was sent. Send the same transaction again when the node has caught up, or build it again over another node (-u, SVC_URL, SVC_RPC_URLS)`,
  )
}

async function isKnownTransaction(node: NodeCalls, { signature }: DecodedTransaction): Promise<boolean> {
  const { statuses } = await readStatuses(node, [signature], true)
  return statuses[0] !== null
}

/** Errors of a validator about the transaction itself. A provider's own limits share their codes. */
const INVALID =
  /^(invalid transaction|failed to deserialize|transaction signature verification|transaction version|.*too large)/i
const isInvalid = (error: unknown): error is NodeRefusal => error instanceof NodeRefusal && INVALID.test(error.message)
