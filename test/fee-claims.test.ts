/** Claims over HTTP: who may take what, splits that fit, and what is refused before anything is built. */

import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { IMAGE, keysIn } from './support/launches.ts'
import { hasProgram } from './support/programs.ts'
import { WALLET_RENT } from './support/rent.ts'
import { openService, removeFolder, type Service } from './support/service.ts'
import { makeSharedFolder } from './support/shared-folder.ts'
import { addressOf, SOL } from './support/wallets.ts'

const lacking = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].filter(({ id }) => !hasProgram(id))

describe.skipIf(lacking.length > 0)('a claim', () => {
  const folder = makeSharedFolder('svc-')
  const [creator, claimer, payer] = Array.from({ length: 3 }, () => Keypair.generate()) as [Keypair, Keypair, Keypair]
  let service: Service
  let chain: Awaited<ReturnType<Service['services']['chain']['local']>>
  let pool: string

  const claim = (body: object, key?: string) =>
    service.request('POST', `/v2/pools/${pool}/fee-claims`, {
      body: { payer: addressOf(payer), ...body },
      ...(key === undefined ? {} : { key }),
    })
  const signedBy = (transaction: string, ...keys: Keypair[]) => {
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign(keys)
    return Buffer.from(signed.serialize())
  }
  const splitsTo = (count: number) => {
    const bps = Math.floor(10_000 / count)
    return Array.from({ length: count }, (_, i) => {
      const key = Keypair.generate()
      chain.airdrop(addressOf(key), WALLET_RENT)
      return { recipient: addressOf(key), bps: i === 0 ? 10_000 - bps * (count - 1) : bps }
    })
  }
  const trade = async (lamports: bigint) => {
    const body = { payer: addressOf(payer), side: 'buy', amount: String(lamports) }
    const { tx } = (await service.request('POST', `/v2/pools/${pool}/swaps`, { body })).json.data
    expect(chain.send(signedBy(tx.transaction, payer)).err).toBeNull()
  }

  beforeAll(async () => {
    service = await openService({ dataDir: folder, settings: { 'platform-wallet': addressOf(claimer) } })
    chain = await service.services.chain.local()
    for (const key of [creator, claimer, payer]) chain.airdrop(addressOf(key), 500n * SOL)
    const body = {
      creator: addressOf(creator),
      name: 'My Token',
      symbol: 'MTK',
      image: IMAGE,
    }
    const { data } = (await service.request('POST', '/v2/pools', { body })).json
    const keys = keysIn(data.required_signers)
    for (const text of data.transactions) expect(chain.send(signedBy(text, creator, ...keys)).err).toBeNull()
    pool = data.pool.address
    return async () => {
      await service.close()
      removeFolder(folder)
    }
  })

  it('of an unknown pool is not_found, listed or created, of every kind and in both modes', async () => {
    const unknown = `/v2/pools/${addressOf(Keypair.generate())}/fee-claims`
    const known = await service.request('GET', `/v2/pools/${pool}/fee-claims`)
    expect([known.status, known.json.data]).toEqual([200, []])
    const answers = [await service.request('GET', unknown)]
    for (const kind of ['dbc', 'damm_v2', 'surplus']) {
      for (const mode of ['unsigned', 'signed']) {
        const body = { payer: addressOf(payer), kind, mode }
        answers.push(await service.request('POST', unknown, { body }))
      }
    }
    for (const { status, json } of answers) {
      expect([status, json.error?.code, json.error?.param]).toEqual([404, 'not_found', 'address'])
    }
  })

  it('is refused if there is nothing to claim', async () => {
    const { status, json } = await claim({})
    expect([status, json.error.param]).toEqual([400, 'address'])
    expect(json.error.message).toContain('nothing to claim')
  })

  it('in mode signed is refused without a signer, with the way to configure one', async () => {
    const { status, json } = await claim({ mode: 'signed' })
    expect([status, json.error.code]).toEqual([500, 'internal_error'])
    expect(json.error.message).toContain('No signer is configured')
    const key = await service.key({ scopes: ['airdrop:admin'] })
    const refused = await claim({ mode: 'signed' }, key)
    expect([refused.status, refused.json.error.message]).toEqual([403, expect.stringContaining('fees:claim')])
  })

  it('needs payer and fee claimer, pays the claimer exactly, and is recorded once it is confirmed', async () => {
    await trade(10n * SOL)
    const { data } = (await claim({})).json
    expect(data.tx.requiredSigners.toSorted()).toEqual([addressOf(payer), addressOf(claimer)].toSorted())
    const before = chain.account(addressOf(claimer))!.lamports
    const raw = signedBy(data.tx.transaction, payer, claimer)
    const body = { transaction: raw.toString('base64'), tracked_resource: data.tracked_resource }
    expect((await service.request('POST', '/v2/transactions', { body })).status).toBe(200)
    expect(chain.account(addressOf(claimer))!.lamports - before).toBe(BigInt(data.estimated_quote))
    chain.advance(3)
    service.clock.advance(15_000)
    await followTransactions(service.services)
    const history = (await service.request('GET', '/v2/fee-claims')).json.data
    expect(history).toMatchObject([{ type: 'fee_claim.executed', pool_address: pool }])
    const events = (await service.request('GET', '/v2/events?type=fee_claim.executed')).json.data
    expect(events).toHaveLength(1)
    expect(events[0].data.object).toMatchObject({ source: 'chain', id: history[0].id })
  })

  it('splits between eight if another pays, and a refusal of more says how many fit', async () => {
    await trade(10n * SOL)
    const eight = await claim({ splits: splitsTo(8) })
    expect(eight.status).toBe(200)
    expect(chain.send(signedBy(eight.json.data.tx.transaction, payer, claimer)).err).toBeNull()
    await trade(10n * SOL)
    const nine = await claim({ splits: splitsTo(9) })
    expect([nine.status, nine.json.error.param]).toEqual([400, 'splits'])
    expect(nine.json.error.message).toMatch(/8/)
    const ten = await service.request('POST', `/v2/pools/${pool}/fee-claims`, {
      body: { payer: addressOf(claimer), splits: splitsTo(10) },
    })
    expect(ten.status).toBe(200)
    expect(Buffer.from(ten.json.data.tx.transaction, 'base64').length).toBeLessThanOrEqual(1232)
    expect(chain.send(signedBy(ten.json.data.tx.transaction, claimer)).err).toBeNull()
  })

  it.each([
    [{ kind: 'damm_v2' }, 'kind', 'has not migrated'],
    [{ kind: 'surplus' }, 'kind', 'has not migrated'],
    [{ kind: 'surplus', splits: [] }, 'splits', ''],
    [{ splits: [{ recipient: 'x', bps: 10_000 }] }, 'splits', ''],
  ])('of %j is refused', async (body, param, message) => {
    await trade(SOL)
    const { status, json } = await claim(body)
    expect([status, json.error.param.split('.')[0]]).toEqual([400, param])
    expect(json.error.message).toContain(message)
  })

  it('whose share is zero or below rent names its recipient', async () => {
    await trade(SOL / 1000n)
    const [first, second] = splitsTo(2)
    const poor = Keypair.generate()
    const refused = await claim({
      splits: [
        { ...first!, bps: 9_999 },
        { recipient: addressOf(poor), bps: 1 },
      ],
    })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'splits.1.recipient'])
    expect(refused.json.error.details.rent_exempt).toBe(String(WALLET_RENT))
    expect(second!.bps).toBe(5000)
  })

  it('of an address that is not a pool is not_found', async () => {
    pool = addressOf(creator)
    expect((await claim({})).json.error.code).toBe('not_found')
  })
})
