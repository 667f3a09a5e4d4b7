/** A token's life over HTTP with a stranger's signer: built by the API, signed by web3.js, run by the embedded chain. */
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { hasProgram } from './support/programs.ts'
import { startService } from './support/service.ts'

const body = { name: 'My Token', symbol: 'MTK', initial_supply: '1000000000000', uri: 'https://example.com/token.json' }

async function wallet() {
  const service = await startService()
  const chain = await service.services.chain.local()
  const payer = Keypair.generate()
  chain.airdrop(payer.publicKey.toBase58(), 10_000_000_000n)
  const land = (transaction: string, ...signers: Keypair[]) => {
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    signed.sign(signers)
    return chain.send(signed.serialize())
  }
  return { ...service, payer, address: payer.publicKey.toBase58(), land }
}

interface Built {
  transaction: string
  tracked_resource: object
}

const programs = [
  ['token2022', true],
  ['spl', hasProgram(PROGRAMS.tokenMetadata.id)],
] as const

describe.each(programs)('a token of the program %s', (token_program, runs) => {
  it.skipIf(!runs)('goes from creation to fully immutable', async () => {
    const { request, payer, address, land } = await wallet()
    const created = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program, revoke_freeze_authority: false },
    })
    expect([created.status, created.json.data.requiredSigners]).toEqual([200, [address, created.json.data.mint]])
    const { mint, transaction, required_signers, tracked_resource } = created.json.data
    expect(tracked_resource).toEqual({ resource_type: 'token', resource_id: mint, related_events: ['token.created'] })
    const mintKey = Keypair.fromSecretKey(Uint8Array.from(required_signers.mint_secret_key))
    expect(land(transaction, payer, mintKey).err).toBe(null)
    const { json } = await request('GET', `/v2/tokens/${mint}`)
    expect(json.data).toMatchObject({
      mint,
      status: 'created',
      raw: { supply: '1000000000000', decimals: 6, mint_authority: address, freeze_authority: address },
    })
    expect(json.data.raw.metadata).toMatchObject({ name: body.name, symbol: body.symbol, uri: body.uri })

    const seen: [string, string[]][] = []
    for (const type of ['freeze', 'mint', 'metadata']) {
      const revoked = await request('DELETE', `/v2/tokens/${mint}/authorities/${type}`, { body: { payer: address } })
      expect(revoked.status).toBe(200)
      expect(land(revoked.json.data.transaction, payer).err).toBe(null)
      const { status } = (await request('GET', `/v2/tokens/${mint}`)).json.data
      seen.push([status, revoked.json.data.tracked_resource.related_events])
    }
    expect(seen).toEqual([
      ['freeze_authority_revoked', ['token.freeze_authority_revoked']],
      ['mint_authority_revoked', ['token.mint_authority_revoked']],
      ['fully_immutable', ['token.fully_immutable']],
    ])
    const again = await request('DELETE', `/v2/tokens/${mint}/authorities/mint`, { body: { payer: address } })
    expect([again.status, again.json.error.param]).toEqual([400, 'type'])
  })
})

describe.each(programs)('a token of the program %s, submitted by a stranger', (token_program, runs) => {
  it.skipIf(!runs)('is listed once it is confirmed, and every step of its life is an event', async () => {
    const { request, payer, address, services, clock } = await wallet()
    const chain = await services.chain.local()
    const settle = async () => {
      chain.advance(20)
      clock.advance(20_000)
      await followTransactions(services)
    }
    const submit = async (built: Built, ...signers: Keypair[]) => {
      const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
      transaction.sign(signers)
      const signed = Buffer.from(transaction.serialize()).toString('base64')
      const { tracked_resource } = built
      const sent = await request('POST', '/v2/transactions', { body: { transaction: signed, tracked_resource } })
      expect(sent.status).toBe(200)
      await settle()
      return sent.json.data.signature as string
    }
    const created = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program, externalUid: 'launch:1' },
    })
    const { mint, required_signers } = created.json.data
    expect((await request('GET', '/v2/tokens')).json.data).toEqual([])
    const birth = await submit(
      created.json.data,
      payer,
      Keypair.fromSecretKey(Uint8Array.from(required_signers.mint_secret_key)),
    )
    const [listed] = (await request('GET', '/v2/tokens')).json.data
    expect(listed).toMatchObject({ mint, status: 'freeze_authority_revoked', raw: { supply: '1000000000000' } })
    const ends: string[] = []
    for (const type of ['mint', 'metadata']) {
      const built = await request('DELETE', `/v2/tokens/${mint}/authorities/${type}`, { body: { payer: address } })
      ends.push(await submit(built.json.data, payer))
    }
    const one = (await request('GET', `/v2/tokens?status=fully_immutable`)).json.data
    expect(one).toMatchObject([{ mint, status: 'fully_immutable' }])
    const events = (await request('GET', `/v2/events?order=asc&resource_type=token&resource_id=${mint}`)).json.data
    const told = events.map(({ type, data }: { type: string; data: { object: Record<string, string> } }) => [
      type,
      data.object.status,
      data.object.source,
      data.object.signature,
    ])
    expect(told).toEqual([
      ['token.created', 'freeze_authority_revoked', 'chain', birth],
      ['token.freeze_authority_revoked', 'freeze_authority_revoked', 'chain', birth],
      ['token.mint_authority_revoked', 'mint_authority_revoked', 'chain', ends[0]],
      ['token.fully_immutable', 'fully_immutable', 'chain', ends[1]],
    ])
    const transactions = (await request('GET', `/v2/events?order=asc&resource_type=transaction`)).json.data
    expect(transactions.map(({ type }: { type: string }) => type)).toEqual(
      Array(3).fill(['transaction.submitted', 'transaction.confirmed', 'transaction.finalized']).flat(),
    )
  })
})

describe('a token', () => {
  it('is built with both authorities gone, and says which events that is', async () => {
    const { request, payer, address, land } = await wallet()
    const { json } = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program: 'token2022', revoke_mint_authority: true },
    })
    const mintKey = Keypair.fromSecretKey(Uint8Array.from(json.data.required_signers.mint_secret_key))
    expect(land(json.data.transaction, payer, mintKey).err).toBe(null)
    expect(json.data.tracked_resource.related_events).toEqual([
      'token.created',
      'token.mint_authority_revoked',
      'token.freeze_authority_revoked',
    ])
    expect((await request('GET', `/v2/tokens/${json.data.mint}`)).json.data.status).toBe('mint_authority_revoked')
  })

  it('is revoked by the holder of the authority alone, who is named', async () => {
    const { request, payer, address, land } = await wallet()
    const { json } = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program: 'token2022' },
    })
    const mintKey = Keypair.fromSecretKey(Uint8Array.from(json.data.required_signers.mint_secret_key))
    land(json.data.transaction, payer, mintKey)
    const stranger = Keypair.generate().publicKey.toBase58()
    const refused = await request('DELETE', `/v2/tokens/${json.data.mint}/authorities/mint`, {
      body: { payer: stranger },
    })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'payer'])
    expect(refused.json.error.message).toContain(address)
  })

  it('that does not exist is not found', async () => {
    const { request } = await startService()
    const mint = Keypair.generate().publicKey.toBase58()
    expect((await request('GET', `/v2/tokens/${mint}`)).status).toBe(404)
    const payer = Keypair.generate().publicKey.toBase58()
    expect((await request('DELETE', `/v2/tokens/${mint}/authorities/mint`, { body: { payer } })).status).toBe(404)
  })
})
