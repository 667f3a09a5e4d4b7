/** Methods about the cluster's only node, and about how its epochs are laid out. */
import { addressBytes } from '../../../solana/addresses.ts'
import { SLOTS_PER_EPOCH } from '../../clock.ts'
import type { LocalChain } from '../../types.ts'
import { identityOf } from '../epochs.ts'
import { CODE, RpcError } from '../errors.ts'
import { API_VERSION, FEATURE_SET, type RpcMethods } from '../method.ts'
import { asAmount, requireParams } from '../params.ts'

/** The number by which nodes tell each other that they run Agave. */
const AGAVE = 3

/** The pairs of bytes of the genesis hash, combined by XOR, and one more; zero means that a node has none. */
function shredVersionOf(chain: LocalChain): number {
  const hash = Buffer.from(addressBytes(chain.genesisHash))
  let version = 0
  for (let at = 0; at < hash.length; at += 2) version ^= hash.readUInt16BE(at)
  return Math.min(version + 1, 0xffff)
}

/** The node is in no gossip and takes neither shreds nor votes, so it has no addresses for them. */
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
    shredVersion: shredVersionOf(chain),
    clientId: AGAVE,
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
