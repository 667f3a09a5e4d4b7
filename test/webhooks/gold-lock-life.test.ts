/** A gold lock's whole life, as subscribers receive it: every delivery, in order, each once and nothing else. */
import { createHmac } from 'node:crypto'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followGoldLocks } from '../../src/operations/gold-locks/follow-gold-locks.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { addressOf, createMint, DAY, give, lacksLock } from '../support/gold.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { SOL } from '../support/wallets.ts'

async function setting() {
  const [issuer, user, key] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  const service = await startService({
    settings: { 'webhooks.allow-private': true, 'gold.mint': addressOf(key), 'priority-fee': 'none' },
  })
  const { services, clock, request } = service
  const chain = await services.chain.local()
  for (const each of [issuer, user]) chain.airdrop(addressOf(each), 10n * SOL)
  give(chain, issuer, createMint(chain, issuer, { key }), user.publicKey, 1_000n)
  const subscribe = async (enabled_events: string[]) => {
    const receiver = await startReceiver()
    const { json } = await request('POST', '/v2/webhook-subscriptions', { body: { url: receiver.url, enabled_events } })
    return { receiver, secret: json.data.secret as string }
  }
  const settle = async () => {
    for (let i = 0; i < 2; i++) {
      chain.advance(20)
      clock.advance(20_000)
      await followTransactions(services)
      await followGoldLocks(services)
    }
    await deliverRound(services)
  }
  const submit = async (method: string, path: string, body: object) => {
    const built = await request(method, path, { body })
    expect(built.status, built.text).toBe(200)
    const signed = VersionedTransaction.deserialize(Buffer.from(built.json.data.transaction, 'base64'))
    signed.sign([user])
    const transaction = Buffer.from(signed.serialize()).toString('base64')
    const { tracked_resource } = built.json.data
    const sent = await request('POST', '/v2/transactions', {
      body: { transaction, tracked_resource, externalUid: 'gold:7', metadata: { tier: 'gold' } },
    })
    expect(sent.status, sent.text).toBe(200)
    await settle()
    return sent.json.data.signature as string
  }
  return { ...service, chain, user: addressOf(user), mint: addressOf(key), subscribe, settle, submit }
}

describe.skipIf(lacksLock !== '')(`a subscriber ${lacksLock}`, () => {
  it('to everything receives both lives of a gold lock, and one to its unlocking receives only that', async () => {
    const { chain, user, mint, subscribe, settle, submit } = await setting()
    const [all, some] = [await subscribe(['*']), await subscribe(['gold.unlock_eligible', 'gold.unlocked'])]
    const expected: [string, string][] = []
    const add = (signature: string, ...types: string[]) => {
      for (const step of ['submitted', 'confirmed', 'finalized']) expected.push([`transaction.${step}`, signature])
      expected.push(...types.map((type) => [type, user] as [string, string]))
    }
    const signatures: string[] = []
    for (const [amount, days] of [
      ['400', 30],
      ['1000', 1460],
    ] as const) {
      const body = { user, platform_id: 'acme', amount, lock_duration_days: days }
      const locked = await submit('POST', '/v2/gold-locks', body)
      add(locked, 'gold.locked')
      for (let i = 0; i < 2; i++) await settle()
      chain.advance(days * DAY)
      for (let i = 0; i < 3; i++) await settle()
      expected.push(['gold.unlock_eligible', user])
      const unlocked = await submit('DELETE', `/v2/gold-locks/${user}`, { platform_id: 'acme' })
      add(unlocked, 'gold.unlocked')
      signatures.push(locked, unlocked)
    }
    await settle()
    const told = all.receiver.all.toSorted((a, b) => a.sequence - b.sequence)
    expect(told.map(({ type, about }) => [type, about])).toEqual(expected)
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, i) => i + 1))
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length)

    const gold = told.filter(({ type }) => type.startsWith('gold.')).map(({ body }) => JSON.parse(body))
    const record = { resource_type: 'gold_lock', resource_id: user, user, mint, source: 'chain' }
    expect(gold.map(({ data }) => data.object)).toEqual(
      ['400', '1000'].flatMap((amount, life) =>
        ['locked', 'unlockable', 'unlocked'].map((status, step) => ({
          ...record,
          ...{ amount, status, unlocks_at: expect.stringMatching(/Z$/), escrow: expect.any(String) },
          ...{ created_at: expect.stringMatching(/Z$/), slot: expect.any(Number) },
          ...(step === 1 ? {} : { signature: signatures[life * 2 + step / 2] }),
        })),
      ),
    )
    for (const each of gold) expect(each).toMatchObject({ external_uid: 'gold:7', metadata: { tier: 'gold' } })

    const few = some.receiver.all.toSorted((a, b) => a.sequence - b.sequence)
    expect(few.map(({ type }) => type)).toEqual(Array(2).fill(['gold.unlock_eligible', 'gold.unlocked']).flat())
    for (const { receiver, secret } of [all, some]) {
      for (const { headers, body } of receiver.all) {
        const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature']))!
        expect(createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')).toBe(v1)
      }
    }
  })
})
