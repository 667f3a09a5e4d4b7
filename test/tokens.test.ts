/** A token's life over HTTP with a stranger's signer: built by the API, signed by web3.js, run by the embedded chain. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readTokenState } from '../src/chain/programs/tokens/index.ts'
import { initializeMetadata } from '../src/chain/programs/tokens/metadata-extension.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { cataloguedTypes } from './support/event-catalog.ts'
import { createMint, run } from './support/gold.ts'
import { keypairFile } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { makeFolder, removeFolder, type Service, sharedService, startService } from './support/service.ts'
import { keypairOf, walletOn } from './support/wallets.ts'

const body = { name: 'My Token', symbol: 'MTK', initial_supply: '1000000000000', uri: 'https://example.com/token.json' }

const shared = sharedService()

async function wallet(own?: Service) {
  const service = own ?? (await shared())
  const { chain, wallet: payer } = await walletOn(service.services, 10_000_000_000n)
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
  it.skipIf(!runs)('is made at an address whose key the caller has, once', async () => {
    const { request, payer, address, land } = await wallet()
    const mintKey = Keypair.generate()
    const mint = mintKey.publicKey.toBase58()
    const ask = (more: object) =>
      request('POST', '/v2/tokens', { body: { ...body, payer: address, token_program, mint, ...more } })
    const { status, json } = await ask({})
    expect([status, json.data.mint, json.data.required_signers]).toEqual([200, mint, { mint_secret_key: [] }])
    expect([json.data.requiredSigners, json.data.generated_keys]).toEqual([[address, mint], undefined])
    expect(land(json.data.transaction, payer, mintKey).err).toBe(null)
    expect((await request('GET', `/v2/tokens/${mint}`)).json.data).toMatchObject({
      mint,
      raw: { supply: '1000000000000' },
    })
    const again = await ask({})
    expect([again.status, again.json.error.param]).toEqual([400, 'mint'])
    const own = await ask({ mint: address })
    expect([own.status, own.json.error.param]).toEqual([400, 'mint'])
  })

  it.skipIf(!runs)('goes from creation to fully immutable', async () => {
    const { request, payer, address, land } = await wallet()
    const created = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program, revoke_freeze_authority: false },
    })
    expect([created.status, created.json.data.requiredSigners]).toEqual([200, [address, created.json.data.mint]])
    const { mint, transaction, required_signers, tracked_resource } = created.json.data
    expect(tracked_resource).toEqual({ resource_type: 'token', resource_id: mint, related_events: ['token.created'] })
    const mintKey = keypairOf(required_signers.mint_secret_key)
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
    const { request, payer, address, services, clock } = await wallet(await startService())
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
    const birth = await submit(created.json.data, payer, keypairOf(required_signers.mint_secret_key))
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
    expect(await cataloguedTypes({ services })).toEqual(expect.arrayContaining(told.map(([type]: [string]) => type)))
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
    const mintKey = keypairOf(json.data.required_signers.mint_secret_key)
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
    const mintKey = keypairOf(json.data.required_signers.mint_secret_key)
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

/** An address without a key, such as the vault of a multisig. */
const vaultOf = (key: PublicKey) =>
  PublicKey.findProgramAddressSync([Buffer.from('vault'), key.toBytes()], new PublicKey(PROGRAMS.dbc.id))[0].toBase58()

describe.each(programs)('an authority of a token of the program %s', (token_program, runs) => {
  it.skipIf(!runs)('passes to a vault and to a wallet, and the record follows without an event', async () => {
    const { request, payer, address, services, clock } = await wallet(await startService())
    const chain = await services.chain.local()
    const submit = async (built: Built, ...signers: Keypair[]) => {
      const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
      transaction.sign(signers)
      const signed = Buffer.from(transaction.serialize()).toString('base64')
      const { tracked_resource } = built
      const sent = await request('POST', '/v2/transactions', { body: { transaction: signed, tracked_resource } })
      expect(sent.status).toBe(200)
      chain.advance(20)
      clock.advance(20_000)
      await followTransactions(services)
    }
    const created = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program, revoke_freeze_authority: false },
    })
    const { mint, required_signers } = created.json.data
    await submit(created.json.data, payer, keypairOf(required_signers.mint_secret_key))
    const [vault, next] = [vaultOf(payer.publicKey), Keypair.generate().publicKey.toBase58()]
    const give = (type: string, new_authority: string, more = {}) =>
      request('PUT', `/v2/tokens/${mint}/authorities/${type}`, { body: { payer: address, new_authority, ...more } })
    const refused = await give('mint', vault)
    expect([refused.status, refused.json.error.param]).toEqual([400, 'new_authority'])
    expect(refused.json.error.message).toContain('--allow-programs')
    for (const [type, to] of [
      ['mint', vault],
      ['freeze', next],
      ['metadata', vault],
    ] as const) {
      const built = await give(type, to, { allow_programs: true })
      expect(built.json.data).toMatchObject({ mint, type, authority: address, new_authority: to })
      await submit(built.json.data, payer)
    }
    const [record] = (await request('GET', '/v2/tokens')).json.data
    const bySymbol = async (symbol: string) => (await request('GET', `/v2/tokens?symbol=${symbol}`)).json.data
    expect(await bySymbol(body.symbol.toLowerCase())).toEqual([record])
    expect(await bySymbol(`${body.symbol}x`)).toEqual([])
    expect(record).toMatchObject({
      status: 'created',
      raw: { mint_authority: vault, freeze_authority: next, metadata: { update_authority: vault, is_mutable: true } },
    })
    const events = (await request('GET', `/v2/events?resource_type=token&resource_id=${mint}`)).json.data
    expect(events.map(({ type }: { type: string }) => type)).toEqual(['token.created'])
    const again = await give('mint', next)
    expect([again.status, again.json.error.param, again.json.error.details]).toEqual([
      400,
      'payer',
      { authority: vault },
    ])
  })
})

