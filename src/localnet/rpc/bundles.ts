/** Methods of Jito's block engine over the embedded chain: a bundle lands completely in one slot, or not at all. */
import { bundleIdOf, TIP_ACCOUNTS } from '../../solana/bundles.ts'
import { TransactionRefused } from '../../solana/execution.ts'
import { GENESIS_SLOT } from '../clock.ts'
import type { BundleOutcome, LocalChain } from '../types.ts'
import { invalidParams } from './errors.ts'
import type { RpcMethod, RpcMethods } from './method.ts'
import { withContext } from './method.ts'
import { asConfig, asList, requireParams } from './params.ts'
import { commitmentReached } from './transactions.ts'
import { type TransactionParam, transactionParam, wireEncodingOf } from './wire-param.ts'

const MAX_TRANSACTIONS = 5
const MAX_IDS = 5
/** Maximum number of outcomes in memory; the oldest are removed first. */
const MAX_OUTCOMES = 50_000
/** Milliseconds for which the block engine reports in-flight statuses. */
const IN_FLIGHT_MS = 5 * 60 * 1000
/** Limits of the history that is read once after a start to restore earlier bundles. */
const RESTORED = { transactions: 5_000, windows: 300 }

type BundleStatus = { landed: true; slot: number; signatures: string[] } | { landed: false; slot: number }

const inFlightSlots = (chain: LocalChain): number => Math.ceil(IN_FLIGHT_MS / chain.slotMs())

function readBundle(params: readonly unknown[]): TransactionParam[] {
  requireParams(params, 1)
  const list = asList(params[0])
  if (list.length === 0 || list.length > MAX_TRANSACTIONS) {
    throw invalidParams(`A bundle has 1 to ${MAX_TRANSACTIONS} transactions, got ${list.length}`)
  }
  const encoding = wireEncodingOf(asConfig(params[1]).encoding)
  const bundle = list.map((text) => transactionParam(text, encoding))
  if (new Set(bundle.map(({ signature }) => signature)).size < bundle.length) {
    throw invalidParams('A bundle cannot hold the same transaction twice')
  }
  return bundle
}

function readIds(params: readonly unknown[]): string[] {
  requireParams(params, 1)
  const ids = asList(params[0])
  if (ids.length > MAX_IDS) throw invalidParams(`Too many bundle ids provided; max ${MAX_IDS}`)
  for (const id of ids) if (typeof id !== 'string') throw invalidParams('Invalid params: a bundle id is a string')
  return ids as string[]
}

/**
 * Adds every run of up to five consecutive transactions of a slot, as each may have been a bundle; lookups by id find
 * the real ones.
 */
function addRuns(outcomes: Map<string, BundleStatus>, slot: number, signatures: readonly string[]): void {
  for (let start = 0; start < signatures.length; start++) {
    for (let length = 1; length <= MAX_TRANSACTIONS && start + length <= signatures.length; length++) {
      const run = signatures.slice(start, start + length)
      outcomes.set(bundleIdOf(run), { landed: true, slot, signatures: run })
    }
  }
}

function restore(chain: LocalChain): Map<string, BundleStatus> {
  const outcomes = new Map<string, BundleStatus>()
  let left = RESTORED.transactions
  let end = chain.slot()
  const size = inFlightSlots(chain)
  for (let window = 0; window < RESTORED.windows && left > 0 && end >= GENESIS_SLOT; window++) {
    const start = end - size + 1
    for (const slot of chain.slotsWithTransactions(start, end, size).reverse()) {
      const signatures = chain.transactionsInSlot(slot).map(({ signature }) => signature)
      addRuns(outcomes, slot, signatures)
      left -= signatures.length
      if (left <= 0) break
    }
    end = start - 1
  }
  return outcomes
}

/** Outcomes by bundle id: first those of this process, then those restored once from history. */
function createOutcomes() {
  const own = new Map<string, BundleStatus>()
  let before: Map<string, BundleStatus> | undefined
  return {
    add(id: string, outcome: BundleStatus): void {
      const known = own.get(id)
      if (known?.landed) return
      own.delete(id)
      own.set(id, outcome)
      const [oldest] = own.keys()
      if (own.size > MAX_OUTCOMES && oldest !== undefined) own.delete(oldest)
    },
    find(chain: LocalChain, id: string): BundleStatus | undefined {
      const known = own.get(id)
      if (known?.landed) return known
      before ??= restore(chain)
      return before.get(id) ?? known
    },
  }
}

function commitBundle(chain: LocalChain, raws: readonly Uint8Array[]): BundleOutcome | { landed: false } {
  try {
    return chain.sendBundle(raws)
  } catch (error) {
    if (error instanceof TransactionRefused) return { landed: false }
    throw error
  }
}

/** Creates the four methods, which share their outcomes. */
export function bundleMethods(): RpcMethods {
  const outcomes = createOutcomes()

  const sendBundle: RpcMethod = (chain, params) => {
    const bundle = readBundle(params)
    const id = bundleIdOf(bundle.map(({ signature }) => signature))
    const outcome = commitBundle(
      chain,
      bundle.map(({ raw }) => raw),
    )
    outcomes.add(id, outcome.landed ? outcome : { landed: false, slot: chain.slot() })
    return id
  }

  const getBundleStatuses: RpcMethod = (chain, params) => {
    const value = readIds(params).flatMap((bundle_id) => {
      const outcome = outcomes.find(chain, bundle_id)
      if (!outcome?.landed) return []
      const { slot, signatures: transactions } = outcome
      const confirmation_status = commitmentReached(chain, slot) ?? 'processed'
      return [{ bundle_id, transactions, slot, confirmation_status, err: { Ok: null } }]
    })
    return withContext(chain, 'processed', value)
  }

  const getInflightBundleStatuses: RpcMethod = (chain, params) => {
    const value = readIds(params).map((bundle_id) => {
      const outcome = outcomes.find(chain, bundle_id)
      const known = outcome !== undefined && outcome.slot >= chain.slot() - inFlightSlots(chain)
      if (!known) return { bundle_id, status: 'Invalid', landed_slot: null }
      if (!outcome.landed) return { bundle_id, status: 'Failed', landed_slot: null }
      return { bundle_id, status: 'Landed', landed_slot: outcome.slot }
    })
    return withContext(chain, 'processed', value)
  }

  return { sendBundle, getBundleStatuses, getInflightBundleStatuses, getTipAccounts: () => [...TIP_ACCOUNTS] }
}
