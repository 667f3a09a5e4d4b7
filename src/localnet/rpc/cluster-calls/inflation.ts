/** Methods about inflation and stake, which this chain does not have. */
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../../clock.ts'
import type { LocalChain } from '../../types.ts'
import { epochOf } from '../epochs.ts'
import { blockCleanedUp, blockNotAvailable, invalidParams } from '../errors.ts'
import { type RpcMethods, readableAt, withContext } from '../method.ts'
import { asAmount, asConfig, asList, asPubkey, commitmentOf, onlyCommitment, requireParams } from '../params.ts'

/** Addresses in one getInflationReward since Agave 4.3. */
const MAX_REWARD_ADDRESSES = 32

/**
 * Returns null for each address, because there are no rewards. Refused if a validator has no block to read them from:
 * the first block of the epoch after the requested one.
 */
function inflationReward(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  const addresses = asList(params[0])
  if (addresses.length > MAX_REWARD_ADDRESSES) {
    throw invalidParams(`Too many inputs provided; max ${MAX_REWARD_ADDRESSES}`)
  }
  for (const address of addresses) asPubkey(address)
  const config = asConfig(params[1])
  const newest = chain.slot(readableAt(chain, config))
  const epoch =
    config.epoch === undefined || config.epoch === null
      ? BigInt(Math.max(epochOf(newest) - 1, 0))
      : asAmount(config.epoch)
  const firstSlot = (epoch + 1n) * BigInt(SLOTS_PER_EPOCH)
  if (firstSlot < BigInt(GENESIS_SLOT)) throw blockCleanedUp(firstSlot, GENESIS_SLOT)
  if (firstSlot > BigInt(newest)) throw blockNotAvailable(firstSlot)
  return addresses.map(() => null)
}

export const inflationMethods: RpcMethods = {
  getInflationReward: inflationReward,
  getInflationGovernor: (_, params) => {
    onlyCommitment(params[0])
    return { initial: 0, terminal: 0, taper: 0, foundation: 0, foundationTerm: 0 }
  },
  getInflationRate: (chain) => ({ total: 0, validator: 0, foundation: 0, epoch: epochOf(chain.slot('finalized')) }),
  getStakeMinimumDelegation: (chain, params) => withContext(chain, commitmentOf(asConfig(params[0])), 1),
  getVoteAccounts: () => ({ current: [], delinquent: [] }),
}
