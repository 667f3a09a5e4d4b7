/** Metadata of tokens changed over HTTP, on the real programs: Metaplex Token Metadata, and Token-2022. */
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { metadataAddressOf, readTokenState } from '../src/chain/programs/tokens/index.ts'
import { decodeExtensionFields, setField } from '../src/chain/programs/tokens/metadata-extension.ts'
import { createMetadata } from '../src/chain/programs/tokens/metaplex.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { metadataExtension } from '../src/solana/token-extensions.ts'
import { createMint, run } from './support/gold.ts'
import { landOn } from './support/launches.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { type Service, sharedService } from './support/service.ts'
import { keypairOf, SOL, walletOn } from './support/wallets.ts'

const texts = { name: 'My Token', symbol: 'MTK', uri: 'https://example.com/token.json' }
const shared = sharedService()
const programs = [
  ['token2022', true],
  ['spl', hasProgram(PROGRAMS.tokenMetadata.id)],
] as const

async function open(own?: Service, payer = Keypair.generate()) {
  const { services, request } = own ?? (await shared())
  const { chain, address } = await walletOn(services, 100n * SOL, payer)
  const land = (transaction: string, ...signers: Keypair[]) => landOn(chain, transaction, signers)
  const create = async (token_program: string, more: object = {}) => {
    const body = { ...texts, payer: address, initial_supply: '1000', token_program, ...more }
    const { data } = (await request('POST', '/v2/tokens', { body })).json
    land(data.transaction, payer, keypairOf(data.required_signers.mint_secret_key))
    return data.mint as string
  }
  const update = (mint: string, body: object) =>
    request('PATCH', `/v2/tokens/${mint}`, { body: { payer: address, ...body } })
  const changed = async (mint: string, body: object) => {
    const { status, json } = await update(mint, body)
    expect(status, JSON.stringify(json)).toBe(200)
    land(json.data.transaction, payer)
    return json.data
  }
  const faultOf = async (mint: string, body: object) => {
    const { status, json } = await update(mint, body)
    return [status, json.error?.param]
  }
  const metadataOf = async (mint: string) => (await readTokenState(services.chain, mint)).metadata
  const account = (mint: string) => chain.account(mint)!
  const fieldsOf = (mint: string) => Object.fromEntries(decodeExtensionFields(metadataExtension(account(mint).data)!))
  return { chain, request, payer, address, create, update, changed, faultOf, metadataOf, account, fieldsOf, land }
}

describe.each(programs)('the metadata of a token of the program %s', (program, runs) => {
  it.skipIf(!runs)('changes one text at a time, and keeps the others', async () => {
    const { create, changed, metadataOf } = await open()
    const mint = await create(program)
    const source = program === 'spl' ? 'metaplex' : 'extension'
    expect(await changed(mint, { symbol: 'NEW' })).toMatchObject({ source, is_mutable: true, rent_lamports: '0' })
    expect(await metadataOf(mint)).toMatchObject({ ...texts, symbol: 'NEW', isMutable: true })
    await changed(mint, { name: 'M', uri: 'https://example.com/2.json' })
    const after = { name: 'M', symbol: 'NEW', uri: 'https://example.com/2.json' }
    expect(await metadataOf(mint)).toMatchObject({ ...after, isMutable: true })
  })

  it.skipIf(!runs)('is made immutable with its last change, and then cannot change', async () => {
    const { create, changed, metadataOf, faultOf, request } = await open()
    const mint = await create(program, { revoke_mint_authority: true })
    const last = await changed(mint, { symbol: 'END', immutable: true })
    expect(last).toMatchObject({ is_mutable: false })
    expect(last.tracked_resource.related_events).toEqual(['token.fully_immutable'])
    expect(await metadataOf(mint)).toMatchObject({ symbol: 'END', isMutable: false })
    expect((await request('GET', `/v2/tokens/${mint}`)).json.data.status).toBe('fully_immutable')
    expect(await faultOf(mint, { symbol: 'X' })).toEqual([400, 'mint'])
    const refused = (await request('PATCH', `/v2/tokens/${mint}`, { body: { payer: mint, symbol: 'X' } })).json
    expect(refused.error.message).toContain('immutable: nobody can change it')
  })

  it.skipIf(!runs)('is changed by its authority alone, and by what fits', async () => {
    const { create, faultOf, address } = await open()
    const mint = await create(program)
    const stranger = Keypair.generate().publicKey.toBase58()
    expect(await faultOf(mint, { payer: stranger, symbol: 'X' })).toEqual([400, 'payer'])
    expect(await faultOf(mint, { name: 'é'.repeat(20) })).toEqual([400, 'name'])
    expect(await faultOf(mint, {})).toEqual([400, 'name'])
    expect(await faultOf(mint, { fields: [{ key: 'symbol', value: 'X' }] })).toEqual([400, 'fields'])
    expect(await faultOf(mint, { remove_fields: ['none'] })).toEqual([400, 'remove_fields'])
    expect(await faultOf(mint, { immutable: true, mode: 'signed' })).toEqual([400, 'immutable'])
    expect((await faultOf(address, { symbol: 'X' }))[0]).toBe(404)
    if (program === 'spl') expect(await faultOf(mint, { fields: [{ key: 'a', value: 'b' }] })).toEqual([400, 'fields'])
  })
})

