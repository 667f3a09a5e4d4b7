/** Methods that read blocks. Every slot up to the current one has a block, even without transactions. */

import { GENESIS_SLOT } from '../clock.ts'
import type { LocalChain } from '../types.ts'
import { blockCleanedUp, blockNotAvailable, invalidParams } from './errors.ts'
import type { RpcMethods } from './method.ts'
import { asAmount, asBoolean, asBoundedInteger, asConfig, oneOf, requireParams } from './params.ts'
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
  const asked = asAmount(params[0])
  const config = configOrEncoding(params[1])
  const view = transactionViewOf(config)
  const details = config.transactionDetails ?? 'full'
  const shown = oneOf(details, DETAILS)
  const slot = servedSlot(asked, chain.slot(historyCommitment(chain, config)))
  // The parent of the first block is not served, as on a node that began with a snapshot.
  const parentSlot = slot - 1
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

/** Returns a slot that has a block up to `newest`. Throws -32001 or -32004 as a validator does. */
function servedSlot(slot: bigint, newest: number): number {
  if (slot > BigInt(newest)) throw blockNotAvailable(slot)
  if (slot < BigInt(GENESIS_SLOT)) throw blockCleanedUp(slot, GENESIS_SLOT)
  return Number(slot)
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}

function blocks(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const from = asBoundedInteger(params[0])
  const hasEnd = typeof params[1] === 'number' || typeof params[1] === 'bigint'
  const newest = chain.slot(historyCommitment(chain, asConfig(hasEnd ? params[2] : (params[2] ?? params[1]))))
  const to = Math.min(newest, hasEnd ? asBoundedInteger(params[1]) : from + MAX_RANGE)
  if (to - from > MAX_RANGE) throw invalidParams(`Slot range too large; max ${MAX_RANGE}`)
  return range(Math.max(from, GENESIS_SLOT), to)
}

function blocksWithLimit(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 2)
  const from = asBoundedInteger(params[0])
  const limit = asBoundedInteger(params[1])
  if (limit > MAX_RANGE) throw invalidParams(`Limit too large; max ${MAX_RANGE}`)
  const first = Math.max(from, GENESIS_SLOT)
  return range(first, Math.min(first + limit - 1, chain.slot(historyCommitment(chain, asConfig(params[2])))))
}

function blockTime(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const slot = asAmount(params[0])
  // A validator answers for slot 0 with the time at which its chain was made.
  return chain.blockTime(slot === 0n ? GENESIS_SLOT : servedSlot(slot, chain.slot()))
}

export const blockMethods: RpcMethods = {
  getBlock: block,
  getBlocks: blocks,
  getBlocksWithLimit: blocksWithLimit,
  getBlockTime: blockTime,
  getFirstAvailableBlock: () => GENESIS_SLOT,
  minimumLedgerSlot: () => GENESIS_SLOT,
}
