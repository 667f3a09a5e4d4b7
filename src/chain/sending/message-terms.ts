/** Sets limits and priority fee of built transactions of version 1, in the config of their message. */

import { namedAddresses, withConfigTerms, writableAddresses } from '../../solana/budget-terms.ts'
import { ACCOUNTS_PER_CALL, LOADED_ACCOUNT_BYTES, MAX_COMPUTE_UNITS, MAX_LOADED_BYTES } from '../../solana/constants.ts'
import { priorityFee } from '../../solana/fees.ts'
import { LOADER } from '../../solana/programs/upgradeable-loader.ts'
import type { TransactionConfig } from '../../solana/transaction-config.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import type { NodeSimulation } from '../reads/node-reads.ts'
import {
  type BudgetServices,
  type FailedSimulation,
  fallbackLimit,
  limitAfter,
  priceWithin,
  requestedPrice,
  simulateOrNull,
} from './compute-budget.ts'
import type { UnsignedTransaction } from './unsigned.ts'

interface TermsRequest<T> {
  build(config: TransactionConfig): Promise<T>
  /** Compute limit of a transaction that cannot run yet. */
  fallbackUnits: number
  /** Whether an earlier transaction must land first, so that nothing can be simulated. */
  follows: boolean
  /** May throw the failure of the simulation. */
  failed?: ((simulation: FailedSimulation) => void) | undefined
}

/**
 * Simulates a first build, then sets the measured limits and the configured priority fee, in lamports for the whole
 * transaction. The simulated build is never smaller than the result, so its size check holds for both. Throws what `build`
 * throws, and what `failed` throws for a failed simulation.
 */
export async function withMessageTerms<T extends UnsignedTransaction>(
  services: BudgetServices,
  { build, fallbackUnits, follows, failed = () => undefined }: TermsRequest<T>,
): Promise<T> {
  const { chain, config } = services
  const simulated = await build({
    computeUnitLimit: MAX_COMPUTE_UNITS,
    loadedAccountsDataSizeLimit: MAX_LOADED_BYTES,
    // The simulated build pays no priority fee, because that of the whole limit could be more than the payer has.
    priorityFeeLamports: config.values['priority-fee'] === 'none' ? null : 0n,
    heapSize: null,
  })
  const { transaction } = simulated
  const [run, requested] = await Promise.all([
    follows ? null : simulateOrNull(chain, transaction, failed),
    requestedPrice(services, () => writableAddresses(transaction)),
  ])
  const units = limitAfter(run, transaction) ?? fallbackLimit(fallbackUnits, transaction)
  const price = priceWithin(config, requested, units)
  const loadedBytes = await loadedLimitFor(chain, run, transaction)
  const terms = { units, loadedBytes, priorityFee: priorityFee(BigInt(units), price) }
  return { ...simulated, transaction: withConfigTerms(transaction, terms) }
}

/** Limit of the bytes that a transaction loads, as its run shows them. */
export const loadedLimitFor = async (
  chain: NodeCalls,
  run: NodeSimulation | null,
  transaction: Uint8Array,
): Promise<number> => loadedLimit(toldSize(run) ?? (await sizeOf(chain, transaction)))

function toldSize(run: NodeSimulation | null): number | null {
  const bytes = run?.loadedAccountsDataSize ?? 0
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null
}

/** If the node reports no sizes, the largest limit is used. That only lowers the priority. */
const sizeOf = (chain: NodeCalls, transaction: Uint8Array): Promise<number | null> =>
  readLoadedSize(chain, namedAddresses(transaction)).catch(() => null)

const loadedLimit = (bytes: number | null): number => (bytes === null ? MAX_LOADED_BYTES : loadedLimitOf(bytes))

/** The cluster counts in pages of 32 KiB. */
const PAGE_BYTES = 32 * 1024

/**
 * Returns the limit for this many bytes: a tenth more, because accounts and programs may grow before the transaction
 * lands, and a page for accounts that do not exist yet.
 */
export function loadedLimitOf(bytes: number): number {
  const pages = Math.ceil((bytes * 11) / 10 / PAGE_BYTES) + 1
  return Math.min(pages * PAGE_BYTES, MAX_LOADED_BYTES)
}

/**
 * Returns the bytes that these accounts count now by SIMD-0186, or null when the node does not report their sizes. Each
 * address must be given once.
 */
export async function readLoadedSize(chain: NodeCalls, addresses: readonly string[]): Promise<number | null> {
  const accounts = await shownAccounts(chain, addresses)
  if (accounts === null) return null
  const codes = accounts.flatMap((account) => codeAddressOf(account) ?? [])
  const code = await shownAccounts(
    chain,
    [...new Set(codes)].filter((address) => !addresses.includes(address)),
  )
  if (code === null) return null
  return [...accounts, ...code].reduce(
    (sum, account) => sum + (account === null ? 0 : account.space + LOADED_ACCOUNT_BYTES),
    0,
  )
}

interface ShownAccount {
  owner: string
  /** Bytes of its data. */
  space: number
  /** The first bytes of its data. */
  data: Uint8Array
}

/** An upgradeable program is loaded with the account that has its code (SIMD-0186). */
const codeAddressOf = (account: ShownAccount | null): string | undefined =>
  LOADER.decode('program', account)?.program_data

/** Returns null if the answer has another form, or accounts without their sizes. */
async function shownAccounts(chain: NodeCalls, addresses: readonly string[]): Promise<(ShownAccount | null)[] | null> {
  if (addresses.length === 0) return []
  if (addresses.length > ACCOUNTS_PER_CALL) return null
  const dataSlice = { offset: 0, length: LOADER.sizeOf('program') }
  const options = { encoding: 'base64', commitment: 'confirmed', dataSlice }
  const { value } = await chain.call<{ value?: unknown }>('getMultipleAccounts', [addresses, options])
  if (!Array.isArray(value) || value.length !== addresses.length) return null
  const shown = value.map(shownAccount)
  return shown.includes(undefined) ? null : (shown as (ShownAccount | null)[])
}

function shownAccount(value: unknown): ShownAccount | null | undefined {
  if (value === null) return null
  const { owner, space, data } = value as Record<string, unknown>
  if (typeof owner !== 'string' || typeof space !== 'number' || !Number.isSafeInteger(space) || space < 0)
    return undefined
  const text = Array.isArray(data) ? (data[0] as unknown) : undefined
  return typeof text === 'string' ? { owner, space, data: Buffer.from(text, 'base64') } : undefined
}
