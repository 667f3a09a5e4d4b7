/** Notes through the app. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeFolder, openService, removeFolder, type Service } from './support/service.ts'

let service: Service
beforeAll(async () => {
  service = await openService({ dataDir: makeFolder() })
})
afterAll(async () => {
  await service.close()
  removeFolder(service.dataDir)
})

describe('a note', () => {
  it('is built for its author to sign, stored, and listed', async () => {
    const author = Keypair.generate().publicKey.toBase58()
    const built = await service.request('POST', '/v2/notes', { body: { author, text: 'gm' } })
    expect([built.status, built.json.data.requiredSigners]).toEqual([200, [author]])
    const listed = await service.request('GET', `/v2/notes?author=${author}`)
    expect(listed.json.data).toEqual([built.json.data.note])
    const events = await service.request('GET', '/v2/events?type=note.drafted')
    expect(events.json.data[0].data.object).toMatchObject({ resource_type: 'note', text: 'gm' })
  })
})
