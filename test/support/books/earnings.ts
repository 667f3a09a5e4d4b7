/** Holds what the service says of everybody's earnings against what the test itself has counted. */
import { expect } from 'vitest'
import type { PoolEarnings } from '../../../src/api/pool-earnings.ts'
import { positionsDue } from './claims.ts'
import type { Amounts } from './curve-state.ts'
import type { World } from './world.ts'

const SIDES = ['quote', 'base'] as const
const NOTHING: Amounts = { quote: 0n, base: 0n }

/** After any step: what accrued is what traders paid, what is claimable is what a claim would pay, the rest was claimed. */
export async function holdEarnings(world: World): Promise<void> {
  world.pass()
  const state = world.state()
  const earnings: PoolEarnings = await world.ok('GET', `/v2/pools/${world.curve}/earnings`)
  const { tally } = world
  for (const side of SIDES) {
    const accrued = tally.partner.accrued[side] + tally.creator.accrued[side]
    const claimable = state.fees.partner[side] + state.fees.creator[side]
    expect(earnings.trading_fees?.[side], `trading fees, ${side}`).toEqual({
      accrued: String(accrued),
      claimable: String(claimable),
      claimed: String(accrued - claimable),
    })
  }
  for (const as of ['partner', 'creator'] as const) {
    for (const source of earnings.parties.find(({ party }) => party === as)!.sources) {
      const { kind } = source
      const due =
        kind === 'damm_v2'
          ? await positionsDue(world, as === 'partner' ? 'partner' : world.creator)
          : state.due(kind, as)
      for (const side of SIDES) {
        const said = source[side]
        if (said === null) continue
        const what = `${kind} of the ${as}, ${side}`
        expect(said.claimable, what).toBe(String((due ?? NOTHING)[side]))
        if (said.accrued === null || said.claimed === null) continue
        expect(BigInt(said.accrued) - BigInt(said.claimable!), what).toBe(BigInt(said.claimed))
        if (kind === 'dbc') expect(said.accrued, what).toBe(String(tally[as].accrued[side]))
        if (kind !== 'damm_v2') expect(said.claimed, what).toBe(String(world.paid(kind, as)[side]))
      }
    }
  }
  const protocol = earnings.parties
    .find(({ party }) => party === 'protocol')!
    .sources.find(({ kind }) => kind === 'dbc')
  for (const side of SIDES) {
    const said = protocol?.[side]
    if (said === null || said === undefined) continue
    const [accrued, claimable] = [tally.protocol.accrued[side], state.fees.protocol[side]]
    expect(said, `trading fees of the protocol, ${side}`).toEqual({
      accrued: String(accrued),
      claimable: String(claimable),
      claimed: String(accrued - claimable),
    })
  }
}
