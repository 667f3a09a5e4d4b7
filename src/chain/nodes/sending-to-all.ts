/** Sends a transaction: the same bytes to every endpoint that takes them, with a preflight on one if requested. */
import { withTimeout } from '../../platform/timing.ts'
import { decodeOnce } from '../../solana/messages.ts'
import { attempt, type PoolCore } from './attempt.ts'
import type { PoolEndpoint } from './endpoint.ts'
import type { Membership } from './membership.ts'
import { isRecord, type NodeRequest, nodeRequest } from './node-request.ts'
import { CALL_MS, inRounds, readFromPool, type Tried } from './reading.ts'
import type { AnswerVerdict } from './verdict.ts'

/**
 * Resolves as soon as one endpoint has taken the bytes; the others continue in the background. Throws internal_error if
 * none took them. Nothing is signed here: a retry sends the same bytes.
 */
export async function sendToPool(
  core: PoolCore,
  members: Membership,
  request: NodeRequest,
  key: string,
): Promise<string> {
  const signature = signatureOf(request)
  if (isRecord(request.params[1]) && request.params[1].skipPreflight === true) {
    return (await sendToAll(core, members, request, { key, signature })).text
  }
  const first = await readFromPool(core, members, request, key)
  if (first.isError) return isProcessed(first.text) ? taken(request, signature) : first.text
  // One successful preflight is enough; the answers of the others are not awaited.
  void sendToAll(core, members, withoutPreflight(request), { key, signature }).catch(() => undefined)
  return first.text
}

interface Sending {
  key: string
  signature: string | undefined
}

function sendToAll(core: PoolCore, members: Membership, request: NodeRequest, { key, signature }: Sending) {
  return inRounds(core, async () => {
    const targets = await members.takers(key)
    const outcome = await firstTaken(core, targets, request, signature)
    if (outcome.isTaken) return { text: taken(request, signature, outcome.text), isError: false }
    const [refusal] = outcome.refusals
    if (refusal !== undefined) return { text: refusal, isError: true }
    return { tried: outcome.tried, isSettled: false }
  })
}

interface Outcome {
  isTaken: boolean
  text: string
  /** Errors that blame the transaction; an endpoint that takes it outweighs them. */
  refusals: readonly string[]
  tried: readonly Tried[]
}

function firstTaken(
  core: PoolCore,
  targets: readonly PoolEndpoint[],
  request: NodeRequest,
  signature: string | undefined,
): Promise<Outcome> {
  const refusals: string[] = []
  const tried: Tried[] = []
  return new Promise((resolve) => {
    let left = targets.length
    const ended = (isTaken: boolean, text = '') => {
      if (isTaken || left === 0) resolve({ isTaken, text, refusals, tried })
    }
    ended(false)
    for (const endpoint of targets) {
      // Each endpoint has its own time limit, even after another one has taken the bytes.
      void withTimeout(CALL_MS / 2, core.ending, (signal) => attempt(core, endpoint, request, signal))
        .catch((error: Error): AnswerVerdict => ({ kind: 'elsewhere', blame: 'failed', reason: error.message }))
        .then((verdict) => {
          left--
          if (verdict.kind === 'elsewhere') tried.push({ endpoint, verdict })
          else if (!verdict.isError && isOwn(verdict.result, signature)) return ended(true, verdict.text)
          else if (verdict.isError && isProcessed(verdict.text)) return ended(true)
          else if (verdict.isError) refusals.push(verdict.text)
          else endpoint.failed('it answers the signature of another transaction', core.elapsed())
          ended(false)
        })
    }
  })
}

const isOwn = (result: unknown, signature: string | undefined) =>
  typeof result === 'string' && (signature === undefined || result === signature)

/** The answer of the endpoint that took it, or the same answer for a transaction that has already landed. */
const taken = ({ id }: NodeRequest, signature: string | undefined, text = '') =>
  text === '' ? JSON.stringify({ jsonrpc: '2.0', id, result: signature }) : text

/** Whether the error says that the transaction is already in the chain, so the sender's aim is reached. */
function isProcessed(text: string): boolean {
  const { error } = JSON.parse(text) as { error?: { message?: unknown; data?: unknown } }
  const data = isRecord(error?.data) ? error.data.err : undefined
  return data === 'AlreadyProcessed' || /already (?:been )?processed/i.test(String(error?.message))
}

function withoutPreflight({ params, id }: NodeRequest): NodeRequest {
  const config = isRecord(params[1]) ? params[1] : {}
  const sent = [params[0], { ...config, skipPreflight: true }]
  return nodeRequest(JSON.stringify({ jsonrpc: '2.0', id, method: 'sendTransaction', params: sent }))
}

/** The signature that identifies the transaction; undefined if the bytes are not base64 of a transaction. */
function signatureOf({ params }: NodeRequest): string | undefined {
  const [bytes, config] = params
  if (typeof bytes !== 'string' || !isRecord(config) || config.encoding !== 'base64') return undefined
  try {
    return decodeOnce(Buffer.from(bytes, 'base64')).signature
  } catch {
    return undefined
  }
}
