/** Notes through the app: drafted, signed by their author, and followed to the chain. */
import { Keypair, LAMPORTS_PER_SOL, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { makeFolder, openService, removeFolder, type Service } from './support/service.ts'

let service: Service
const author = Keypair.generate()
beforeAll(async () => {
  service = await openService({ dataDir: makeFolder() })
  const chain = await service.services.chain.local()
  chain.airdrop(author.publicKey.toBase58(), BigInt(LAMPORTS_PER_SOL))
})
afterAll(async () => {
  await service.close()
  removeFolder(service.dataDir)
})

const eventsOf = async (type: string) => (await service.request('GET', `/v2/events?type=${type}`)).json.data

describe('a note', () => {
  it('is built for its author to sign, stored, and listed', async () => {
    const body = { author: author.publicKey.toBase58(), text: 'gm' }
    const { status, json } = await service.request('POST', '/v2/notes', { body })
    expect([status, json.data.requiredSigners]).toEqual([200, [body.author]])
    expect((await service.request('GET', `/v2/notes?author=${body.author}`)).json.data).toEqual([json.data.note])
    expect(await eventsOf('note.drafted')).toHaveLength(1)
  })

  it('is written once its transaction is confirmed', async () => {
    const body = { author: author.publicKey.toBase58(), text: 'a note: with colons' }
    const { note, transaction, tracked_resource } = (await service.request('POST', '/v2/notes', { body })).json.data
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign([author])
    const sent = { transaction: Buffer.from(signed.serialize()).toString('base64'), tracked_resource }
    expect((await service.request('POST', '/v2/transactions', { body: sent })).status).toBe(200)
    const written = async () => {
      service.clock.advance(15_000)
      await followTransactions(service.services)
      return eventsOf('note.written')
    }
    await expect.poll(written).toHaveLength(1)
    const [event] = await eventsOf('note.written')
    expect(event.data.object).toMatchObject({ resource_id: note.id, status: 'written', source: 'chain' })
  })
})
