/** Plays a gold lock, and a lock whose recipient changes and which ends early. */
import type { Act } from '../../src/chain/program-cache/canary-report.ts'
import type { FreshKey } from '../../src/solana/signatures.ts'
import { type Built, DAY_SECONDS, PLATFORM, type Stage } from './stage.ts'

/** Raw units. */
const GOLD_SUPPLY = 1_000n
const PERIOD_SECONDS = 10

export async function playLocks(stage: Stage): Promise<void> {
  const { act, client, chain, land, landBuilt, goldMint } = stage
  const [owner, recipient, next] = [stage.wallet(), stage.wallet(), stage.wallet()]
  const { address: user } = owner
  await stage.setToken(goldMint.address, user, GOLD_SUPPLY)

  await act('lock', [], async () => {
    const { data } = await client.goldLocks.create({ user, ...PLATFORM, amount: '400', lock_duration_days: 1 })
    land(data.transaction, owner)
  })
  await act('unlock', ['lock'], async () => {
    chain.advance(2 * DAY_SECONDS)
    const { data } = await client.goldLocks.unlock({ user, ...PLATFORM })
    land(data.transaction, owner)
  })

  let lock = ''
  await act('create a lock', [], async () => {
    const schedule = { amount: '100', frequency: PERIOD_SECONDS, periods: 10 }
    const rights = { cancellable_by: 'creator', recipient_changeable_by: 'creator' } as const
    const terms = { mint: goldMint.address, recipient: recipient.address, ...schedule, ...rights }
    const { data } = await client.locks.create({ payer: user, ...terms })
    landBuilt(data, owner)
    lock = data.address
  })
  type Place = { address: string; payer: string }
  const onLock = (name: Act, payer: FreshKey, build: (place: Place) => Promise<{ data: Built }>) =>
    act(name, ['create a lock'], async () => {
      landBuilt((await build({ address: lock, payer: payer.address })).data, payer)
    })
  await onLock('title a lock', owner, (place) => client.locks.entitle({ ...place, title: 'Canary' }))
  chain.advance(3 * PERIOD_SECONDS)
  await onLock('claim a lock', recipient, (place) => client.locks.claim(place))
  await onLock('change the recipient of a lock', owner, (place) =>
    client.locks.changeRecipient({ ...place, new_recipient: next.address }),
  )
  await onLock('cancel a lock', owner, (place) => client.locks.cancel(place))
}
