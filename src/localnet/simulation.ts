/** Simulates transactions; their changes are not applied. */
import type { ChainAccount } from '../solana/accounts.ts'
import { feeOfMessage } from '../solana/fees.ts'
import { decodeOnce } from '../solana/messages.ts'
import { entryOf } from './account-index.ts'
import { type Balances, balancesOf } from './balances.ts'
import type { Tick } from './clock.ts'
import {
  type CheckedTransaction,
  checkTransaction,
  type ExecutionParts,
  feesOnlyOrRefused,
  isOverLoadLimit,
  loadedSizeOf,
  runAt,
} from './execution.ts'
import { notRun } from './fees-only.ts'
import { replaceBlockhash } from './nonces.ts'
import { wasExecuted } from './runtime.ts'
import type { SimulatedRun, SimulateOptions } from './types.ts'

/** Simulates at the slot that the runtime has entered. Throws TransactionRefused when the transaction cannot be run. */
export function simulate(
  parts: ExecutionParts,
  raw: Uint8Array,
  tick: Tick,
  { sigVerify = false, replaceRecentBlockhash = false, accounts = [], balances = false }: SimulateOptions,
  latest: { blockhash: string; lastValidBlockHeight: number },
): SimulatedRun {
  const { runtime, index } = parts
  const original = decodeOnce(raw)
  const transaction = replaceRecentBlockhash ? replaceBlockhash(original, latest.blockhash) : original
  const checked = checkTransaction(parts, transaction, tick, { sigVerify, anyBlockhash: replaceRecentBlockhash })
  runtime.load(checked.accountKeys)
  const loadedDataSize = loadedSizeOf(parts, checked)
  const { execution: run, after } = isOverLoadLimit(checked, () => loadedDataSize)
    ? { execution: notRun('MaxLoadedAccountsDataSizeExceeded'), after: () => new Map<string, ChainAccount>() }
    : runAt(parts, checked, tick.slot, sigVerify, (run, verifies) => runtime.simulate(run, verifies))
  const execution = wasExecuted(run) ? run : feesOnlyOrRefused(parts, checked, run, sigVerify)
  const failed = execution.err !== null
  // Reading the accounts takes as long as the run, so it is done only on request.
  const states = failed || (accounts.length === 0 && !balances) ? new Map<string, ChainAccount>() : after()
  const written = new Set(checked.accountKeys.filter((_, i) => checked.writable[i]))
  const stateOf = (address: string): ChainAccount | null => {
    const state = written.has(address) ? (states.get(address) ?? null) : runtime.get(address)
    return state === null || state.lamports === 0n ? null : state
  }
  const fee = feeOfMessage(transaction.message)
  const entry = (address: string) => index.get(address)
  const entryAfter = (address: string) => {
    if (!written.has(address)) return entry(address)
    const state = stateOf(address)
    return state === null ? undefined : entryOf(state)
  }
  return {
    ...execution,
    // A validator returns no accounts for a failed run.
    accounts: accounts.map((address) => (failed ? null : stateOf(address))),
    replacementBlockhash: replaceRecentBlockhash ? latest : null,
    fee,
    loadedDataSize,
    balances: balances ? movedBalances(checked, failed ? fee : null, entry, entryAfter) : null,
  }
}

type EntryReader = Parameters<typeof balancesOf>[1]

/** Balances before and after a run; one that failed only pays `failureFee`. */
function movedBalances(
  { accountKeys }: CheckedTransaction,
  failureFee: bigint | null,
  entry: EntryReader,
  entryAfter: EntryReader,
): { before: Balances; after: Balances } {
  const before = balancesOf(accountKeys, entry)
  if (failureFee === null) return { before, after: balancesOf(accountKeys, entryAfter) }
  const lamports = before.lamports.map((held, i) => (i === 0 ? held - failureFee : held))
  return { before, after: { lamports, tokens: before.tokens } }
}
