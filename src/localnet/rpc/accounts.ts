/** Methods that read accounts by address. */
import type { LocalChain } from '../types.ts'
import { encodeAccount, viewOf } from './account-encoding.ts'
import { CODE, invalidParams, RpcError } from './errors.ts'
import { type RpcMethods, readableAt, withContext } from './method.ts'
import { asAmount, asConfig, asList, asPubkey, onlyCommitment, requireParams } from './params.ts'

const MAX_REQUESTED_ACCOUNTS = 100
/** Maximum data of an account in bytes, as in Agave's MAX_PERMITTED_DATA_LENGTH. */
const MAX_SPACE = 10n * 1024n * 1024n

function balance(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const commitment = readableAt(chain, asConfig(params[1]))
  return withContext(chain, commitment, chain.account(address)?.lamports ?? 0n)
}

function getAccountInfo(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const address = asPubkey(params[0])
  const config = asConfig(params[1])
  const view = viewOf(config)
  const commitment = readableAt(chain, config)
  const account = chain.account(address)
  return withContext(chain, commitment, account && encodeAccount(chain, [address, account], view))
}

function multipleAccounts(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const list = asList(params[0])
  if (list.length > MAX_REQUESTED_ACCOUNTS)
    throw invalidParams(`Too many inputs provided; max ${MAX_REQUESTED_ACCOUNTS}`)
  const addresses = list.map(asPubkey)
  const config = asConfig(params[1])
  const view = viewOf(config, 'base64')
  const commitment = readableAt(chain, config)
  const value = addresses.map((address) => {
    const account = chain.account(address)
    return account && encodeAccount(chain, [address, account], view)
  })
  return withContext(chain, commitment, value)
}

function minimumBalance(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const space = asAmount(params[0])
  onlyCommitment(params[1])
  if (space > MAX_SPACE) throw new RpcError(CODE.invalidRequest, 'Invalid request')
  return chain.minimumBalance(Number(space))
}

export const accountMethods: RpcMethods = {
  getBalance: balance,
  getAccountInfo: getAccountInfo,
  getMultipleAccounts: multipleAccounts,
  getMinimumBalanceForRentExemption: minimumBalance,
}
