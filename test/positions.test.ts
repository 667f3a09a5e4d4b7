/** Positions of DAMM v2 pools over HTTP: listed, withdrawn from and locked on the real program. */
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { HeldPositions } from '../src/api/pool-positions.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { addressOf } from './support/assets.ts'
import { FEE, lacksPools, launchedPositions, SOL } from './support/launched-positions.ts'
import { lacksGuards } from './support/programs.ts'

describe.skipIf(lacksPools)('a position of a DAMM v2 pool', () => {
  it('is listed with what it is worth, its parts and its fees, and with none for other wallets', async () => {
    const { creator, wallet, pool, mint, buy, list, held } = await launchedPositions({ lock_liquidity: false })
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

  it('is on one page of the list, which continues by its cursor', async () => {
    const { wallet, land, ask, request, pool, buy, list } = await launchedPositions({ lock_liquidity: false })
    const trader = wallet()
    await buy(trader, 5n * SOL)
    const owner = addressOf(trader)
    for (const amount of [SOL / 5n, SOL / 10n, SOL / 20n]) {
      land((await ask(`/v2/pools/${pool}/positions`, { payer: owner, amount_b: String(amount) })).transaction, [trader])
    }
    const of = (items: { position: string }[]) => items.map(({ position }) => position)
    const whole = of((await list(owner)).positions)
    expect(whole).toHaveLength(3)
    const page = (query: string) => request('GET', `/v2/pools/${pool}/positions?owner=${owner}&limit=1${query}`)
    const read: string[] = []
    let cursor: string | null = null
    do {
      const { data }: { data: HeldPositions } = (await page(cursor === null ? '' : `&cursor=${cursor}`)).json
      read.push(...of(data.positions))
      expect(data.remaining_positions).toBe(whole.length - read.length)
      cursor = data.next_cursor
    } while (cursor !== null && read.length < 9)
    expect(read).toEqual(whole)
    const own = (await page('')).json.data.next_cursor as string
    const other = addressOf(wallet())
    for (const path of [`?owner=${owner}&cursor=${own.slice(0, -2)}`, `?owner=${other}&cursor=${own}`]) {
      const { status, json } = await request('GET', `/v2/pools/${pool}/positions${path}`)
      expect([status, json.error.param]).toEqual([400, 'cursor'])
    }
  })

  it('pays exactly the quoted amounts of a part and then of the rest, and leaves the fees', async () => {
    const { creator, wallet, land, ask, pool, buy, held, tokens, lamports } = await launchedPositions({
      lock_liquidity: false,
    })
    await buy(wallet(), 5n * SOL)
    const { position, liquidity, fee_b } = await held()
    const path = `/v2/pools/${pool}/positions/${position}/removals`
    const body = { payer: addressOf(creator), slippage_bps: 0 }
    const part = await ask(path, { ...body, share_bps: 2_500 })
    expect(BigInt(part.removed_liquidity)).toBe(BigInt(liquidity) / 4n)
    expect([part.minimum_a, part.minimum_b]).toEqual([part.amount_a, part.amount_b])
    const [before, hadTokens] = [lamports(creator), tokens(creator)]
    land(part.transaction, [creator])
    expect(tokens(creator) - hadTokens).toBe(BigInt(part.amount_a))
    expect(lamports(creator) - before).toBe(BigInt(part.amount_b) - FEE)
    expect(await held()).toMatchObject({ liquidity: part.liquidity, unlocked_liquidity: part.liquidity, fee_b })
    const rest = await ask(path, body)
    const [then, hadThen] = [lamports(creator), tokens(creator)]
    land(rest.transaction, [creator])
    expect(tokens(creator) - hadThen).toBe(BigInt(rest.amount_a))
    expect(lamports(creator) - then).toBe(BigInt(rest.amount_b) - FEE)
    expect(await held()).toMatchObject({ liquidity: '0', fee_b, share_bps: 0 })
  })

  it('fails on chain if the price has moved by more than the slippage, and changes nothing', async () => {
    const { creator, wallet, run, ask, pool, buy, held } = await launchedPositions({ lock_liquidity: false })
    await buy(wallet(), 5n * SOL)
    const { position } = await held()
    const built = await ask(`/v2/pools/${pool}/positions/${position}/removals`, { payer: addressOf(creator) })
    await buy(wallet(), 5n * SOL)
    const before = await held()
    expect(run(built.transaction, [creator]).err).not.toBeNull()
    expect(await held()).toEqual(before)
  })

  it('takes up to the slippage if the price moves before it is opened, and its guards let no more leave', async () => {
    const { wallet, land, ask, pool, buy, lamports } = await launchedPositions({ lock_liquidity: false })
    const trader = wallet()
    await buy(trader, 5n * SOL)
    const payer = addressOf(trader)
    const built = await ask(`/v2/pools/${pool}/positions`, { payer, amount_b: String(SOL / 5n), slippage_bps: 500 })
    const [mostB, shownB] = [BigInt(built.maximum_b), BigInt(built.amount_b)]
    const [guarded] = built.guard.wallets
    expect(built.guard).toMatchObject({
      state: lacksGuards ? 'none' : 'whole',
      wallets: lacksGuards ? [] : [{ address: payer }],
    })
    await buy(wallet(), SOL / 50n)
    const before = lamports(trader)
    land(built.transaction, [trader])
    const left = before - lamports(trader)
    expect(left).toBeGreaterThan(shownB)
    if (guarded === undefined) return
    const most = -BigInt(guarded.lamports)
    expect(left - FEE * 2n).toBeLessThanOrEqual(most)
    expect(most - shownB).toBeGreaterThan(mostB - shownB)
  })

  it('locks a part for good, which nobody can withdraw, and its fees stay claimable', async () => {
    const { creator, wallet, land, ask, faultOf, pool, buy, held } = await launchedPositions({ lock_liquidity: false })
    const { position, liquidity } = await held()
    const at = (act: string) => `/v2/pools/${pool}/positions/${position}/${act}`
    const payer = addressOf(creator)
    const locked = await ask(at('locks'), { payer, share_bps: 6_000 })
    expect(BigInt(locked.newly_locked_liquidity)).toBe((BigInt(liquidity) * 6n) / 10n)
    land(locked.transaction, [creator])
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
    land(rest.transaction, [creator])
    for (const act of ['removals', 'locks']) {
      expect(await faultOf(at(act), { payer })).toEqual([400, 'position', expect.stringContaining('locked for good')])
    }
    await buy(wallet(), 5n * SOL)
    expect(BigInt((await held()).fee_b)).toBeGreaterThan(0n)
    const claim = await ask(`/v2/pools/${pool}/fee-claims`, { payer, kind: 'damm_v2', owner: payer })
    land(claim.tx.transaction, [creator])
    expect((await held()).fee_b).toBe('0')
  })

  it('names the field of each wrong input', async () => {
    const { creator, wallet, faultOf, request, pool, held } = await launchedPositions({ lock_liquidity: false })
    const { position } = await held()
    const payer = addressOf(creator)
    const [stranger, other] = [addressOf(wallet()), addressOf(Keypair.generate())]
    for (const act of ['removals', 'locks']) {
      const param = async (body: object, of = position) =>
        (await faultOf(`/v2/pools/${pool}/positions/${of}/${act}`, { payer, ...body })).slice(0, 2)
      expect(await param({ payer: stranger })).toEqual([400, 'position'])
      expect(await param({}, other)).toEqual([404, 'position'])
      expect(await param({ share_bps: 1, liquidity: '1' })).toEqual([400, 'liquidity'])
      expect(await param({ share_bps: 10_001 })).toEqual([400, 'share_bps'])
      for (const wrong of ['0', '-1', String(2n ** 128n)]) {
        expect(await param({ liquidity: wrong })).toEqual([400, 'liquidity'])
      }
    }
    const tiny = await faultOf(`/v2/pools/${pool}/positions/${position}/removals`, { payer, liquidity: '1' })
    expect(tiny.slice(0, 2)).toEqual([400, 'liquidity'])
    const nowhere = await request('GET', `/v2/pools/${other}/positions?owner=${payer}`)
    expect([nowhere.status, nowhere.json.error.param]).toEqual([404, 'address'])
    const nobody = await request('GET', `/v2/pools/${pool}/positions`)
    expect([nobody.status, nobody.json.error.param]).toEqual([400, 'owner'])
  })

  it('belongs to the vault that got it: the vault lists and withdraws, the earlier holder does not', async () => {
    const { creator, land, ask, faultOf, pool, list, held } = await launchedPositions({ lock_liquidity: false })
    const vault = PublicKey.findProgramAddressSync([Buffer.from('vault')], new PublicKey(PROGRAMS.dbc.id))[0].toBase58()
    const { position, liquidity } = await held()
    const body = { payer: addressOf(creator), new_owner: vault, position, allow_programs: true }
    land((await ask(`/v2/pools/${pool}/position-transfers`, body)).tx.transaction, [creator])
    expect((await list(vault)).positions).toMatchObject([{ position, liquidity }])
    const path = `/v2/pools/${pool}/positions/${position}/removals`
    expect((await faultOf(path, { payer: addressOf(creator) })).slice(0, 2)).toEqual([400, 'position'])
    expect((await ask(path, { payer: vault })).requiredSigners).toEqual([vault])
  })
})
