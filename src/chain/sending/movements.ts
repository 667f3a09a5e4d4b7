/**
 * Reads the movement of a transaction: simulates it, reads its accounts before and after, and computes the result by
 * the policy.
 */

import { internal } from '../../platform/errors.ts'
import {
  failedMovement,
  feePayerOf,
  movementOf,
  type SimulatedMessage,
} from '../../policy/movement/compute-movement.ts'
import type { AssetRelease, AssetSnapshot } from '../../policy/movement/freeze-release.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import { reconcileReadings } from '../../policy/movement/reconcile-readings.ts'
import type { ChainAccount } from '../../solana/accounts.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import type { LoadedAddresses } from '../../solana/lookup-tables.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import type { Chain } from '../connection.ts'
import { explainTransactionError } from '../errors/index.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { decodeAsset } from '../programs/metaplex-core/state.ts'
import { readRentRate } from '../reads/rpc-reads.ts'
import { runWithAccounts } from './runs.ts'
import { namesIn } from './transactions.ts'

/** Most runs of one simulation. The wallet may pay other transactions, but its state is fixed for at least one slot. */
const MOVEMENT_RUNS = 6

export interface MovementOptions {
  /** Asset of Metaplex Core that the transaction may release. The loss of its freeze authority is then permitted. */
  release?: string | undefined
}

/**
 * Simulates exactly this message, with its own blockhash and without signatures. A simulation that fails is a movement
 * with `err`. Throws bad_request when the node refuses to run it, internal_error when the node fails.
 */
export async function readMovement(
  chain: Chain,
  transaction: DecodedTransaction,
  wallet: string,
  options: MovementOptions = {},
): Promise<Movement> {
  const { movements } = await readMovements(chain, transaction, [wallet], options)
  return movements[0] as Movement
}

/** What one simulation shows of several wallets, in their order, and of the addresses of lookup tables. */
interface Movements {
  movements: Movement[]
  loaded: LoadedAddresses
  /** Lamports after the run of an account that the message writes to; 0 for any other, and after a failure. */
  lamportsAfter(address: string): bigint
}

/** Of wallets that do not pay the fee, only the movement is certain: their readings are not compared. Throws the same. */
export async function readMovements(
  chain: Chain,
  transaction: DecodedTransaction,
  wallets: readonly string[],
  { release }: MovementOptions = {},
): Promise<Movements> {
  const { message } = transaction
  const payer = feePayerOf(message)
  const [first = payer] = wallets
  const [fee, { addresses, loaded, before, run, slot, stable }] = await Promise.all([
    wallets.includes(payer) ? walletFee(chain, transaction) : 0n,
    simulated(chain, transaction, first),
  ])
  const { err, accounts, innerInstructions: inner } = run
  const logs = run.logs ?? []
  const keys = [...message.keys, ...loaded.writable, ...loaded.readonly]
  const inputs = wallets.map(
    (wallet): SimulatedMessage => ({ wallet, message, keys, slot, fee: wallet === payer ? fee : 0n, stable }),
  )
  if (err !== null) {
    const failure = explainTransactionError(err, { logs, ...namesIn(message, loaded) })
    return { movements: inputs.map((input) => failedMovement(input, failure, logs)), loaded, lamportsAfter: () => 0n }
  }
  if (accounts?.length !== addresses.length) {
    throw internal('The RPC node ran the transaction but does not show what it changes')
  }
  const after = addresses.map((_, i) => accounts[i] ?? null)
  const released = release === undefined ? null : await assetRelease(release, addresses, before, after)
  // Only what is left in new accounts is compared with their rent.
  const isAnyNew = addresses.some((_, i) => before[i] === null && after[i] !== null)
  const minimumOf = isAnyNew ? await readRentRate(chain) : () => 0n
  const effects = { addresses, before, after, inner, release: released, minimumOf }
  return {
    movements: inputs.map((input) => movementOf(input, effects)),
    loaded,
    lamportsAfter: (address) => after[addresses.indexOf(address)]?.lamports ?? 0n,
  }
}

function simulated(node: NodeCalls, transaction: DecodedTransaction, wallet: string) {
  return runWithAccounts(node, transaction, {
    replaceRecentBlockhash: false,
    innerInstructions: true,
    settle: (addresses, before, reread, isLast) => reconcileReadings(wallet, addresses, before, reread, isLast),
    mostRuns: MOVEMENT_RUNS,
  })
}

/** Returns the larger of the node's fee and of the computed fee, so that neither alone can hide a priority fee. */
async function walletFee(chain: Chain, { message, messageBytes }: DecodedTransaction): Promise<bigint> {
  const known = feeOfMessage(message)
  const params = [Buffer.from(messageBytes).toString('base64'), { commitment: 'confirmed' }]
  const answer = await chain.call<{ value?: unknown }>('getFeeForMessage', params).catch(() => null)
  const shown = answer?.value
  const fee = typeof shown === 'bigint' || Number.isSafeInteger(shown) ? BigInt(shown as number | bigint) : 0n
  return fee > known ? fee : known
}

async function assetRelease(
  asset: string,
  addresses: readonly string[],
  before: readonly (ChainAccount | null)[],
  after: readonly (ChainAccount | null)[],
): Promise<AssetRelease> {
  const place = addresses.indexOf(asset)
  const [old, now] = await Promise.all([
    assetSnapshot(asset, before[place] ?? null),
    assetSnapshot(asset, after[place] ?? null),
  ])
  return { asset, before: old, after: now }
}

/** Returns null for an account that is not a readable asset. The policy then permits no release. */
async function assetSnapshot(address: string, account: ChainAccount | null): Promise<AssetSnapshot | null> {
  const content = await decodeAsset(address, account).catch(() => null)
  return content?.kind === 'asset' ? content.asset : null
}
