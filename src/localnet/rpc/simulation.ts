/** Implements simulateTransaction and the response data that preflight failures share with it. */

import { TransactionRefused } from '../../solana/execution.ts'
import { loadAddresses } from '../../solana/lookup-tables.ts'
import type { DecodedMessage } from '../../solana/messages.ts'
import type { LocalChain, SimulatedRun, SimulateOptions } from '../types.ts'
import { encodeAccount, viewOf } from './account-encoding.ts'
import { invalidParams, invalidTransaction, signatureVerificationFailure } from './errors.ts'
import { type RpcMethods, readableAt, withContext } from './method.ts'
import { asBoolean, asConfig, asList, asPubkey, type RpcConfig, requireParams } from './params.ts'
import { encodeInnerInstructions, encodeReturnData } from './transaction-encoding.ts'
import { transactionParam, wireEncodingOf } from './wire-param.ts'

/**
 * Simulates a transaction. If a validator refuses it before execution, throws RpcError or returns a simulation with its
 * `err`.
 */
export function runSimulation(chain: LocalChain, raw: Uint8Array, options: SimulateOptions): SimulatedRun {
  try {
    const simulation = chain.simulate(raw, options)
    if (simulation.err === 'SignatureFailure') throw signatureVerificationFailure()
    return simulation
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error
    if (error.err === 'SignatureFailure') throw signatureVerificationFailure()
    if (error.err === 'SanitizeFailure') throw invalidTransaction(error.err)
    const nothing = { logs: [], unitsConsumed: 0, returnData: null, innerInstructions: [] }
    return { ...nothing, ...error.execution, err: error.err, accounts: [], replacementBlockhash: null }
  }
}

interface SimulationOptions {
  accounts?: unknown[] | null
  innerInstructions?: object[] | null
}

/** Returns the `value` of simulateTransaction and the `data` of a preflight failure. */
export function simulationAnswer(simulation: SimulatedRun, options: SimulationOptions) {
  return {
    accounts: options.accounts ?? null,
    err: simulation.err,
    innerInstructions: options.innerInstructions ?? null,
    loadedAccountsDataSize: null,
    logs: simulation.logs,
    replacementBlockhash: simulation.replacementBlockhash,
    returnData: encodeReturnData(simulation.returnData),
    unitsConsumed: simulation.unitsConsumed,
  }
}

const loadedCount = ({ lookups }: DecodedMessage): number =>
  lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0)

/** Encodes inner instructions with all keys; their existence implies that the lookup tables are valid. */
function innerInstructionsOf(chain: LocalChain, message: DecodedMessage, { innerInstructions }: SimulatedRun) {
  if (innerInstructions.length === 0) return []
  const { writable, readonly } = loadAddresses(message.lookups, chain.slot(), (address) => chain.account(address))
  return encodeInnerInstructions(innerInstructions, [...message.keys, ...writable, ...readonly], true)
}

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
  const simulation = runSimulation(chain, raw, { sigVerify, replaceRecentBlockhash, accounts })
  const inner = asBoolean(config.innerInstructions)
  return withContext(
    chain,
    commitment,
    simulationAnswer(simulation, {
      accounts:
        requested &&
        accounts.map((_, i) => {
          const account = simulation.accounts[i]
          return account ? encodeAccount(chain, account, requested.view) : null
        }),
      innerInstructions: inner ? innerInstructionsOf(chain, message, simulation) : null,
    }),
  )
}

export const simulationMethods: RpcMethods = { simulateTransaction: simulateByRpc }
