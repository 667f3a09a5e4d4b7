/** Positions of DAMM v2 pools over HTTP: listed, withdrawn from and locked on the real program. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followPools } from '../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { addressOf } from './support/assets.ts'
import { startPlatform } from './support/platform-wallet.ts'
import { IMAGE, keypairOf, signWith } from './support/pool-platform.ts'
import { hasProgram } from './support/programs.ts'

const SOL = 1_000_000_000n
const FEE = 5_000n
const lacksPools = [PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))

async function launched(more: object = {}) {
  const { services, request, clock } = await startPlatform(null)
  const chain = await services.chain.local()
  const wallet = () => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), 1_000n * SOL)
    return key
  }
  const creator = wallet()
  const run = (transaction: string, keys: readonly Keypair[]) => {
    const landed = chain.send(Buffer.from(signWith(transaction, keys), 'base64'))
    chain.advance(1)
    return landed
  }
  const land = (transaction: string, keys: readonly Keypair[]) => {
    const landed = run(transaction, keys)
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    return landed
  }
  const ask = async (path: string, body: object) => {
    const { status, json } = await request('POST', path, { body })
    expect(status, JSON.stringify(json)).toBe(200)
    return json.data
  }
  const faultOf = async (path: string, body: object) => {
    const { status, json } = await request('POST', path, { body })
    return [status, json.error?.param, json.error?.message]
  }
  const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE, type: 'damm_v2', ...more }
  const { data } = (await request('POST', '/v2/pools', { body })).json
  const secrets = Object.values(data.required_signers as Record<string, number[]>).filter(({ length }) => length > 0)
  for (const transaction of data.transactions) land(transaction, [creator, ...secrets.map(keypairOf)])
  chain.advance(20)
  clock.advance(20_000)
  await followTransactions(services)
  await followPools(services)
  const pool = data.pool.address as string
  const mint = data.pool.base_mint as string
  const buy = async (trader: Keypair, amount: bigint) => {
    const swap = { payer: addressOf(trader), side: 'buy', amount: String(amount) }
    land((await ask(`/v2/pools/${pool}/swaps`, swap)).tx.transaction, [trader])
  }
  const list = async (owner: string) => (await request('GET', `/v2/pools/${pool}/positions?owner=${owner}`)).json.data
  const held = async () => (await list(addressOf(creator))).positions[0]
  const tokens = (owner: Keypair): bigint => {
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(mint), owner.publicKey).toBase58()
    return Buffer.from(chain.account(account)?.data ?? Buffer.alloc(72)).readBigUInt64LE(64)
  }
  const lamports = (owner: Keypair) => chain.account(addressOf(owner))?.lamports ?? 0n
  return {
    services,
    request,
    chain,
    creator,
    wallet,
    run,
    land,
    ask,
    faultOf,
    pool,
    mint,
    buy,
    list,
    held,
    tokens,
    lamports,
  }
}

describe.skipIf(lacksPools)('a position of a DAMM v2 pool', () => {
  it('is listed with what it is worth, its parts and its fees, and with none for other wallets', async () => {
    const { creator, wallet, pool, mint, buy, list, held } = await launched({ lock_liquidity: false })
    const before = await list(addressOf(creator))
    expect(before).toMatchObject({
      pool_address: pool,
      owner: addressOf(creator),
      mint_a: mint,
      decimals_a: 6,
      decimals_b: 9,
      remaining_positions: 0,
    })
    expect(before.positions).toHaveLength(1)
    expect(before.positions[0]).toMatchObject({ share_bps: 10_000, fee_b: '0', schedule: null, delegate: null })
    expect(BigInt(before.positions[0].amount_a)).toBeGreaterThan(999_999_999_999_990n)
    await buy(wallet(), 5n * SOL)
    const after = await held()
    expect(BigInt(after.amount_b)).toBeGreaterThan(4n * SOL)
    expect(BigInt(after.fee_b)).toBeGreaterThan(0n)
    expect(after.liquidity).toBe(after.unlocked_liquidity)
    expect(after.locked_liquidity).toBe('0')
    expect((await list(addressOf(wallet()))).positions).toEqual([])
  })

  it('pays exactly the quoted amounts of a part and then of the rest, and leaves the fees', async () => {
    const { creator, wallet, land, ask, pool, buy, held, tokens, lamports } = await launched({ lock_liquidity: false })
    await buy(wallet(), 5n * SOL)
    const { position, liquidity, fee_b } = await held()
    const path = `/v2/pools/${pool}/positions/${position}/removals`
    const body = { payer: addressOf(creator), slippage_bps: 0 }
    const part = await ask(path, { ...body, share_bps: 2_500 })
    expect(BigInt(part.removed_liquidity)).toBe(BigInt(liquidity) / 4n)
    expect([part.minimum_a, part.minimum_b]).toEqual([part.amount_a, part.amount_b])
    const [before, hadTokens] = [lamports(creator), tokens(creator)]
    land(part.tx.transaction, [creator])
    expect(tokens(creator) - hadTokens).toBe(BigInt(part.amount_a))
    expect(lamports(creator) - before).toBe(BigInt(part.amount_b) - FEE)
    expect(await held()).toMatchObject({ liquidity: part.liquidity, unlocked_liquidity: part.liquidity, fee_b })
    const rest = await ask(path, body)
    const [then, hadThen] = [lamports(creator), tokens(creator)]
    land(rest.tx.transaction, [creator])
    expect(tokens(creator) - hadThen).toBe(BigInt(rest.amount_a))
    expect(lamports(creator) - then).toBe(BigInt(rest.amount_b) - FEE)
    expect(await held()).toMatchObject({ liquidity: '0', fee_b, share_bps: 0 })
  })

  it('fails on chain if the price has moved by more than the slippage, and changes nothing', async () => {
    const { creator, wallet, run, ask, pool, buy, held } = await launched({ lock_liquidity: false })
    await buy(wallet(), 5n * SOL)
    const { position } = await held()
    const built = await ask(`/v2/pools/${pool}/positions/${position}/removals`, { payer: addressOf(creator) })
    await buy(wallet(), 5n * SOL)
    const before = await held()
    expect(run(built.tx.transaction, [creator]).err).not.toBeNull()
    expect(await held()).toEqual(before)
  })

  it('locks a part for good, which nobody can withdraw, and its fees stay claimable', async () => {
    const { creator, wallet, land, ask, faultOf, pool, buy, held } = await launched({ lock_liquidity: false })
    const { position, liquidity } = await held()
    const at = (act: string) => `/v2/pools/${pool}/positions/${position}/${act}`
    const payer = addressOf(creator)
    const locked = await ask(at('locks'), { payer, share_bps: 6_000 })
    expect(BigInt(locked.newly_locked_liquidity)).toBe((BigInt(liquidity) * 6n) / 10n)
    land(locked.tx.transaction, [creator])
    expect(await held()).toMatchObject({
      liquidity,
      locked_liquidity: locked.locked_liquidity,
      unlocked_liquidity: locked.unlocked_liquidity,
    })
    expect(await faultOf(at('removals'), { payer, liquidity: liquidity })).toEqual([
      400,
      'liquidity',
      expect.stringContaining(`only ${locked.unlocked_liquidity}`),
    ])
    const rest = await ask(at('locks'), { payer, liquidity: locked.unlocked_liquidity })
    expect(rest).toMatchObject({ locked_liquidity: liquidity, unlocked_liquidity: '0' })
    land(rest.tx.transaction, [creator])
    for (const act of ['removals', 'locks']) {
      expect(await faultOf(at(act), { payer })).toEqual([400, 'position', expect.stringContaining('locked for good')])
    }
    await buy(wallet(), 5n * SOL)
    expect(BigInt((await held()).fee_b)).toBeGreaterThan(0n)
    const claim = await ask(`/v2/pools/${pool}/fee-claims`, { payer, kind: 'damm_v2', owner: payer })
    land(claim.tx.transaction, [creator])
    expect((await held()).fee_b).toBe('0')
  })

  it('names the field of each wrong input, and is never signed by the platform wallet', async () => {
    const { creator, wallet, faultOf, request, pool, held } = await launched({ lock_liquidity: false })
    const { position } = await held()
    const payer = addressOf(creator)
    const [stranger, other] = [addressOf(wallet()), addressOf(Keypair.generate())]
    for (const act of ['removals', 'locks']) {
      const param = async (body: object, of = position) =>
        (await faultOf(`/v2/pools/${pool}/positions/${of}/${act}`, { payer, ...body })).slice(0, 2)
      expect(await param({ payer: stranger })).toEqual([400, 'position'])
      expect(await param({}, other)).toEqual([400, 'position'])
      expect(await param({ share_bps: 1, liquidity: '1' })).toEqual([400, 'liquidity'])
      expect(await param({ share_bps: 10_001 })).toEqual([400, 'share_bps'])
      for (const wrong of ['0', '-1', String(2n ** 128n)]) {
        expect(await param({ liquidity: wrong })).toEqual([400, 'liquidity'])
      }
      expect((await param({ mode: 'signed' }))[0]).toBe(400)
    }
    const tiny = await faultOf(`/v2/pools/${pool}/positions/${position}/removals`, { payer, liquidity: '1' })
    expect(tiny.slice(0, 2)).toEqual([400, 'liquidity'])
    const nowhere = await request('GET', `/v2/pools/${other}/positions?owner=${payer}`)
    expect([nowhere.status, nowhere.json.error.param]).toEqual([404, 'address'])
    const nobody = await request('GET', `/v2/pools/${pool}/positions`)
    expect([nobody.status, nobody.json.error.param]).toEqual([400, 'owner'])
  })

  it('belongs to the vault that got it: the vault lists and withdraws, the earlier holder does not', async () => {
    const { creator, land, ask, faultOf, pool, list, held } = await launched({ lock_liquidity: false })
    const vault = PublicKey.findProgramAddressSync([Buffer.from('vault')], new PublicKey(PROGRAMS.dbc.id))[0].toBase58()
    const { position, liquidity } = await held()
    const body = { payer: addressOf(creator), new_owner: vault, position, allow_programs: true }
    land((await ask(`/v2/pools/${pool}/position-transfers`, body)).tx.transaction, [creator])
    expect((await list(vault)).positions).toMatchObject([{ position, liquidity }])
    const path = `/v2/pools/${pool}/positions/${position}/removals`
    expect((await faultOf(path, { payer: addressOf(creator) })).slice(0, 2)).toEqual([400, 'position'])
    const { tx } = await ask(path, { payer: vault })
    expect(tx.requiredSigners).toEqual([vault])
  })
})
