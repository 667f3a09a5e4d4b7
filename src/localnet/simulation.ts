/** Simulates transactions; their changes are not applied. */
import { base58 } from '@scure/base'
import type { ChainAccount } from '../solana/accounts.ts'
import { TransactionRefused } from '../solana/execution.ts'
import { type DecodedTransaction, decodeOnce, decodeWireTransaction } from '../solana/messages.ts'
import type { Tick } from './clock.ts'
import { checkTransaction, type ExecutionParts, refine } from './execution.ts'
import { wasExecuted } from './runtime.ts'
import type { SimulatedRun, SimulateOptions } from './types.ts'

/** Simulates at the slot that the runtime has entered. Throws TransactionRefused when the transaction cannot be run. */
export function simulate(
  parts: ExecutionParts,
  raw: Uint8Array,
  tick: Tick,
  { sigVerify = false, replaceRecentBlockhash = false, accounts = [] }: SimulateOptions,
  latest: { blockhash: string; lastValidBlockHeight: number },
): SimulatedRun {
  const original = decodeOnce(raw)
  const transaction = replaceRecentBlockhash ? replaceBlockhash(original, latest.blockhash) : original
  const checked = checkTransaction(parts, transaction, tick, { sigVerify, anyBlockhash: replaceRecentBlockhash })
  parts.runtime.load(checked.accountKeys)
  const { execution, after } = parts.runtime.simulate(transaction, sigVerify)
  if (execution.err !== null) {
    execution.err = refine(execution.err, parts.runtime, checked)
    if (!wasExecuted(execution)) throw new TransactionRefused(execution.err, execution)
  }
  // Few callers request accounts, and reading them takes as long as the run.
  const states = accounts.length === 0 || execution.err !== null ? new Map<string, ChainAccount>() : after()
  const written = new Set(checked.accountKeys.filter((_, i) => checked.writable[i]))
  const stateOf = (address: string) => {
    const state = written.has(address) ? (states.get(address) ?? null) : parts.runtime.get(address)
    return state === null || state.lamports === 0n ? null : state
  }
  return {
    ...execution,
    // A validator returns no accounts for a failed run.
    accounts: accounts.map((address) => (execution.err === null ? stateOf(address) : null)),
    replacementBlockhash: replaceRecentBlockhash ? latest : null,
  }
}

function replaceBlockhash(transaction: DecodedTransaction, blockhash: string): DecodedTransaction {
  const { raw, messageBytes, message } = transaction
  const changed = Uint8Array.from(raw)
  changed.set(base58.decode(blockhash), raw.length - messageBytes.length + message.blockhashOffset)
  return decodeWireTransaction(changed)
}
