/** Methods that send transactions or return what creating one requires. */

import { TransactionRefused } from '../../solana/execution.ts'
import type { LocalChain } from '../types.ts'
import { describeTransactionError } from './error-messages.ts'
import { CODE, invalidParams, RpcError } from './errors.ts'
import { type RpcMethods, readableAt, requireMinContextSlot, withContext } from './method.ts'
import {
  asAmount,
  asBoolean,
  asConfig,
  asList,
  asPubkey,
  commitmentOf,
  decodeBase58OfSize,
  requireParams,
} from './params.ts'
import { preflightFailure, refusedSimulation, runSimulation, throwIfUnreadable } from './simulation.ts'
import { messageParam, transactionParam, wireEncodingOf } from './wire-param.ts'

const MAX_FEE_ACCOUNTS = 128

function sendTransaction(chain: LocalChain, params: readonly unknown[]): Promise<string> {
  requireParams(params, 1)
  const config = asConfig(params[1])
  const { raw, signature } = transactionParam(params[0], wireEncodingOf(config.encoding))
  const skipPreflight = asBoolean(config.skipPreflight)
  requireMinContextSlot(chain, config, commitmentOf(config, 'finalized', 'preflightCommitment'))
  // The preflight runs together with the send, because it may require what the transaction before it did.
  return chain.together(() => {
    if (!skipPreflight) {
      const preflight = runSimulation(chain, raw, { sigVerify: true })
      if (preflight.err !== null) throw preflightFailure(preflight)
    }
    try {
      chain.send(raw)
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error
      throwIfUnreadable(error)
      // With skipPreflight, a validator forwards transactions unchecked and the leader drops invalid ones silently.
      if (!skipPreflight) throw preflightFailure(refusedSimulation(error))
    }
    return signature
  })
}

function requestAirdrop(chain: LocalChain, params: readonly unknown[]): Promise<string> {
  requireParams(params, 2)
  const address = asPubkey(params[0])
  const lamports = asAmount(params[1])
  return chain.together(() => {
    try {
      return chain.airdrop(address, lamports)
    } catch (error) {
      if (error instanceof RangeError) throw invalidParams(`Invalid param: ${error.message}`)
      if (!(error instanceof TransactionRefused)) throw error
      throw new RpcError(CODE.internal, `airdrop request failed: ${describeTransactionError(error.err)}`)
    }
  })
}

function getLatestBlockhash(chain: LocalChain, params: readonly unknown[]) {
  const commitment = readableAt(chain, asConfig(params[0]))
  return withContext(chain, commitment, chain.latestBlockhash(commitment))
}

function blockhashValid(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  if (typeof params[0] !== 'string') throw invalidParams('Invalid params: invalid type, expected a string.')
  decodeBase58OfSize(params[0], 32)
  const commitment = readableAt(chain, asConfig(params[1]))
  return withContext(chain, commitment, chain.isBlockhashValid(params[0]))
}

function feeForMessage(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const message = messageParam(params[0])
  const commitment = readableAt(chain, asConfig(params[1]))
  return withContext(chain, commitment, chain.feeForMessage(message))
}

function prioritizationFees(chain: LocalChain, params: readonly unknown[]) {
  const list = params[0] === undefined || params[0] === null ? [] : asList(params[0])
  if (list.length > MAX_FEE_ACCOUNTS) throw invalidParams(`Too many inputs provided; max ${MAX_FEE_ACCOUNTS}`)
  return chain.prioritizationFees(list.map(asPubkey))
}

export const sendingMethods: RpcMethods = {
  sendTransaction,
  requestAirdrop: requestAirdrop,
  getLatestBlockhash: getLatestBlockhash,
  isBlockhashValid: blockhashValid,
  getFeeForMessage: feeForMessage,
  getRecentPrioritizationFees: prioritizationFees,
}
