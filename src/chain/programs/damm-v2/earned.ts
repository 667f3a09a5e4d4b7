/**
 * Reads what a pool of DAMM v2 has earned since it was created: Meteora's part, and that of the positions of some
 * wallets.
 */

import { notFound } from '../../../platform/errors.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { addressOfKey } from '../derived-addresses.ts'
import { positionAddresses } from './addresses.ts'
import { readPositionNfts } from './positions.ts'
import { decodeDammV2Pool, decodePosition, loadSdk, toBigint } from './program.ts'
import { chunksOf, readTogether } from './state.ts'

/** Raw units of a token: all that was ever earned, what a claim would pay now, and what was claimed. */
export interface EarnedAmounts {
  accrued: bigint
  claimable: bigint
  claimed: bigint
}

export interface EarnedSides {
  a: EarnedAmounts
  b: EarnedAmounts
}

export interface DammV2Earned {
  /** Fees of all positions together, without compounded fees. */
  positions: { a: bigint; b: bigint }
  protocol: EarnedSides
  /** By wallet: the positions that it holds now, including fees that earlier holders claimed from them. */
  byOwner: ReadonlyMap<string, EarnedSides>
  /** Whether every NFT of the wallets was checked; strangers can send a wallet any number of them. */
  isComplete: boolean
}

/** Most NFTs of a wallet that are considered. */
const MOST_DERIVED = 1_000
/** Most of them whose positions are read. */
const MOST_READ = 396
const POSITIONS_PER_READ = 99

const NO_AMOUNTS: EarnedAmounts = { accrued: 0n, claimable: 0n, claimed: 0n }

/**
 * Takes one call per wallet, and one for each 99 of their NFTs, at least one. Throws not_found when the pool is gone,
 * internal_error when the node fails.
 */
export async function readDammV2Earned(
  node: NodeCalls,
  pool: string,
  owners: readonly string[],
): Promise<DammV2Earned> {
  const { sdk } = await loadSdk()
  const held = await Promise.all(owners.map((owner) => findCandidates(node, owner)))
  const byOwner = new Map<string, EarnedSides>(owners.map((owner) => [owner, { a: NO_AMOUNTS, b: NO_AMOUNTS }]))
  const candidates = held.flatMap(({ positions }, i) =>
    positions.map((position) => ({ position, owner: owners[i] ?? '' })),
  )
  let pools: Pick<DammV2Earned, 'positions' | 'protocol'> | undefined
  for (const part of candidates.length === 0 ? [[]] : chunksOf(candidates, POSITIONS_PER_READ)) {
    const together = [pool, ...part.map(({ position }) => position)]
    const [account, ...accounts] = (await readTogether(node, 'Reading positions', together)).accounts
    const state = await decodeDammV2Pool(account)
    if (state === null) throw notFound(`There is no DAMM v2 pool at ${pool}`, { param: 'address' })
    const { metrics } = state
    const taken = (total: bigint, left: bigint): EarnedAmounts => ({
      accrued: total,
      claimable: left,
      claimed: total - left,
    })
    pools ??= {
      positions: { a: toBigint(metrics.totalLpAFee), b: toBigint(metrics.totalLpBFee) },
      protocol: {
        a: taken(toBigint(metrics.totalProtocolAFee), toBigint(state.protocolAFee)),
        b: taken(toBigint(metrics.totalProtocolBFee), toBigint(state.protocolBFee)),
      },
    }
    for (const [i, { owner }] of part.entries()) {
      const position = await decodePosition(accounts[i])
      const before = byOwner.get(owner)
      if (position === null || before === undefined || addressOfKey(position.pool) !== pool) continue
      const fees = sdk.getUnClaimLpFee(state, position)
      const { totalClaimedAFee, totalClaimedBFee } = position.metrics
      byOwner.set(owner, {
        a: plus(before.a, toBigint(fees.feeTokenA), toBigint(totalClaimedAFee)),
        b: plus(before.b, toBigint(fees.feeTokenB), toBigint(totalClaimedBFee)),
      })
    }
  }
  if (pools === undefined) throw notFound(`There is no DAMM v2 pool at ${pool}`, { param: 'address' })
  return { ...pools, byOwner, isComplete: held.every(({ isComplete }) => isComplete) }
}

const plus = (sum: EarnedAmounts, claimable: bigint, claimed: bigint): EarnedAmounts => ({
  accrued: sum.accrued + claimable + claimed,
  claimable: sum.claimable + claimable,
  claimed: sum.claimed + claimed,
})

/** Addresses of positions. Those whose NFT is still in its original token account come first. */
async function findCandidates(node: NodeCalls, owner: string) {
  const nfts = await readPositionNfts(node, owner)
  const derived = nfts.slice(0, MOST_DERIVED).map(({ address, token }) => {
    const { position, positionNftAccount } = positionAddresses(token.mint)
    return { position, isFirst: positionNftAccount === address }
  })
  const ordered = [...derived.filter(({ isFirst }) => isFirst), ...derived.filter(({ isFirst }) => !isFirst)]
  const positions = ordered.slice(0, MOST_READ).map(({ position }) => position)
  return { positions, isComplete: positions.length === nfts.length }
}