describe('additional fields of a Token-2022 mint', () => {
  it('are set, replaced and removed, and the mint gets the rent for its growth to the lamport', async () => {
    const { create, changed, fieldsOf, account, chain } = await open()
    const mint = await create('token2022')
    const before = account(mint).lamports
    const grown = await changed(mint, {
      fields: [
        { key: 'site', value: 'https://a.b' },
        { key: 'x', value: 'y,z=1' },
      ],
    })
    expect(fieldsOf(mint)).toEqual({ site: 'https://a.b', x: 'y,z=1' })
    const { lamports, data } = account(mint)
    expect(lamports - before).toBe(BigInt(grown.rent_lamports))
    expect(lamports).toBe(chain.minimumBalance(data.length))
    const shrunk = await changed(mint, { fields: [{ key: 'site', value: 's' }], remove_fields: ['x'], name: 'Other' })
    expect(shrunk.rent_lamports).toBe('0')
    expect(fieldsOf(mint)).toEqual({ site: 's' })
  })

  it('are shown by the token, cut to what can be read, and nothing if they are cut off', async () => {
    const { create, chain, request, payer, account } = await open()
    const mint = await create('token2022')
    const shown = async () => (await request('GET', `/v2/tokens/${mint}`)).json.data.raw.metadata
    expect(await shown()).not.toHaveProperty('fields')
    const key = new PublicKey(mint)
    chain.airdrop(mint, 100_000_000n)
    const write = async (field: { key: string; value: string }) =>
      expect(run(chain, [await setField(key, payer.publicKey, field)], [payer]).err).toBeNull()
    await write({ key: 'site', value: 'a.b' })
    await write({ key: 'k'.repeat(80), value: 'v'.repeat(900) })
    const long = { key: `${'k'.repeat(64)}…`, value: 'v'.repeat(900) }
    expect((await shown()).fields).toEqual([{ key: 'site', value: 'a.b' }, long])
    for (let i = 0; i < 31; i++) await write({ key: `n${i}`, value: '' })
    const many = await shown()
    expect([many.fields.length, many.more_fields, many.fields.at(-1)]).toEqual([32, true, { key: 'n29', value: '' }])
    // As if the program had written a count that is not there.
    const { lamports, owner, data } = account(mint)
    const at = Buffer.from(data).indexOf(Buffer.from([4, 0, 0, 0, ...Buffer.from('site')]))
    const spoilt = Buffer.from(data)
    spoilt.writeUInt32LE(0xffff_ffff, at)
    chain.setAccount(mint, { lamports, owner, data: spoilt, executable: false })
    expect(await shown()).toMatchObject(texts)
    expect(await shown()).not.toHaveProperty('fields')
  })

  it('are refused if they do not fit in one transaction, and fit in version 1', async () => {
    const { create, faultOf, update } = await open()
    const mint = await create('token2022')
    const fields = Array.from({ length: 3 }, (_, i) => ({ key: `k${i}`, value: 'v'.repeat(500) }))
    expect((await faultOf(mint, { fields }))[0]).toBe(400)
    expect((await update(mint, { fields, tx_version: 1 })).status).toBe(200)
  })
})

