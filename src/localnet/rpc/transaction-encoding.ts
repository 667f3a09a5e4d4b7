/** Encodes landed transactions in the encodings of JSON-RPC. */

import { base58 } from '@scure/base'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import type { InnerInstructions, TokenBalance, TransactionErrorJson } from '../../solana/execution.ts'
import { encodeBase58 } from '../../solana/long-base58.ts'
import { type DecodedTransaction, decodeWireTransaction, isWritable } from '../../solana/messages.ts'
import { isLoadingError } from '../fees-only.ts'
import type { LandedTransaction } from '../types.ts'
import { uiTokenAmount } from './account-encoding.ts'
import { invalidParams, unsupportedTransactionVersion } from './errors.ts'
import { parseInstruction } from './instructions.ts'
import { asInteger, oneOf, type RpcConfig } from './params.ts'

type TransactionEncoding = 'binary' | 'base58' | 'base64' | 'json' | 'jsonParsed'
const TRANSACTION_ENCODINGS: Readonly<Record<TransactionEncoding, TransactionEncoding>> = {
  binary: 'binary',
  base64: 'base64',
  base58: 'base58',
  json: 'json',
  jsonParsed: 'jsonParsed',
}

interface TransactionView {
  encoding: TransactionEncoding
  /** Highest version that the client supports; null means legacy only, and then responses have no `version`. */
  maxVersion: number | null
}

/** Highest number of a version, which is a u8. */
const MAX_VERSION = 255

/**
 * Reads `encoding` and `maxSupportedTransactionVersion` of a config. Throws -32602 for base58 from version 1 on, which
 * a validator always refuses (pull request 15039 of anza-xyz/agave).
 */
export function transactionViewOf(config: RpcConfig): TransactionView {
  const { encoding: name, maxSupportedTransactionVersion: version } = config
  const encoding = name === undefined || name === null ? 'json' : oneOf(name, TRANSACTION_ENCODINGS)
  const maxVersion = version === undefined || version === null ? null : asInteger(version)
  if (maxVersion !== null && maxVersion > MAX_VERSION) {
    throw invalidParams(`Invalid params: invalid value: integer \`${maxVersion}\`, expected u8.`)
  }
  if (maxVersion !== null && maxVersion >= 1 && (encoding === 'base58' || encoding === 'binary')) {
    throw invalidParams('base58 encoding is not supported with maxSupportedTransactionVersion >= 1')
  }
  return { encoding, maxVersion }
}

export const encodedStatus = (err: TransactionErrorJson | null): object => (err === null ? { Ok: null } : { Err: err })

function compiled(message: DecodedMessage) {
  return message.instructions.map(({ programIdIndex, accounts, data }) => ({
    programIdIndex,
    accounts: [...accounts],
    data: encodeBase58(data),
    stackHeight: 1,
  }))
}

/** The parts of a message besides its keys and instructions, which depend on its version. */
function versionedPartsOf(message: DecodedMessage) {
  const { version, lookups, config } = message
  if (version === 'legacy') return {}
  if (config !== null) {
    const { priorityFeeLamports: priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } = config
    return { transactionConfig: { priorityFee, computeUnitLimit, loadedAccountsDataSizeLimit, heapSize } }
  }
  return {
    addressTableLookups: lookups.map(({ table, writable, readonly }) => ({
      accountKey: table,
      writableIndexes: [...writable],
      readonlyIndexes: [...readonly],
    })),
  }
}

function jsonMessage(message: DecodedMessage) {
  return {
    header: {
      numRequiredSignatures: message.signers,
      numReadonlySignedAccounts: message.readonlySigners,
      numReadonlyUnsignedAccounts: message.readonlyOthers,
    },
    accountKeys: message.keys,
    recentBlockhash: message.recentBlockhash,
    instructions: compiled(message),
    ...versionedPartsOf(message),
  }
}

/** Returns the keys with their roles; called programs are never writable, whatever the header says. */
function parsedKeys(message: DecodedMessage, keys: readonly string[]) {
  const called = new Set(message.instructions.map(({ programIdIndex }) => programIdIndex))
  const loadedWritable = message.lookups.reduce((sum, { writable }) => sum + writable.length, 0)
  return keys.map((pubkey, index) => ({
    pubkey,
    signer: index < message.signers,
    writable: isWritable(message, loadedWritable, index) && !called.has(index),
    source: index < message.keys.length ? 'transaction' : 'lookupTable',
  }))
}

