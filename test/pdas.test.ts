/** Derived addresses through the app, against the SDKs of the programs. */
import * as meteora from '@meteora-ag/dynamic-bonding-curve-sdk'
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PDA_KINDS } from '../src/api/pdas.ts'
import type { Requester } from './support/request.ts'
import { makeFolder, openService, removeFolder, type Service } from './support/service.ts'

const WRAPPED_SOL = new PublicKey('So11111111111111111111111111111111111111112')
const DISTRIBUTOR = new PublicKey('mERKcfxMC5SqJn4Ld4BUris3WKZZ1ojjWJ3A3J5CKxv')
const LOCK = new PublicKey('LocpQgucEQHbqNABEYvBvwoxCPsSbG91A1QaQhQQqjn')
const key = () => Keypair.generate().publicKey

let service: Service
let request: Requester
beforeAll(async () => {
  service = await openService({ dataDir: makeFolder() })
  request = service.request
})
afterAll(async () => {
  await service.close()
  removeFolder(service.dataDir)
})

async function derived(kind: string, args: Record<string, unknown>) {
  const sent = Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, value instanceof PublicKey ? value.toBase58() : value]),
  )
  const { status, json } = await request('POST', `/v2/pdas/${kind}`, { body: { args: sent } })
  expect([status, json.data?.kind], JSON.stringify(json)).toEqual([200, kind])
  return json.data as { address: string; bump: number; program_id: string }
}

describe('a program address is derived', () => {
  it('for an associated token account of either program, of a wallet off the curve too', async () => {
    const [owner, mint] = [key(), key()]
    const [offCurve] = PublicKey.findProgramAddressSync([Buffer.from('x')], LOCK)
    for (const wallet of [owner, offCurve]) {
      expect((await derived('ata', { owner: wallet, mint })).address).toBe(
        getAssociatedTokenAddressSync(mint, wallet, true).toBase58(),
      )
    }
    const { address, bump, program_id } = await derived('ata', { owner, mint, token_program: 'token2022' })
    expect(address).toBe(getAssociatedTokenAddressSync(mint, owner, true, TOKEN_2022_PROGRAM_ID).toBase58())
    const seeds = [owner.toBuffer(), TOKEN_2022_PROGRAM_ID.toBuffer(), mint.toBuffer(), Uint8Array.of(bump)]
    expect(PublicKey.createProgramAddressSync(seeds, new PublicKey(program_id)).toBase58()).toBe(address)
  })

  it("for a mint's metadata", async () => {
    const mint = key()
    expect((await derived('metadata', { mint })).address).toBe(meteora.deriveMintMetadata(mint).toBase58())
  })

  it('for the pools of Meteora as its SDK does, in either order of the mints', async () => {
    for (let n = 0; n < 20; n++) {
      const [base_mint, quote_mint, config] = [key(), key(), key()]
      const dbc = await derived('dbc_pool', { base_mint, quote_mint, config })
      expect(dbc.address).toBe(meteora.deriveDbcPoolAddress(quote_mint, base_mint, config).toBase58())
      const damm = await derived('damm_v2_pool', { base_mint, quote_mint, config })
      expect(damm.address).toBe(meteora.deriveDammV2PoolAddress(config, base_mint, quote_mint).toBase58())
    }
    const [base_mint, config] = [key(), key()]
    const { address, program_id } = await derived('dbc_pool', { base_mint, config })
    expect(address).toBe(meteora.deriveDbcPoolAddress(WRAPPED_SOL, base_mint, config).toBase58())
    expect(program_id).toBe(meteora.DYNAMIC_BONDING_CURVE_PROGRAM_ID.toBase58())
    const damm = await derived('damm_v2_pool', { base_mint, config })
    expect(damm.program_id).toBe(meteora.DAMM_V2_PROGRAM_ID.toBase58())
    expect(damm.address).toBe(meteora.deriveDammV2PoolAddress(config, base_mint, WRAPPED_SOL).toBase58())
  })

  it('for a distributor by its version, and for a claim on it', async () => {
    const [mint, claimer] = [key(), key()]
    for (const [airdrop_count, version] of [
      [0, '0000000000000000'],
      [258, '0201000000000000'],
      [65535, 'ffff000000000000'],
    ] as const) {
      const [distributor, bump] = PublicKey.findProgramAddressSync(
        [Buffer.from('MerkleDistributor'), mint.toBuffer(), Buffer.from(version, 'hex')],
        DISTRIBUTOR,
      )
      expect(await derived('merkle_distributor', { mint, airdrop_count })).toEqual({
        kind: 'merkle_distributor',
        address: distributor.toBase58(),
        bump,
        program_id: DISTRIBUTOR.toBase58(),
      })
      const [claim] = PublicKey.findProgramAddressSync(
        [Buffer.from('ClaimStatus'), claimer.toBuffer(), distributor.toBuffer()],
        DISTRIBUTOR,
      )
      expect((await derived('claim_status', { mint, airdrop_count, claimer })).address).toBe(claim.toBase58())
    }
  })

  it("for a gold lock with the user as base, as Meteora's SDK derives the escrow of Jupiter Lock", async () => {
    const user = key()
    const { address, program_id } = await derived('gold_lock', { user })
    expect([address, program_id]).toEqual([meteora.deriveEscrow(user).toBase58(), LOCK.toBase58()])
  })

  it("for wrapped SOL's metadata as the chain knows it", async () => {
    const { address } = await derived('metadata', { mint: WRAPPED_SOL })
    expect(address).toBe('6dM4TqWyWJsbx7obrdLcviBkTafD5E8av61zfU6jq57X')
  })
})

describe('an input of a program address', () => {
  const mint = WRAPPED_SOL.toBase58()
  it.each([
    ['ata', { owner: mint }, 'args.mint'],
    ['ata', { owner: mint, mint, token_program: 'other' }, 'args.token_program'],
    ['metadata', {}, 'args.mint'],
    ['metadata', { mint: 'x' }, 'args.mint'],
    ['metadata', { mint, more: 1 }, 'args.more'],
    ['dbc_pool', { base_mint: mint }, 'args.config'],
    ['damm_v2_pool', { config: mint }, 'args.base_mint'],
    ['merkle_distributor', { mint, airdrop_count: 65536 }, 'args.airdrop_count'],
    ['merkle_distributor', { mint, airdrop_count: '0' }, 'args.airdrop_count'],
    ['claim_status', { mint, airdrop_count: 0 }, 'args.claimer'],
    ['gold_lock', { user: 7 }, 'args.user'],
    ['vault', {}, 'kind'],
  ])('%s of %j is refused by the field %s', async (kind, args, param) => {
    const { status, json } = await request('POST', `/v2/pdas/${kind}`, { body: { args } })
    expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', param])
  })

  it('is named if it is missing', async () => {
    for (const kind of PDA_KINDS) {
      const { json } = await request('POST', `/v2/pdas/${kind}`, { body: { args: {} } })
      expect(json.error.message, kind).toMatch(/^args\.\w+: is required$/)
    }
  })
})

it('a program address is derived without a call of the node', async () => {
  const dataDir = makeFolder()
  const offline = await openService({ dataDir, settings: { url: 'http://127.0.0.1:1' } })
  try {
    const { status } = await offline.request('POST', '/v2/pdas/gold_lock', {
      body: { args: { user: WRAPPED_SOL.toBase58() } },
    })
    expect(status).toBe(200)
  } finally {
    await offline.close()
    removeFolder(dataDir)
  }
})
