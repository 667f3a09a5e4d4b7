/** Plays launches without a curve, and what the holder of a position does with its liquidity. */
import type { Act } from '../../src/chain/program-cache/canary-report.ts'
import { launch } from './pool-acts.ts'
import { type Built, PRESETS, SOL, type Stage } from './stage.ts'

const PERIODS = 3
const PERIOD_SECONDS = 10
/** In hundredths of a percent. */
const TENTH = 1_000

export async function playPositions(stage: Stage): Promise<void> {
  const { act, client, chain, land, landBuilt } = stage
  const creator = stage.wallet()
  const payer = creator.address
  let [address, position] = ['', '']
  const amount = { amount_b: String(SOL / 100n) }
  const open = async () => {
    const { data } = await client.positions.open({ address, payer, ...amount })
    landBuilt(data, creator)
    return data.position
  }
  type Place = { address: string; position: string; payer: string }
  const onPosition = (name: Act, needs: readonly Act[], build: (place: Place) => Promise<{ data: Built }>) =>
    act(name, ['open a position', ...needs], async () => {
      landBuilt((await build({ address, position, payer })).data, creator)
    })

  await act('launch without a curve', [], async () => {
    const launched = await launch(stage, creator, { type: 'damm_v2', symbol: 'CANARY2' })
    address = launched.address
  })
  await act('launch with a part for the platform', [], async () => {
    await launch(stage, creator, { type: 'damm_v2', symbol: 'CANARY3', preset: PRESETS.shared })
  })
  await act('open a position', ['launch without a curve'], async () => {
    const order = { address, payer, side: 'buy', amount: String(SOL) } as const
    land((await client.pools.swap(order)).data.tx.transaction, creator)
    position = await open()
  })
  await onPosition('add liquidity', [], (place) => client.positions.add({ ...place, ...amount }))
  await onPosition('withdraw liquidity', [], (place) => client.positions.remove({ ...place, share_bps: TENTH }))
  await act('lock liquidity', ['open a position'], async () => {
    const { data } = await client.positions.lock({ address, position: await open(), payer })
    landBuilt(data, creator)
  })
  await onPosition('vest liquidity', [], (place) => {
    const schedule = { share_bps: TENTH, periods: PERIODS, frequency: PERIOD_SECONDS }
    return client.positions.vest({ ...place, ...schedule })
  })
  chain.advance(PERIODS * PERIOD_SECONDS)
  await onPosition('withdraw vested liquidity', ['vest liquidity'], (place) => client.positions.remove(place))
  await onPosition('close a position', ['withdraw vested liquidity'], (place) => client.positions.close(place))
}
