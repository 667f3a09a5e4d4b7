/** Methods about validators, stake and inflation, which svc itself never calls; clients of other tools do. */
import { addressBytes } from '../../../solana/addresses.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../../clock.ts'
import type { LocalChain } from '../../types.ts'
import { epochOf, identityOf } from '../epochs.ts'
import { blockCleanedUp, blockNotAvailable, CODE, invalidParams, RpcError } from '../errors.ts'
import { API_VERSION, FEATURE_SET, type RpcMethods, readableAt, withContext } from '../method.ts'
import { asAmount, asConfig, asList, asPubkey, commitmentOf, onlyCommitment, requireParams } from '../params.ts'

// Methods about leaders: the only node leads every slot, of the epochs for which a validator has a schedule.

const MAX_LEADERS = 5000
/** Slots that the SlotHistory sysvar of a validator covers. */
const HISTORY_SLOTS = 1024 * 1024
const EPOCH_SLOTS = BigInt(SLOTS_PER_EPOCH)

/** Whether there is a schedule: from the chain's first epoch on, up to the epoch after the current one. */
function isScheduled(chain: LocalChain, epoch: bigint): boolean {
  return epoch >= BigInt(epochOf(GENESIS_SLOT)) && epoch <= BigInt(epochOf(chain.slot()) + 1)
}

function slotLeaders(chain: LocalChain, params: readonly unknown[]) {
  requireParams(params, 2)
  const [first, limit] = [asAmount(params[0]), asAmount(params[1])]
  if (limit > BigInt(MAX_LEADERS)) throw invalidParams(`Invalid limit; max ${MAX_LEADERS}`)
  for (let epoch = first / EPOCH_SLOTS; limit > 0n && epoch <= (first + limit - 1n) / EPOCH_SLOTS; epoch++) {
    if (isScheduled(chain, epoch)) continue
    throw invalidParams(`Invalid slot range: leader schedule for epoch ${epoch} is unavailable`)
  }
  return Array.from({ length: Number(limit) }, () => identityOf(chain))
}

/** Assigns every slot of an epoch to the only node; null for an epoch that has no schedule. */
function leaderSchedule(chain: LocalChain, params: readonly unknown[]) {
  const hasSlot = typeof params[0] === 'number' || typeof params[0] === 'bigint'
  const config = asConfig(hasSlot ? params[1] : (params[0] ?? params[1]))
  const { identity } = config
  if (identity !== undefined && identity !== null) asPubkey(identity)
  const slot = hasSlot ? asAmount(params[0]) : BigInt(chain.slot(commitmentOf(config)))
  if (!isScheduled(chain, slot / EPOCH_SLOTS)) return null
  if (typeof identity === 'string' && identity !== identityOf(chain)) return {}
  return { [identityOf(chain)]: Array.from({ length: SLOTS_PER_EPOCH }, (_, slotIndex) => slotIndex) }
}

function blockProduction(chain: LocalChain, params: readonly unknown[]) {
  const config = asConfig(params[0])
  const { identity } = config
  if (identity !== undefined && identity !== null) asPubkey(identity)
  const commitment = commitmentOf(config)
  const range = productionRange(chain.slot(commitment), asConfig(config.range))
  const { firstSlot, lastSlot } = range
  const produced = Math.max(0, lastSlot - Math.max(firstSlot, GENESIS_SLOT) + 1)
  const led = produced > 0 && (typeof identity !== 'string' || identity === identityOf(chain))
  const byIdentity = led ? { [identityOf(chain)]: [produced, produced] } : {}
  return withContext(chain, commitment, { byIdentity, range })
}

/** Reads the range of getBlockProduction with the checks of a validator; without one it is the current epoch. */
function productionRange(newest: number, { firstSlot, lastSlot }: Record<string, unknown>) {
  if (firstSlot === undefined || firstSlot === null) {
    return { firstSlot: epochOf(newest) * SLOTS_PER_EPOCH, lastSlot: newest }
  }
  const first = asAmount(firstSlot)
  const last = lastSlot === undefined || lastSlot === null ? BigInt(newest) : asAmount(lastSlot)
  if (last < first) throw invalidParams(`lastSlot, ${last}, cannot be less than firstSlot, ${first}`)
  const oldest = newest + 1 - HISTORY_SLOTS
  if (first < BigInt(oldest)) throw invalidParams(`firstSlot, ${first}, is too small; min ${oldest}`)
  if (last > BigInt(newest)) throw invalidParams(`lastSlot, ${last}, is too large; max ${newest}`)
  return { firstSlot: Number(first), lastSlot: Number(last) }
}

const leaderMethods: RpcMethods = {
  getSlotLeader: (chain, params) => {
    readableAt(chain, asConfig(params[0]))
    return identityOf(chain)
  },
  getSlotLeaders: slotLeaders,
  getLeaderSchedule: leaderSchedule,
  getBlockProduction: blockProduction,
}

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

const nodeMethods: RpcMethods = {
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

const inflationMethods: RpcMethods = {
  getInflationReward: inflationReward,
  getInflationGovernor: (_, params) => {
    onlyCommitment(params[0])
    return { initial: 0, terminal: 0, taper: 0, foundation: 0, foundationTerm: 0 }
  },
  getInflationRate: (chain) => ({ total: 0, validator: 0, foundation: 0, epoch: epochOf(chain.slot('finalized')) }),
  getStakeMinimumDelegation: (chain, params) => withContext(chain, commitmentOf(asConfig(params[0])), 1),
  getVoteAccounts: () => ({ current: [], delinquent: [] }),
}

// Methods about all lamports, which read every wallet.

const LARGEST_ACCOUNTS = 20

/** Returns the lamports of wallets; lamports in accounts of programs are not counted. */
function supply(chain: LocalChain, params: readonly unknown[]) {
  const config = asConfig(params[0])
  let total = 0n
  for (const [, { lamports }] of chain.accountsOwnedBy(SYSTEM_PROGRAM)) total += lamports
  const value = { total, circulating: total, nonCirculating: 0, nonCirculatingAccounts: [] }
  return withContext(chain, commitmentOf(config), value)
}

/** Returns the twenty wallets with the most lamports; `filter` is ignored because all of them circulate. */
function largestAccounts(chain: LocalChain, params: readonly unknown[]) {
  const wallets = Array.from(chain.accountsOwnedBy(SYSTEM_PROGRAM), ([address, { lamports }]) => ({
    address,
    lamports,
  }))
  wallets.sort((a, b) => (a.lamports < b.lamports ? 1 : a.lamports > b.lamports ? -1 : 0))
  return withContext(chain, commitmentOf(asConfig(params[0])), wallets.slice(0, LARGEST_ACCOUNTS))
}

const supplyMethods: RpcMethods = { getLargestAccounts: largestAccounts, getSupply: supply }

export const clusterCallMethods: RpcMethods = {
  ...leaderMethods,
  ...inflationMethods,
  ...nodeMethods,
  ...supplyMethods,
}