describe('an authority of a token', () => {
  it('is refused for its holder, for a mint, and for what is revoked', async () => {
    const { request, payer, address, land } = await wallet()
    const { json } = await request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program: 'token2022' },
    })
    const { mint } = json.data
    const mintKey = keypairOf(json.data.required_signers.mint_secret_key)
    land(json.data.transaction, payer, mintKey)
    const faultOf = async (type: string, new_authority: string) => {
      const answer = await request('PUT', `/v2/tokens/${mint}/authorities/${type}`, {
        body: { payer: address, new_authority, allow_programs: true },
      })
      return [answer.status, answer.json.error.param]
    }
    const other = Keypair.generate().publicKey.toBase58()
    expect(await faultOf('mint', address)).toEqual([400, 'new_authority'])
    expect(await faultOf('mint', mint)).toEqual([400, 'new_authority'])
    expect(await faultOf('freeze', other)).toEqual([400, 'type'])
    expect(await faultOf('close', other)).toEqual([400, 'type'])
  })

  it('takes the metadata pointer of Token-2022 along', async () => {
    const { request, payer, address, land, services } = await wallet()
    const chain = await services.chain.local()
    const key = Keypair.generate()
    const made = createMint(chain, payer, {
      key,
      program: spl.TOKEN_2022_PROGRAM_ID,
      extensions: [
        {
          type: spl.ExtensionType.MetadataPointer,
          initialize: (at, program, by) => spl.createInitializeMetadataPointerInstruction(at, by, at, program),
        },
      ],
    })
    const mint = made.mint.toBase58()
    chain.airdrop(mint, 10_000_000n)
    const texts = { name: 'N', symbol: 'S', uri: 'https://example.com/t.json' }
    expect(run(chain, [await initializeMetadata(made.mint, payer.publicKey, texts)], [payer]).err).toBe(null)
    const vault = vaultOf(payer.publicKey)
    const terms = { payer: address, new_authority: vault, allow_programs: true }
    const built = await request('PUT', `/v2/tokens/${mint}/authorities/metadata`, { body: terms })
    expect(land(built.json.data.transaction, payer).err).toBe(null)
    expect(await readTokenState(services.chain, mint)).toMatchObject({
      metadata: { updateAuthority: vault },
      metadataPointerAuthority: vault,
    })
  })

  it('of the platform wallet is given away only if its policy permits, which it does not', async () => {
    const signer = Keypair.generate()
    const files = makeFolder()
    onTestFinished(() => removeFolder(files))
    const settings = { signer: 'keypair', 'signer.keypair': keypairFile(files, signer) }
    const { request, key, services } = await startService({ settings })
    const chain = await services.chain.local()
    chain.airdrop(signer.publicKey.toBase58(), 10_000_000_000n)
    const { mint } = createMint(chain, signer)
    const signing = {
      body: {
        payer: signer.publicKey.toBase58(),
        new_authority: Keypair.generate().publicKey.toBase58(),
        mode: 'signed',
      },
    }
    const path = `/v2/tokens/${mint.toBase58()}/authorities/mint`
    const scoped = await request('PUT', path, { ...signing, key: await key({ scopes: ['fees:claim'] }) })
    expect(scoped.status).toBe(403)
    await request('PATCH', '/v2/signer/policy', {
      body: { lamports_per_transaction: '1000000000', lamports_per_day: '1000000000' },
    })
    const refused = await request('PUT', path, signing)
    expect([refused.status, refused.json.error.details.rule]).toEqual([400, 'authority'])
  })
})
