/** Reads the accounts that projections need before they can write. All accounts of one look are read together, within the budget. */
import type { Chain } from '../chain/connection.ts'
import { type Budget, takeCalls } from './budget.ts'
import type { ChainStateReader, Projection, TransactionChanges } from './projection.ts'

/** The accounts that were read for each projection, by address. */
export type ChainStates = ReadonlyMap<Projection, ReadonlyMap<string, unknown>>

/** The number of addresses that each projection has requested in one look. */
export type AddressCounts = Map<Projection, number>

/** A confirmed transaction, with its changes if they were read. */
interface WithChanges {
  transition: { state: { slot: number } }
  changes?: TransactionChanges
}

interface RequestedStates {
  projection: Projection
  reader: ChainStateReader<unknown, unknown>
  addresses: readonly string[]
}

function requestedStates({ changes: found }: WithChanges): RequestedStates[] {
  return (found?.changed ?? []).flatMap(({ projection, changes }) => {
    const { chainState: reader } = projection
    const addresses = reader?.addressesOf(changes) ?? []
    return reader === undefined || addresses.length === 0 ? [] : [{ projection, reader, addresses }]
  })
}

/**
 * Takes the additional calls that one more transaction needs. Returns false and takes none when the budget has fewer.
 */
export function reserveStateCalls(budget: Budget, counts: AddressCounts, planned: WithChanges): boolean {
  const requested = requestedStates(planned).map(({ projection, reader, addresses }) => {
    const before = counts.get(projection) ?? 0
    const after = before + addresses.length
    return { projection, after, calls: reader.callsFor(after) - reader.callsFor(before) }
  })
  const calls = requested.reduce((sum, each) => sum + each.calls, 0)
  if (!takeCalls(budget, calls)) return false
  for (const { projection, after } of requested) counts.set(projection, after)
  return true
}

/**
 * Reads the accounts that the transitions require. A transition with an unreadable account waits for the next look and
 * does not delay the others. `fault` is the error of that reading.
 */
export async function readChainStates<P extends WithChanges>(
  chain: Chain,
  planned: readonly P[],
): Promise<{ readable: readonly P[]; states: ChainStates; fault?: unknown }> {
  const byProjection = new Map<Projection, { planned: P; requested: RequestedStates }[]>()
  for (const each of planned) {
    for (const requested of requestedStates(each)) {
      const { projection } = requested
      byProjection.set(projection, [...(byProjection.get(projection) ?? []), { planned: each, requested }])
    }
  }
  const states = new Map<Projection, ReadonlyMap<string, unknown>>()
  let readable = planned
  let fault: unknown
  for (const [projection, group] of byProjection) {
    const slot = Math.max(...group.map((each) => each.planned.transition.state.slot))
    const addresses = [...new Set(group.flatMap(({ requested }) => requested.addresses))]
    try {
      const [first] = group
      if (first !== undefined) states.set(projection, await first.requested.reader.read(chain, addresses, slot))
    } catch (error) {
      fault ??= error
      const unreadable = new Set<P>(group.map((each) => each.planned))
      readable = readable.filter((each) => !unreadable.has(each))
    }
  }
  return { readable, states, ...(fault === undefined ? {} : { fault }) }
}
