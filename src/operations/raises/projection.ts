/** Projects confirmed transactions onto raises that are recorded here. A raise has no events of its own. */
import { askNode } from '../../chain/nodes/rpc-faults.ts'
import { decodeRaise, RAISES_PER_CALL, type Raise, raisesIn } from '../../chain/programs/presale/index.ts'
import { chainTimeOf } from '../../chain/reads/chain-clock.ts'
import { accountsAtSlot } from '../../chain/reads/node-reads.ts'
import type { Projection } from '../../following/projection.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { findRaise, updateRaise } from '../../store/resources/raises.ts'
import { rowStateOf } from './record.ts'

interface SeenRaise {
  raise: Raise
  chainSeconds: number
}

/**
 * The changes are the addresses of the raises, whose accounts are read, because amounts are not in the instructions. Acts
 * past us are not searched: a worker looks at the account of each recorded raise, so that nobody reads every deposit.
 */
export const raiseProjection: Projection<readonly string[], SeenRaise> = {
  async changesIn(message) {
    const raises = new Set(raisesIn(message))
    return raises.size === 0 ? null : [...raises]
  },
  chainState: {
    addressesOf: (raises) => raises,
    callsFor: (addresses) => Math.ceil(addresses / RAISES_PER_CALL),
    async read(chain, addresses, slot) {
      const seen = new Map<string, SeenRaise>()
      for (let at = 0; at < addresses.length; at += RAISES_PER_CALL) {
        const part = addresses.slice(at, at + RAISES_PER_CALL)
        const read = () => accountsAtSlot(chain, [CLOCK_SYSVAR, ...part], slot)
        const [clock = null, ...accounts] = (await askNode('Reading raises', read)).accounts
        const { unixSeconds: chainSeconds } = await chainTimeOf(clock)
        for (const [i, address] of part.entries()) {
          const raise = decodeRaise(address, accounts[i] ?? null)
          if (raise !== null) seen.set(address, { raise, chainSeconds })
        }
      }
      return seen
    },
  },
  async write(tx, { changes, states, transaction, services }) {
    for (const id of changes) {
      const [row, seen] = [await findRaise(tx, id), states.get(id)]
      if (row === null || row.genesis !== transaction.genesis || seen === undefined) continue
      const { chainSeconds, raise } = seen
      const { next_check_at, ...state } = rowStateOf(raise, { chainSeconds, now: services.clock.now() }, row)
      // The claims of buyers must not shorten the wait after a failed settlement.
      await updateRaise(tx, id, row.settle_failures > 0 ? state : { ...state, next_check_at })
    }
    return []
  },
  async ofRecords(reader, changes, genesis) {
    const kept: string[] = []
    for (const id of changes) if ((await findRaise(reader, id))?.genesis === genesis) kept.push(id)
    return kept.length === 0 ? null : kept
  },
}
