/** Converts landed transactions to rows of the journal and back; fields contained in the wire format are not stored twice. */
import { base58 } from '@scure/base'
import type { InnerInstructions, TokenBalance, TransactionErrorJson } from '../solana/execution.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import type { LandedTransaction } from './types.ts'

export interface TransactionRow {
  seq: number
  signature: Buffer
  slot: number
  place: number
  block_time: number
  unit_price: number
  err: string | null
  raw: Buffer
  meta: string
}

type TokenBalanceRow = [
  accountIndex: number,
  mint: string,
  owner: string,
  programId: string,
  amount: string,
  decimals: number,
]
type InnerRow = [programIdIndex: number, accounts: number[], data: string, stackHeight: number]

interface TransactionMeta {
  fee: string
  units: number
  logs: string[]
  pre: string[]
  post: string[]
  preTokens?: TokenBalanceRow[]
  postTokens?: TokenBalanceRow[]
  inner?: [index: number, instructions: InnerRow[]][]
  returned?: [programId: string, data: string]
  loaded?: { writable: string[]; readonly: string[] }
}

export function encodeMeta(transaction: LandedTransaction): string {
  const { preTokenBalances, postTokenBalances, innerInstructions, returnData, loadedAddresses } = transaction
  const meta: TransactionMeta = {
    fee: transaction.fee.toString(),
    units: transaction.unitsConsumed,
    logs: transaction.logs,
    pre: transaction.preBalances.map(String),
    post: transaction.postBalances.map(String),
  }
  if (preTokenBalances.length > 0) meta.preTokens = preTokenBalances.map(toTokenRow)
  if (postTokenBalances.length > 0) meta.postTokens = postTokenBalances.map(toTokenRow)
  if (innerInstructions.length > 0) meta.inner = innerInstructions.map(toInnerRow)
  if (returnData !== null) meta.returned = [returnData.programId, toBase64(returnData.data)]
  if (loadedAddresses.writable.length + loadedAddresses.readonly.length > 0) meta.loaded = loadedAddresses
  return JSON.stringify(meta)
}

export function transactionFromRow(row: TransactionRow): LandedTransaction {
  const meta: TransactionMeta = JSON.parse(row.meta)
  const err: TransactionErrorJson | null = row.err === null ? null : JSON.parse(row.err)
  const loadedAddresses = meta.loaded ?? { writable: [], readonly: [] }
  const { message } = decodeWireTransaction(row.raw)
  return {
    signature: base58.encode(row.signature),
    slot: row.slot,
    index: row.place,
    blockTime: row.block_time,
    raw: new Uint8Array(row.raw),
    err,
    fee: BigInt(meta.fee),
    unitsConsumed: meta.units,
    logs: meta.logs,
    accountKeys: [...message.keys, ...loadedAddresses.writable, ...loadedAddresses.readonly],
    loadedAddresses,
    preBalances: meta.pre.map(BigInt),
    postBalances: meta.post.map(BigInt),
    preTokenBalances: (meta.preTokens ?? []).map(fromTokenRow),
    postTokenBalances: (meta.postTokens ?? []).map(fromTokenRow),
    innerInstructions: (meta.inner ?? []).map(fromInnerRow),
    returnData:
      meta.returned === undefined ? null : { programId: meta.returned[0], data: fromBase64(meta.returned[1]) },
  }
}

function toTokenRow({ accountIndex, mint, owner, programId, amount, decimals }: TokenBalance): TokenBalanceRow {
  return [accountIndex, mint, owner, programId, amount.toString(), decimals]
}

function fromTokenRow([accountIndex, mint, owner, programId, amount, decimals]: TokenBalanceRow): TokenBalance {
  return { accountIndex, mint, owner, programId, amount: BigInt(amount), decimals }
}

function toInnerRow({ index, instructions }: InnerInstructions): [number, InnerRow[]] {
  return [
    index,
    instructions.map((inner) => [inner.programIdIndex, inner.accounts, toBase64(inner.data), inner.stackHeight]),
  ]
}

function fromInnerRow([index, instructions]: [number, InnerRow[]]): InnerInstructions {
  return {
    index,
    instructions: instructions.map(([programIdIndex, accounts, data, stackHeight]) => ({
      programIdIndex,
      accounts,
      data: fromBase64(data),
      stackHeight,
    })),
  }
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
