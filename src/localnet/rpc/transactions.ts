/** Methods that read history by signature or address. */

import type { Commitment } from '../../solana/constants.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { MEMO_PROGRAMS } from '../../solana/token-programs.ts'
import type { LandedTransaction, LocalChain, TransactionLanding } from '../types.ts'
import { invalidParams } from './errors.ts'
import { type RpcMethods, readableAt, requireMinContextSlot, withContext } from './method.ts'
import {
  asBoolean,
  asConfig,
  asInteger,
  asList,
  asPubkey,
  asSignature,
  type RpcConfig,
  requireParams,
} from './params.ts'
import { encodedStatus, encodeTransaction, transactionViewOf } from './transaction-encoding.ts'

const MAX_STATUSES = 256
const MAX_SIGNATURES = 1000
/** Slots after finality for which a node returns a status without searching its history (Agave's status cache). */
const RECENT_SLOTS = 300

/** Returns the commitment that a slot has reached; null before `processed`. */
export function commitmentReached(chain: LocalChain, slot: number): Commitment | null {
  if (slot <= chain.slot('finalized')) return 'finalized'
  if (slot <= chain.slot('confirmed')) return 'confirmed'
  return slot <= chain.slot('processed') ? 'processed' : null
}

/** Returns the commitment for a history request; history is not served below `confirmed`. */
export function historyCommitment(chain: LocalChain, config: RpcConfig): Commitment {
  const commitment = readableAt(chain, config)
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  return commitment
}

function signatureStatus(chain: LocalChain, transaction: TransactionLanding | null, searched: boolean) {
  if (!transaction) return null
  const { slot, err } = transaction
  // Clients such as web3.js throw for an error that they see before the notification of its signature, which comes when
  // the slot is over. On a validator nobody sees it earlier.
  if (err !== null && slot >= chain.slot()) return null
  if (!searched && slot < chain.slot('finalized') - RECENT_SLOTS) return null
  const confirmationStatus = commitmentReached(chain, slot) ?? 'processed'
  const confirmations = confirmationStatus === 'finalized' ? null : chain.slot() - slot
  return { slot, confirmations, status: encodedStatus(err), err, confirmationStatus }
}

function signatureStatuses(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const list = asList(params[0])
  if (list.length > MAX_STATUSES) throw invalidParams(`Too many inputs provided; max ${MAX_STATUSES}`)
  const signatures = list.map(asSignature)
  const config = asConfig(params[1])
  const searched = asBoolean(config.searchTransactionHistory)
  requireMinContextSlot(chain, config, 'processed')
  const value = signatures.map((signature) => signatureStatus(chain, chain.landingOf(signature), searched))
  return withContext(chain, 'processed', value)
}

/** Returns the memos of a transaction as history lists them: `[length] text`, joined by `; `. */
function memoText(transaction: LandedTransaction | null): string | null {
  if (!transaction?.accountKeys.some((key) => MEMO_PROGRAMS.includes(key))) return null
  const { message } = decodeWireTransaction(transaction.raw)
  const memos = message.instructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.includes(transaction.accountKeys[programIdIndex] ?? ''))
    .map(({ data }) => `[${data.length}] ${new TextDecoder().decode(data)}`)
  return memos.length > 0 ? memos.join('; ') : null
}

function signaturesForAddress(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const config = asConfig(params[1])
  const limit = config.limit === undefined || config.limit === null ? MAX_SIGNATURES : asInteger(config.limit)
  if (limit === 0 || limit > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`)
  const bounds = {
    ...(typeof config.before === 'string' && { before: asSignature(config.before) }),
    ...(typeof config.until === 'string' && { until: asSignature(config.until) }),
  }
  const newest = chain.slot(historyCommitment(chain, config))
  return visibleSignatures(chain, address, { ...bounds, limit }, newest).map(({ signature, slot, err, blockTime }) => ({
    signature,
    slot,
    err,
    memo: memoText(chain.transaction(signature)),
    blockTime,
    confirmationStatus: commitmentReached(chain, slot) ?? 'processed',
  }))
}

/**
 * Returns a page of signatures. It skips those too recent for the commitment and continues, so that the page can still
 * be full.
 */
function visibleSignatures(
  chain: LocalChain,
  address: string,
  options: { limit: number; before?: string; until?: string },
  newest: number,
) {
  const visible: ReturnType<LocalChain['signaturesFor']> = []
  for (let before = options.before; ; ) {
    const page = chain.signaturesFor(address, { ...options, ...(before && { before }) })
    for (const info of page) if (info.slot <= newest && visible.length < options.limit) visible.push(info)
    before = page.at(-1)?.signature
    if (page.length < options.limit || visible.length >= options.limit) return visible
  }
}

/** Reads the config. Old clients pass the encoding alone instead of a config. */
export const configOrEncoding = (value: unknown): RpcConfig =>
  typeof value === 'string' ? { encoding: value } : asConfig(value)

function transactionAnswer(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const signature = asSignature(params[0])
  const config = configOrEncoding(params[1])
  const view = transactionViewOf(config)
  const newest = chain.slot(historyCommitment(chain, config))
  const landed = chain.transaction(signature)
  if (!landed || landed.slot > newest) return null
  return { slot: landed.slot, ...encodeTransaction(landed, view), blockTime: landed.blockTime }
}

export const transactionMethods: RpcMethods = {
  getSignatureStatuses: signatureStatuses,
  getSignaturesForAddress: signaturesForAddress,
  getTransaction: transactionAnswer,
  getTransactionCount: (chain, params) => {
    readableAt(chain, asConfig(params[0]))
    return chain.transactionCount()
  },
}