function parsedMessage(message: DecodedMessage, keys: readonly string[]) {
  return {
    accountKeys: parsedKeys(message, keys),
    recentBlockhash: message.recentBlockhash,
    instructions: message.instructions.map((instruction) => parseInstruction(instruction, keys)),
    ...versionedPartsOf(message),
  }
}

const base64Data = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

const signaturesOf = ({ signatures }: DecodedTransaction): string[] => signatures.map((bytes) => base58.encode(bytes))

function encodeWire(wire: DecodedTransaction, transaction: LandedTransaction, encoding: TransactionEncoding): unknown {
  switch (encoding) {
    case 'binary':
      return base58.encode(transaction.raw)
    case 'base58':
      return [base58.encode(transaction.raw), encoding]
    case 'base64':
      return [base64Data(transaction.raw), encoding]
    case 'json':
      return { signatures: signaturesOf(wire), message: jsonMessage(wire.message) }
    case 'jsonParsed':
      return { signatures: signaturesOf(wire), message: parsedMessage(wire.message, transaction.accountKeys) }
  }
}

/** Encodes inner instructions, either compiled or parsed with the transaction's keys. */
export function encodeInnerInstructions(inner: readonly InnerInstructions[], keys: readonly string[], parsed: boolean) {
  return inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((instruction) =>
      parsed ? parseInstruction(instruction, keys) : { ...instruction, data: encodeBase58(instruction.data) },
    ),
  }))
}

/** Encodes token balances as getTransaction and simulateTransaction answer them. */
export function encodeTokenBalances(balances: readonly TokenBalance[]) {
  return balances.map(({ accountIndex, mint, owner, programId, amount, decimals }) => {
    const uiAmount = uiTokenAmount(amount, decimals)
    // History stores a zero balance without `uiAmount`, and a validator returns it as null.
    const shown = amount === 0n ? { ...uiAmount, uiAmount: null } : uiAmount
    return { accountIndex, mint, owner, programId, uiTokenAmount: shown }
  })
}

export function encodeReturnData(returnData: LandedTransaction['returnData']) {
  return returnData && { programId: returnData.programId, data: [base64Data(returnData.data), 'base64'] }
}

function balancesOf(transaction: LandedTransaction) {
  return {
    err: transaction.err,
    status: encodedStatus(transaction.err),
    fee: transaction.fee,
    preBalances: transaction.preBalances,
    postBalances: transaction.postBalances,
    preTokenBalances: encodeTokenBalances(transaction.preTokenBalances),
    postTokenBalances: encodeTokenBalances(transaction.postTokenBalances),
  }
}

function metaOf(transaction: LandedTransaction, encoding: TransactionEncoding) {
  const parsed = encoding === 'jsonParsed'
  const { err, innerInstructions, accountKeys, logs } = transaction
  const returnData = encodeReturnData(transaction.returnData)
  // Nothing is recorded for a transaction that could not be loaded.
  const recorded = !isLoadingError(err)
  return {
    ...balancesOf(transaction),
    innerInstructions: recorded ? encodeInnerInstructions(innerInstructions, accountKeys, parsed) : null,
    logMessages: recorded ? logs : null,
    rewards: [],
    ...(!parsed && { loadedAddresses: transaction.loadedAddresses }),
    ...(returnData && { returnData }),
    computeUnitsConsumed: transaction.unitsConsumed,
  }
}

/**
 * Returns the version for the response; it is empty if the client set no maximum. Throws -32015 for an unsupported
 * version.
 */
function versionOf({ version }: DecodedMessage, maxVersion: number | null): { version?: 'legacy' | number } {
  if (version !== 'legacy' && (maxVersion === null || version > maxVersion))
    throw unsupportedTransactionVersion(version)
  return maxVersion === null ? {} : { version }
}

/** Encodes `{ transaction, meta, version? }` of getTransaction and getBlock. Throws -32015. */
export function encodeTransaction(transaction: LandedTransaction, { encoding, maxVersion }: TransactionView) {
  const wire = decodeWireTransaction(transaction.raw)
  const version = versionOf(wire.message, maxVersion)
  return { transaction: encodeWire(wire, transaction, encoding), meta: metaOf(transaction, encoding), ...version }
}

/** Encodes a transaction with accounts only, for `transactionDetails: "accounts"`. Throws -32015. */
export function encodeTransactionAccounts(transaction: LandedTransaction, { maxVersion }: TransactionView) {
  const wire = decodeWireTransaction(transaction.raw)
  const { message } = wire
  const version = versionOf(message, maxVersion)
  const accountKeys = parsedKeys(message, transaction.accountKeys)
  return { transaction: { signatures: signaturesOf(wire), accountKeys }, meta: balancesOf(transaction), ...version }
}
