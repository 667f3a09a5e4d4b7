/** Methods about the cluster, which has one node, no stake and no inflation. */

import { SLOT_MS } from '../../solana/constants.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../clock.ts'
import type { LocalChain } from '../types.ts'
import { CODE, invalidParams, RpcError } from './errors.ts'
import { API_VERSION, type RpcMethods, readableAt, withContext } from './method.ts'
import { asConfig, asInteger, asList, asPubkey, commitmentOf, type RpcConfig, requireParams } from './params.ts'

const FEATURE_SET = 3_640_012_085
const MAX_LEADERS = 5000
const LARGEST_ACCOUNTS = 20

const slotAt = (chain: LocalChain, params: readonly unknown[]): number =>
  chain.slot(readableAt(chain, asConfig(params[0])))

const epochOf = (slot: number): number => Math.floor(slot / SLOTS_PER_EPOCH)

function epochInfo(chain: LocalChain, params: readonly unknown[]) {
  const absoluteSlot = slotAt(chain, params)
  return {
    epoch: epochOf(absoluteSlot),
    slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    absoluteSlot,
    blockHeight: absoluteSlot,
    transactionCount: chain.transactionCount(),
  }
}

/** The node's identity is the genesis hash, the only address that belongs to the chain itself. */
const identityOf = (chain: LocalChain): string => chain.genesisHash

function slotLeaders(chain: LocalChain, params: readonly unknown[]) {
  const limit = asInteger(params[1])
  if (limit < 1 || limit > MAX_LEADERS) throw invalidParams(`Invalid limit; max ${MAX_LEADERS}`)
  return Array.from({ length: limit }, () => identityOf(chain))
}

/** Returns the lamports of wallets; lamports in accounts of programs are not counted. */
function supply(chain: LocalChain, params: readonly unknown[]) {
  const config: RpcConfig = asConfig(params[0])
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

function blockProduction(chain: LocalChain, params: readonly unknown[]) {
  const commitment = commitmentOf(asConfig(params[0]))
  const lastSlot = chain.slot(commitment)
  const firstSlot = Math.max(GENESIS_SLOT, epochOf(lastSlot) * SLOTS_PER_EPOCH)
  const produced = Math.max(0, lastSlot - firstSlot + 1)
  const byIdentity = { [identityOf(chain)]: [produced, produced] }
  return withContext(chain, commitment, { byIdentity, range: { firstSlot, lastSlot } })
}

/** Assigns every slot of every epoch to the only node. */
function leaderSchedule(chain: LocalChain, params: readonly unknown[]) {
  const { identity } = asConfig(typeof params[0] === 'object' && params[0] !== null ? params[0] : params[1])
  if (typeof identity === 'string' && asPubkey(identity) !== identityOf(chain)) return {}
  return { [identityOf(chain)]: Array.from({ length: SLOTS_PER_EPOCH }, (_, slotIndex) => slotIndex) }
}

function inflationReward(_: LocalChain, params: readonly unknown[]) {
  requireParams(params, 1)
  return asList(params[0]).map((address) => {
    asPubkey(address)
    return null
  })
}

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

function performanceSamples(chain: LocalChain, params: readonly unknown[]) {
  if (params[0] !== undefined && params[0] !== null && asInteger(params[0]) > 720) {
    throw invalidParams('Invalid limit; max 720')
  }
  const slot = chain.slot()
  const samplePeriodSecs = 60
  const numSlots = (samplePeriodSecs * 1000) / SLOT_MS
  let count = 0
  for (const at of chain.slotsWithTransactions(Math.max(GENESIS_SLOT, slot - numSlots), slot, numSlots)) {
    count += chain.transactionsInSlot(at).length
  }
  return [{ slot, numTransactions: count, numNonVoteTransactions: count, numSlots, samplePeriodSecs }]
}

export const clusterMethods: RpcMethods = {
  getSlot: slotAt,
  getBlockHeight: slotAt,
  getEpochInfo: epochInfo,
  getEpochSchedule: () => ({
    slotsPerEpoch: SLOTS_PER_EPOCH,
    leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
    warmup: false,
    firstNormalEpoch: 0,
    firstNormalSlot: 0,
  }),
  getGenesisHash: (chain) => chain.genesisHash,
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': FEATURE_SET }),
  getHealth: (chain) => {
    // This throws when the chain has stopped.
    chain.latestBlockhash()
    return 'ok'
  },
  getIdentity: (chain) => ({ identity: identityOf(chain) }),
  getClusterNodes: (chain) => [clusterNode(chain)],
  getVoteAccounts: () => ({ current: [], delinquent: [] }),
  getSlotLeader: (chain, params) => {
    readableAt(chain, asConfig(params[0]))
    return identityOf(chain)
  },
  getSlotLeaders: slotLeaders,
  getLeaderSchedule: leaderSchedule,
  getBlockProduction: blockProduction,
  getInflationReward: inflationReward,
  getLargestAccounts: largestAccounts,
  getSupply: supply,
  getInflationGovernor: () => ({ initial: 0, terminal: 0, taper: 0, foundation: 0, foundationTerm: 0 }),
  getInflationRate: (chain) => ({ total: 0, validator: 0, foundation: 0, epoch: epochOf(chain.slot('finalized')) }),
  getStakeMinimumDelegation: (chain, params) => withContext(chain, commitmentOf(asConfig(params[0])), 1),
  getRecentPerformanceSamples: performanceSamples,
  getMaxRetransmitSlot: (chain) => chain.slot(),
  getMaxShredInsertSlot: (chain) => chain.slot(),
  getHighestSnapshotSlot: () => {
    throw new RpcError(CODE.noSnapshot, 'No snapshot')
  },
}
