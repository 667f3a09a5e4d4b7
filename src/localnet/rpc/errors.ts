/** JSON-RPC errors with the codes and messages of an Agave validator. */
import type { TransactionErrorJson } from '../../solana/execution.ts'
import { describeTransactionError } from './error-messages.ts'

/** Codes of JSON-RPC 2.0 and of Agave's rpc-client-api custom_error.rs. */
export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  preflight: -32002,
  blockCleanedUp: -32001,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  noSnapshot: -32008,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
} as const

/** A response with `error`; the message is written for the client. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const invalidParams = (message: string): RpcError => new RpcError(CODE.invalidParams, message)

export const minContextSlotNotReached = (slot: number): RpcError =>
  new RpcError(CODE.minContextSlot, 'Minimum context slot has not been reached', { contextSlot: slot })

export const blockNotAvailable = (slot: number | bigint): RpcError =>
  new RpcError(CODE.blockNotAvailable, `Block not available for slot ${slot}`)

/** Creates Agave's error for a slot before the first that a node has. */
export const blockCleanedUp = (slot: number | bigint, first: number): RpcError =>
  new RpcError(CODE.blockCleanedUp, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`)

/** Creates Agave's error for a transaction that cannot be sanitized. */
export const invalidTransaction = (err: TransactionErrorJson): RpcError =>
  invalidParams(`invalid transaction: ${describeTransactionError(err)}`)

export const unsupportedTransactionVersion = (version: number): RpcError =>
  new RpcError(
    CODE.unsupportedVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
