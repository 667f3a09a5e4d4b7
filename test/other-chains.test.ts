/** Records of another chain, as after a reset of the embedded chain: neither listed nor missed. */
import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeEvent } from '../src/store/events/drafts.ts'
import { insertGoldLock } from '../src/store/resources/gold-locks.ts'
import { insertPool } from '../src/store/resources/pools.ts'
import { type Service, sharedService } from './support/service.ts'
import { someAddress } from './support/wallets.ts'

describe('after the chain was reset', () => {
  const shared = sharedService()
  let service: Service
  const [before, now] = [someAddress(), someAddress()]
  const [origin, type] = [{ external_uid: null, metadata_json: null }, 'dbc' as const]

  beforeAll(async () => {
    service = await shared()
    const { store, chain, clock } = service.services
    const genesis = await chain.genesisHash()
    const named = { name: 'N', symbol: 'S', metadata_uri: null, status: 'live' as const, creator: null, config: null }
    await store.write(async (tx) => {
      for (const [pool, of] of [
        [now, genesis],
        [before, base58.encode(randomBytes(32))],
      ] as const) {
        const row = { address: pool, type, base_mint: someAddress(), quote_mint: someAddress(), ...named, ...origin }
        const none = { preset: null, migrated_to: null, dbc_pool: null, next_check_at: null, crank_signing: null }
        await insertPool(tx, { ...row, ...none, crank_signature: null, genesis: of, created_at: clock.now() })
        const lock = { user: pool, mint: someAddress(), amount: '1', unlocks_at: 1, escrow: someAddress() }
        const made = { genesis: of, slot: 1, signature: someAddress(), status: 'locked' as const, next_check_at: null }
        await insertGoldLock(tx, { ...lock, ...made, ...origin, created_at: clock.now() })
        const object = { address: pool, slot: 999_999_999, signature: base58.encode(randomBytes(64)), source: 'chain' }
        const about = { type: 'pool.live' as const, resource_type: 'pool', resource_id: pool }
        await writeEvent(tx, clock, { ...about, object, origin })
      }
    })
  })

  const read = async (path: string) => {
    const { status, json } = await service.request('GET', path)
    return { status, data: json.data }
  }

  it('its old pools are neither listed nor read', async () => {
    expect((await read('/v2/pools')).data.map((pool: { address: string }) => pool.address)).toEqual([now])
    expect((await read('/v2/pools?status=live&limit=1')).data).toHaveLength(1)
    expect((await read(`/v2/pools/${now}`)).data.status).toBe('live')
    expect((await read(`/v2/pools/${before}`)).status).toBe(404)
  })

  it('its old gold locks are not listed', async () => {
    expect((await read('/v2/gold-locks')).data.map((lock: { user: string }) => lock.user)).toEqual([now])
  })

  it('events of the old chain are not extra, and one of this chain without its transaction is', async () => {
    const { data } = await read('/v2/event-verification?since=0&until=99999999999&cursor=events.0')
    expect(data.extra).toMatchObject([{ resource_id: now, reason: 'not_on_chain' }])
    expect(data.events).toBe(2)
  })
})
