/** Methods that only this chain has, for its operator. */
import { CopyTooSoonError } from '../journal.ts'
import type { LocalChain } from '../types.ts'
import { CODE, invalidParams, RpcError } from './errors.ts'
import type { RpcMethods } from './method.ts'
import { requireParams } from './params.ts'

/** Maximum seconds of one call, a hundred years; far beyond that, dates are no longer valid. */
const MAX_SECONDS = 100 * 366 * 86_400

function advanceClock(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const [seconds] = params
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= MAX_SECONDS)) {
    throw invalidParams(`Invalid param: seconds must be a number above 0 and at most ${MAX_SECONDS}`)
  }
  try {
    chain.advance(seconds)
  } catch (error) {
    throw error instanceof RangeError ? invalidParams(`Invalid param: ${error.message}`) : error
  }
  return { slot: chain.slot(), unixTimestamp: chain.unixTimestamp() }
}

function copyJournal(chain: LocalChain) {
  try {
    return { file: chain.copyJournal() }
  } catch (error) {
    throw error instanceof CopyTooSoonError ? new RpcError(CODE.internal, error.message) : error
  }
}

export const operatorMethods: RpcMethods = {
  svc_status: (chain) => chain.status(),
  svc_advance: advanceClock,
  svc_copy: copyJournal,
}
