/** Implements simulateTransaction and the response data that preflight failures share with it. */

import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { TransactionRefused } from '../../solana/execution.ts'
import { loadAddresses, loadedCount } from '../../solana/lookup-tables.ts'
import type { LocalChain, SimulatedRun, SimulateOptions } from '../types.ts'
import { encodeAccount, viewOf } from './account-encoding.ts'
import { describeTransactionError } from './error-messages.ts'
import { CODE, invalidParams, invalidTransaction, RpcError } from './errors.ts'
import { type RpcMethods, readableAt, withContext } from './method.ts'
import { asBoolean, asConfig, asList, asPubkey, type RpcConfig, requireParams } from './params.ts'
import { encodeInnerInstructions, encodeReturnData, encodeTokenBalances } from './transaction-encoding.ts'
import { transactionParam, wireEncodingOf } from './wire-param.ts'

/** Errors with which a validator refuses to read a transaction at all (`sanitize_transaction` of Agave's rpc.rs). */
const UNREADABLE = new Set<unknown>([
  'SanitizeFailure',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
])

/** Throws -32602 for a refusal with which a validator does not read the transaction. */
export function throwIfUnreadable({ err }: TransactionRefused): void {
  if (UNREADABLE.has(err)) throw invalidTransaction(err)
}

/** A simulation that was refused before it ran. Signatures are checked first. */
type RefusedSimulation = Pick<SimulatedRun, 'err' | 'logs' | 'unitsConsumed' | 'returnData'> & { refused: true }

/** Simulates a transaction, or says why a validator would not run it. Throws RpcError for one that cannot be read. */
export function runSimulation(
  chain: LocalChain,
  raw: Uint8Array,
  options: SimulateOptions,
): SimulatedRun | RefusedSimulation {
  try {
    return chain.simulate(raw, options)
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    throwIfUnreadable(error)
    return refusedSimulation(error)
  }
}

/** Returns the simulation that a refused transaction would have had. */
export function refusedSimulation({ err, execution }: TransactionRefused): RefusedSimulation {
  const { logs, unitsConsumed, returnData } = execution ?? { logs: [], unitsConsumed: 0, returnData: null }
  return { refused: true, err, logs, unitsConsumed, returnData }
}

/** Encodes the error of sendTransaction for a transaction whose simulation failed; balances are not part of it. */
export function preflightFailure(run: SimulatedRun | RefusedSimulation): RpcError {
  const message = `Transaction simulation failed: ${describeTransactionError(run.err ?? 'CommitCancelled')}`
  return new RpcError(CODE.preflight, message, { ...NO_DETAILS, ...simulationAnswer(run) })
}

/** The members of a simulation's answer that a preflight failure has as null (rpc-client-types of Agave). */
const NO_DETAILS = {
  accounts: null,
  innerInstructions: null,
  loadedAddresses: null,
  postBalances: null,
  postTokenBalances: null,
  preBalances: null,
  preTokenBalances: null,
  replacementBlockhash: null,
}

function simulationAnswer(run: SimulatedRun | RefusedSimulation) {
  const { err, logs, returnData, unitsConsumed } = run
  const loaded = 'refused' in run ? { fee: null, size: 0 } : { fee: run.fee, size: run.loadedDataSize }
  return {
    err,
    fee: loaded.fee,
    loadedAccountsDataSize: loaded.size,
    logs,
    returnData: encodeReturnData(returnData),
    unitsConsumed,
  }
}

/** A refused run moves nothing; the answer to a wrong signature has no balances. */
function balancesAnswer(chain: LocalChain, run: SimulatedRun | RefusedSimulation, accountKeys: readonly string[]) {
  if (run.err === 'SignatureFailure') return {}
  const now = 'refused' in run || run.balances === null ? chain.balances(accountKeys) : null
  const { before, after } = now === null ? (run as Moved).balances : { before: now, after: now }
  return {
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: encodeTokenBalances(before.tokens),
    postTokenBalances: encodeTokenBalances(after.tokens),
  }
}

type Moved = { balances: NonNullable<SimulatedRun['balances']> }

function readRequestedAccounts(
  config: RpcConfig,
  keys: number,
): { addresses: string[]; view: ReturnType<typeof viewOf> } | null {
  if (config.accounts === undefined || config.accounts === null) return null
  const accounts = asConfig(config.accounts)
  const view = viewOf({ encoding: accounts.encoding }, 'base64')
  if (view.encoding === 'base58' || view.encoding === 'binary') throw invalidParams('base58 encoding not supported')
  const list = asList(accounts.addresses)
  if (list.length > keys) throw invalidParams(`Too many accounts provided; max ${keys}`)
  return { addresses: list.map(asPubkey), view }
}

function simulateByRpc(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const config = asConfig(params[1])
  const { raw, message } = transactionParam(params[0], wireEncodingOf(config.encoding))
  const sigVerify = asBoolean(config.sigVerify)
  const replaceRecentBlockhash = asBoolean(config.replaceRecentBlockhash)
  if (sigVerify && replaceRecentBlockhash) {
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
  }
  const commitment = readableAt(chain, config)
  const requested = readRequestedAccounts(config, message.keys.length + loadedCount(message))
  const accounts = requested?.addresses ?? []
  const withInner = asBoolean(config.innerInstructions)
  const run = runSimulation(chain, raw, { sigVerify, replaceRecentBlockhash, accounts, balances: true })
  const loadedAddresses = addressesLoadedBy(chain, message)
  const accountKeys = [...message.keys, ...loadedAddresses.writable, ...loadedAddresses.readonly]
  const ran = 'refused' in run ? null : run
  const states = accounts.map((address, i) => {
    const account = ran?.accounts[i]
    return requested && account ? encodeAccount(chain, [address, account], requested.view) : null
  })
  return withContext(chain, commitment, {
    ...NO_DETAILS,
    ...simulationAnswer(run),
    ...balancesAnswer(chain, run, accountKeys),
    accounts: requested && states,
    innerInstructions: withInner && ran ? encodeInnerInstructions(ran.innerInstructions, accountKeys, true) : null,
    loadedAddresses,
    replacementBlockhash: replaceRecentBlockhash ? (ran?.replacementBlockhash ?? chain.latestBlockhash()) : null,
  })
}

export const simulationMethods: RpcMethods = { simulateTransaction: simulateByRpc }

/** The simulation found the tables usable before this reads them again. */
const addressesLoadedBy = (chain: LocalChain, { lookups }: DecodedMessage) =>
  lookups.length === 0
    ? { writable: [], readonly: [] }
    : loadAddresses(lookups, chain.slot(), (address) => chain.account(address))