/** Where a Metaplex account goes on after its texts, which the program fills up to their longest. */
const AFTER_TEXTS = 1 + 32 + 32 + (4 + 32) + (4 + 10) + (4 + 200)

describe.skipIf(!hasProgram(PROGRAMS.tokenMetadata.id))('metadata that another tool made with Metaplex', () => {
  it('keeps royalty, creators, collection and uses through an update of its texts', async () => {
    const { chain, payer, changed, metadataOf } = await open()
    const { mint: key } = createMint(chain, payer)
    const instruction = await createMetadata(key, payer.publicKey, texts)
    const [collection, creator] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
    const creators = [
      Buffer.of(1, 2, 0, 0, 0),
      ...[payer.publicKey.toBytes(), Buffer.of(1, 60)],
      ...[creator.toBytes(), Buffer.of(0, 40)],
    ]
    const uses = [Buffer.of(1, 1), Buffer.of(3, 0, 0, 0, 0, 0, 0, 0), Buffer.of(5, 0, 0, 0, 0, 0, 0, 0)]
    // The end of CreateMetadataAccountV3: royalty, creators, collection, uses, whether it is mutable, collection details.
    instruction.data = Buffer.concat([
      instruction.data.subarray(0, -7),
      ...[Buffer.of(244, 1), ...creators, Buffer.of(1, 0), collection.toBytes(), ...uses, Buffer.of(1, 0)],
    ])
    expect(run(chain, [instruction], [payer]).err).toBeNull()
    const mint = key.toBase58()
    const rest = async () => Buffer.from(chain.account(await metadataAddressOf(mint))!.data.subarray(AFTER_TEXTS))
    const before = await rest()
    expect(before.subarray(0, 2).readUInt16LE()).toBe(500)
    for (const part of [creator, collection]) expect(before.includes(part.toBuffer())).toBe(true)
    await changed(mint, { name: 'Another', uri: 'https://example.com/3.json' })
    expect(await metadataOf(mint)).toMatchObject({ ...texts, name: 'Another', uri: 'https://example.com/3.json' })
    expect((await rest()).equals(before)).toBe(true)
  })

  it('is refused for its texts if its end cannot be read, and can still be made immutable', async () => {
    const { create, chain, update } = await open()
    const mint = await create('spl')
    const address = await metadataAddressOf(mint)
    const { data, ...account } = chain.account(address)!
    // The byte that says whether there is a collection, behind royalty, creators, two flags, edition and standard.
    const cut = Uint8Array.from(data).fill(7, AFTER_TEXTS + 2 + 1 + 2 + 2 + 2, AFTER_TEXTS + 10)
    chain.setAccount(address, { ...account, data: cut })
    const { status, json } = await update(mint, { symbol: 'X' })
    expect([status, json.error.param]).toEqual([400, 'mint'])
    expect(json.error.message).toContain('cannot be read to its end')
    expect((await update(mint, { immutable: true })).status).toBe(200)
  })
})

describe.each(programs)('the metadata of a %s token of the platform wallet', (program, runs) => {
  it.skipIf(!runs)('is changed by it within its policy, whatever the payer of the request is', async () => {
    const service = await startPlatform()
    const { create, update, metadataOf, chain, account, payer } = await open(service, service.wallet)
    const mint = await create(program)
    const before = account(mint).lamports
    const body = {
      payer: Keypair.generate().publicKey.toBase58(),
      mode: 'signed',
      name: 'A longer name',
      symbol: 'NEW',
    }
    const { status, json } = await update(mint, body)
    expect(status, JSON.stringify(json)).toBe(200)
    expect(json.data).toMatchObject({ mode: 'signed', authority: payer.publicKey.toBase58(), is_mutable: true })
    chain.advance(1)
    expect(await metadataOf(mint)).toMatchObject({ ...texts, name: 'A longer name', symbol: 'NEW' })
    expect(account(mint).lamports - before).toBe(BigInt(json.data.rent_lamports))
    await service.request('PATCH', '/v2/signer/policy', { body: { max_fee_lamports: '1' } })
    const refused = await update(mint, { ...body, name: 'Another' })
    expect([refused.status, refused.json.error.details.rule]).toEqual([400, 'fee'])
    expect(await metadataOf(mint)).toMatchObject({ name: 'A longer name' })
  })
})
