/** Authorities of a mint given to another or up, on both real token programs: states, events, warnings, the policy. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { readTokenState } from '../src/chain/programs/tokens/index.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { createMint, type Extension, run } from './support/gold.ts'
import { landOn } from './support/launches.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { hasProgram } from './support/programs.ts'
import { type Service, sharedService, startService } from './support/service.ts'
import { keypairOf, SOL, signWith, walletOn } from './support/wallets.ts'

const PROGRAM = spl.TOKEN_2022_PROGRAM_ID
const texts = { name: 'My Token', symbol: 'MTK', uri: 'https://example.com/token.json' }
const shared = sharedService()

const vaultOf = (key: PublicKey) =>
  PublicKey.findProgramAddressSync([Buffer.from('vault'), key.toBytes()], new PublicKey(PROGRAMS.dbc.id))[0].toBase58()

async function holder(own?: Service, payer = Keypair.generate()) {
  const { services, request, clock } = own ?? (await shared())
  const { chain, address } = await walletOn(services, 100n * SOL, payer)
  const land = (transaction: string, ...signers: Keypair[]) => landOn(chain, transaction, signers)
  /** Sends it over HTTP, and follows it to its end. */
  const submit = async (data: { transaction: string; tracked_resource: object }, ...signers: Keypair[]) => {
    const transaction = signWith(data.transaction, signers)
    const { tracked_resource } = data
    expect((await request('POST', '/v2/transactions', { body: { transaction, tracked_resource } })).status).toBe(200)
    chain.advance(20)
    clock.advance(20_000)
    await followTransactions(services)
  }
  const build = async (more: object) => {
    const body = { ...texts, payer: address, initial_supply: '1000', revoke_freeze_authority: false, ...more }
    const { json } = await request('POST', '/v2/tokens', { body })
    const key = keypairOf(json.data.required_signers.mint_secret_key)
    return { data: json.data, mint: json.data.mint as string, key }
  }
  const create = async (more: object) => {
    const { data, mint, key } = await build(more)
    land(data.transaction, payer, key)
    return mint
  }
  const give = (mint: string, type: string, new_authority: string | null, more: object = {}) =>
    request('PUT', `/v2/tokens/${mint}/authorities/${type}`, { body: { payer: address, new_authority, ...more } })
  const stateOf = (mint: string) => readTokenState(services.chain, mint)
  return { services, chain, payer, address, request, land, submit, build, create, give, stateOf }
}

const POINTER: Extension = {
  type: spl.ExtensionType.MetadataPointer,
  initialize: (at, program, by) => spl.createInitializeMetadataPointerInstruction(at, by, at, program),
}

describe('the new holder of an authority', () => {
  it('is another address, and that of a program only if the request allows it', async () => {
    const { create, give, address } = await holder()
    const mint = await create({ token_program: 'token2022' })
    for (const type of ['mint', 'freeze']) {
      expect((await give(mint, type, address)).json.error.param).toBe('new_authority')
      const vault = vaultOf(new PublicKey(address))
      const refused = await give(mint, type, vault)
      expect([refused.status, refused.json.error.param]).toEqual([400, 'new_authority'])
      const { json } = await give(mint, type, vault, { allow_programs: true })
      expect(json.data).toMatchObject({ mint, type, authority: address, new_authority: vault })
      expect(json.data.tracked_resource.related_events).toEqual([])
    }
  })
})

const programs = [
  ['token2022', true],
  ['spl', hasProgram(PROGRAMS.tokenMetadata.id)],
] as const

describe.each(programs)('the authorities of a token of the program %s that are set to none', (token_program, runs) => {
  it.skipIf(!runs)('end as by revocation: with the same states, and each event once', async () => {
    const { payer, build, submit, give, request } = await holder(await startService())
    const { data, mint, key } = await build({ token_program })
    await submit(data, payer, key)
    const seen: string[] = []
    for (const type of ['freeze', 'mint', 'metadata']) {
      const { status, json } = await give(mint, type, null)
      expect(status, JSON.stringify(json)).toBe(200)
      await submit(json.data, payer)
      seen.push((await request('GET', '/v2/tokens')).json.data[0].status)
    }
    expect(seen).toEqual(['freeze_authority_revoked', 'mint_authority_revoked', 'fully_immutable'])
    const events = (await request('GET', `/v2/events?order=asc&resource_type=token&resource_id=${mint}`)).json.data
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'token.created',
      'token.freeze_authority_revoked',
      'token.mint_authority_revoked',
      'token.fully_immutable',
    ])
    const again = await give(mint, 'metadata', null)
    expect([again.status, again.json.error.param]).toEqual([400, 'type'])
  })
})

