/** Methods about leaders: the only node leads every slot, of the epochs for which a validator has a schedule. */
import { GENESIS_SLOT, SLOTS_PER_EPOCH } from '../../clock.ts'
import type { LocalChain } from '../../types.ts'
import { epochOf, identityOf } from '../epochs.ts'
import { invalidParams } from '../errors.ts'
import { type RpcMethods, readableAt, withContext } from '../method.ts'
import { asAmount, asConfig, asPubkey, commitmentOf, requireParams } from '../params.ts'

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

export const leaderMethods: RpcMethods = {
  getSlotLeader: (chain, params) => {
    readableAt(chain, asConfig(params[0]))
    return identityOf(chain)
  },
  getSlotLeaders: slotLeaders,
  getLeaderSchedule: leaderSchedule,
  getBlockProduction: blockProduction,
}
