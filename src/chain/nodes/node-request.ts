/** A JSON-RPC request as the pool of endpoints sees it: its method, commitment and lowest slot. */
import type { Commitment } from '../../solana/constants.ts'

export interface NodeRequest {
  /** The method; that of a batch is `batch`. */
  method: string
  params: readonly unknown[]
  /** Commitment of the bank that answers. */
  commitment: Commitment
  /** The JSON-RPC id, which an answer repeats. */
  id: unknown
  body: string
}

const COMMITMENTS: readonly unknown[] = ['processed', 'confirmed', 'finalized'] satisfies Commitment[]

/** Reads a request's body. One that is not a single call is passed on unchanged. */
export function nodeRequest(body: string): NodeRequest {
  const opaque: NodeRequest = { method: 'batch', params: [], commitment: 'finalized', id: null, body }
  let call: { method?: unknown; params?: unknown; id?: unknown }
  try {
    call = JSON.parse(body)
  } catch {
    return opaque
  }
  if (typeof call !== 'object' || call === null || typeof call.method !== 'string') return opaque
  const params: unknown[] = Array.isArray(call.params) ? call.params : []
  return { method: call.method, params, commitment: commitmentOf(call.method, params), id: call.id, body }
}

/** Validators read at `finalized` by default; statuses come from the newest bank (Agave, rpc.rs). */
function commitmentOf(method: string, params: readonly unknown[]): Commitment {
  if (method === 'getSignatureStatuses') return 'processed'
  const asked = params
    .map((param) => (isRecord(param) ? param.commitment : param))
    .find((it) => COMMITMENTS.includes(it))
  return (asked as Commitment | undefined) ?? 'finalized'
}

/** Returns params that ask for `finalized` where they asked for `confirmed`, or the same ones. */
export function withFinalized(params: readonly unknown[]): readonly unknown[] {
  const at = params.findIndex((param) => isRecord(param) && param.commitment === 'confirmed')
  return at === -1 ? params : params.with(at, { ...(params[at] as object), commitment: 'finalized' })
}

/** The same request in the terms of Alpenglow, where `confirmed` and `finalized` name the same block. */
export function inAlpenglowTerms(request: NodeRequest): NodeRequest {
  const params = withFinalized(request.params)
  if (params === request.params) return request
  const body = JSON.stringify({ ...(JSON.parse(request.body) as object), params })
  return { ...request, params, commitment: 'finalized', body }
}

/**
 * Place of the configuration in the parameters of methods whose answer names no slot. Only the node can tell whether
 * it is far enough (`minContextSlot`, in Agave's RpcContextConfig and similar).
 */
const CONFIG_AT: Readonly<Record<string, number>> = {
  getBlockHeight: 0,
  getTransactionCount: 0,
  getProgramAccounts: 1,
  getSignaturesForAddress: 1,
}

/** Returns the body with the lowest slot that may answer, if it is known and the method takes one. */
export function bodyFromSlot(request: NodeRequest, slot: number): string {
  const at = Object.hasOwn(CONFIG_AT, request.method) ? CONFIG_AT[request.method] : undefined
  if (at === undefined || slot <= 0) return request.body
  const config = request.params[at] ?? {}
  if (!isRecord(config) || request.params.length < at) return request.body
  const asked = typeof config.minContextSlot === 'number' ? config.minContextSlot : 0
  const params = [...request.params]
  params[at] = { ...config, minContextSlot: Math.max(asked, slot) }
  return JSON.stringify({ ...(JSON.parse(request.body) as object), params })
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