describe('the metadata authority of a Token-2022 mint', () => {
  it('is not given up while another address can move the pointer, and then the pointer makes it immutable', async () => {
    const service = await startService()
    const { chain, payer, give, land, address, request } = await holder(service)
    const other = Keypair.generate()
    chain.airdrop(other.publicKey.toBase58(), 1_000_000_000n)
    const { mint: key } = createMint(chain, payer, { program: PROGRAM, extensions: [POINTER] })
    const mint = key.toBase58()
    chain.airdrop(mint, 10_000_000n)
    const { initializeMetadata } = await import('../src/chain/programs/tokens/metadata-extension.ts')
    expect(run(chain, [await initializeMetadata(key, payer.publicKey, texts)], [payer]).err).toBeNull()
    const pointer = await give(mint, 'metadata_pointer', other.publicKey.toBase58())
    land(pointer.json.data.transaction, payer)
    for (const type of ['freeze', 'mint']) land((await give(mint, type, null)).json.data.transaction, payer)
    const path = `/v2/tokens/${mint}/authorities/metadata`
    for (const refused of [
      await give(mint, 'metadata', null),
      await request('DELETE', path, { body: { payer: address } }),
    ]) {
      expect([refused.status, refused.json.error.param]).toEqual([400, 'type'])
      expect(refused.json.error.message).toContain(other.publicKey.toBase58())
    }
    const by = { payer: other.publicKey.toBase58(), new_authority: null }
    const ended = await request('PUT', `/v2/tokens/${mint}/authorities/metadata_pointer`, { body: by })
    expect(ended.json.data.tracked_resource.related_events).toEqual([])
    land(ended.json.data.transaction, other)
    const last = (await give(mint, 'metadata', null)).json.data
    expect(last.tracked_resource.related_events).toEqual(['token.fully_immutable'])
    land(last.transaction, payer)
    expect((await request('GET', `/v2/tokens/${mint}`)).json.data.status).toBe('fully_immutable')
  })
})

describe('what stays for good once an authority is given up', () => {
  it('is said: accounts that begin frozen, and a paused token', async () => {
    const { create, give, chain, payer } = await holder()
    const frozen = await create({ token_program: 'token2022', extensions: { default_frozen: true } })
    expect((await give(frozen, 'freeze', null)).json.data.warnings).toEqual([expect.stringContaining('begin frozen')])
    const paused = await create({ token_program: 'token2022', extensions: { pausable: true } })
    expect((await give(paused, 'pause', null)).json.data.warnings).toBeUndefined()
    const pause = spl.createPauseInstruction(new PublicKey(paused), payer.publicKey, [], PROGRAM)
    expect(run(chain, [pause], [payer]).err).toBeNull()
    expect((await give(paused, 'pause', null)).json.data.warnings).toEqual([expect.stringContaining('is paused')])
  })
})

describe('the platform wallet', () => {
  it('never gives up mint, freeze or metadata authority, and asks its policy about that of an extension', async () => {
    const service = await startPlatform()
    const scene = await holder(service, service.wallet)
    const mint = await scene.create({ token_program: 'token2022', extensions: { pausable: true } })
    const signed = { mode: 'signed' }
    for (const type of ['mint', 'freeze', 'metadata']) {
      const refused = await scene.give(mint, type, null, signed)
      expect([refused.status, refused.json.error.param]).toEqual([400, 'mode'])
    }
    const policy = await scene.give(mint, 'pause', null, signed)
    expect([policy.status, policy.json.error.details.rule]).toEqual([400, 'authority'])
  })
})
