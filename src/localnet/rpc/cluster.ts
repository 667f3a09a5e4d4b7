/** Methods about the chain as a whole: its position, its identity, its consensus, and the speed of its slots. */
import { addressBytes } from '../../solana/addresses.ts'
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../clock.ts'
import type { LocalChain } from '../types.ts'
import { epochOf } from './epochs.ts'
import { invalidParams } from './errors.ts'
import { API_VERSION, FEATURE_SET, type RpcMethods, readableAt } from './method.ts'
import { asConfig, asInteger } from './params.ts'

const MAX_SAMPLES = 720
const SAMPLE_SECONDS = 60

const slotAt = (chain: LocalChain, params: readonly unknown[]): number =>
  chain.slot(readableAt(chain, asConfig(params[0])))

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

/** Returns one sample, of the last minute; a validator has one for each of the last minutes. */
function performanceSamples(chain: LocalChain, params: readonly unknown[]) {
  if (params[0] !== undefined && params[0] !== null && asInteger(params[0]) > MAX_SAMPLES) {
    throw invalidParams(`Invalid limit; max ${MAX_SAMPLES}`)
  }
  const slot = chain.slot()
  const numSlots = Math.round((SAMPLE_SECONDS * 1000) / chain.slotMs())
  let count = 0
  for (const at of chain.slotsWithTransactions(Math.max(GENESIS_SLOT, slot - numSlots), slot, numSlots)) {
    count += chain.transactionsInSlot(at).length
  }
  return [{ slot, numTransactions: count, numNonVoteTransactions: count, numSlots, samplePeriodSecs: SAMPLE_SECONDS }]
}

/** Bytes of the aggregate signature of an Alpenglow certificate. */
const CERTIFICATE_SIGNATURE_BYTES = 192

/** Returns the certificate of the block from which the chain changed to Alpenglow. No validator has signed it. */
function alpenglowCertificate(chain: LocalChain) {
  const slot = chain.alpenglowSlot()
  if (slot === null) return null
  return {
    block: { slot, blockId: [...addressBytes(chain.blockhashOf(slot))] },
    signature: { signature: new Array<number>(CERTIFICATE_SIGNATURE_BYTES).fill(0), bitmap: [] },
  }
}

export const clusterMethods: RpcMethods = {
  getSlot: slotAt,
  getBlockHeight: slotAt,
  getEpochInfo: epochInfo,
  getGenesisHash: (chain) => chain.genesisHash,
  getAgGenesisCert: alpenglowCertificate,
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': FEATURE_SET }),
  getHealth: (chain) => {
    // This throws when the chain has stopped.
    chain.latestBlockhash()
    return 'ok'
  },
  getRecentPerformanceSamples: performanceSamples,
}
