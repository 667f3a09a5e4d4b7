/** Methods that read blocks. Every slot up to the current one has a block, even without transactions. */

import { COMMITMENT_DEPTH } from '../../solana/constants.ts'
import { GENESIS_SLOT } from '../clock.ts'
import type { LocalChain } from '../types.ts'
import { CODE, invalidParams, RpcError } from './errors.ts'
import type { RpcMethods } from './method.ts'
import { asBoolean, asConfig, asInteger, oneOf, requireParams } from './params.ts'
import { encodeTransaction, encodeTransactionAccounts, transactionViewOf } from './transaction-encoding.ts'
import { configOrEncoding, historyCommitment } from './transactions.ts'

/** Maximum range in slots, as in Agave's MAX_GET_CONFIRMED_BLOCKS_RANGE. */
const MAX_RANGE = 500_000

type BlockDetails = 'full' | 'accounts' | 'signatures' | 'none'
const DETAILS: Readonly<Record<BlockDetails, BlockDetails>> = {
  full: 'full',
  signatures: 'signatures',
  none: 'none',
  accounts: 'accounts',
}

function block(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const slot = asInteger(params[0])
  const config = configOrEncoding(params[1])
  const view = transactionViewOf(config)
  const details = config.transactionDetails ?? 'full'
  const shown = oneOf(details, DETAILS)
  if (slot > chain.slot(historyCommitment(chain, config))) {
    throw new RpcError(CODE.blockNotAvailable, `Block not available for slot ${slot}`)
  }
  const parentSlot = Math.max(slot - 1, GENESIS_SLOT)
  const landed = shown === 'none' ? [] : chain.transactionsInSlot(slot)
  return {
    blockHeight: slot,
    blockTime: chain.blockTime(slot),
    blockhash: chain.blockhashOf(slot),
    parentSlot,
    previousBlockhash: chain.blockhashOf(parentSlot),
    ...(shown === 'full' && { transactions: landed.map((transaction) => encodeTransaction(transaction, view)) }),
    ...(shown === 'accounts' && { transactions: landed.map((one) => encodeTransactionAccounts(one, view)) }),
    ...(shown === 'signatures' && { signatures: landed.map(({ signature }) => signature) }),
    ...(asBoolean(config.rewards, true) && { rewards: [] }),
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}

function blocks(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const from = asInteger(params[0])
  const hasEnd = typeof params[1] === 'number' || typeof params[1] === 'bigint'
  const newest = chain.slot(historyCommitment(chain, asConfig(hasEnd ? params[2] : (params[2] ?? params[1]))))
  const to = Math.min(newest, hasEnd ? asInteger(params[1]) : from + MAX_RANGE)
  if (to - from > MAX_RANGE) throw invalidParams(`Slot range too large; max ${MAX_RANGE}`)
  return range(Math.max(from, GENESIS_SLOT), to)
}

function blocksWithLimit(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 2)
  const from = asInteger(params[0])
  const limit = asInteger(params[1])
  if (limit > MAX_RANGE) throw invalidParams(`Limit too large; max ${MAX_RANGE}`)
  const first = Math.max(from, GENESIS_SLOT)
  return range(first, Math.min(first + limit - 1, chain.slot(historyCommitment(chain, asConfig(params[2])))))
}

function blockTime(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const slot = asInteger(params[0])
  if (slot > chain.slot()) throw new RpcError(CODE.blockNotAvailable, `Block not available for slot ${slot}`)
  return chain.blockTime(slot)
}

/** The embedded chain has no votes: a slot's commitment depends on its depth only. */
function blockCommitment(_: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  asInteger(params[0])
  return { commitment: null, totalStake: 0 }
}

export const blockMethods: RpcMethods = {
  getBlock: block,
  getBlockCommitment: blockCommitment,
  getBlocks: blocks,
  getBlocksWithLimit: blocksWithLimit,
  getBlockTime: blockTime,
  // On a new chain the finalized commitment is still before the first slot.
  getFirstAvailableBlock: () => GENESIS_SLOT - COMMITMENT_DEPTH.finalized,
  minimumLedgerSlot: () => GENESIS_SLOT,
}
