/** Methods about the cluster's only node, and about how its epochs are laid out. */
import { SLOTS_PER_EPOCH } from '../../clock.ts'
import type { LocalChain } from '../../types.ts'
import { identityOf } from '../epochs.ts'
import { CODE, RpcError } from '../errors.ts'
import { API_VERSION, FEATURE_SET, type RpcMethods } from '../method.ts'
import { asAmount, requireParams } from '../params.ts'

function clusterNode(chain: LocalChain) {
  return {
    pubkey: identityOf(chain),
    gossip: null,
    tvu: null,
    tpu: null,
    tpuQuic: null,
    tpuForwards: null,
    tpuForwardsQuic: null,
    tpuVote: null,
    serveRepair: null,
    rpc: null,
    pubsub: null,
    version: API_VERSION,
    featureSet: FEATURE_SET,
    shredVersion: null,
  }
}

export const nodeMethods: RpcMethods = {
  getIdentity: (chain) => ({ identity: identityOf(chain) }),
  getClusterNodes: (chain) => [clusterNode(chain)],
  getEpochSchedule: () => ({
    slotsPerEpoch: SLOTS_PER_EPOCH,
    leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
    warmup: false,
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
  }),
  // The chain has no votes: a slot's commitment depends on its depth only.
  getBlockCommitment: (_, params) => {
    requireParams(params, 1)
    asAmount(params[0])
    return { commitment: null, totalStake: 0 }
  },
  getMaxRetransmitSlot: (chain) => chain.slot(),
  getMaxShredInsertSlot: (chain) => chain.slot(),
  getHighestSnapshotSlot: () => {
    throw new RpcError(CODE.noSnapshot, 'No snapshot')
  },
}
