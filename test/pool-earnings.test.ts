/** What a pool has earned for each party is what the programs then pay, before and after its migration, to the unit. */
import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import * as spl from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EarnedAmountsRecord, PoolEarnings } from '../src/api/pool-earnings.ts'
import { creatorPart, leftoverPart, readDbcPool } from '../src/chain/programs/dbc/index.ts'
import { localFetch } from '../src/localnet/fetch.ts'
import { createRpc } from '../src/localnet/rpc/index.ts'
import { insertPool } from '../src/store/resources/pools.ts'
import { addSurplus } from './support/dbc.ts'
import { type ForeignCurve, openForeignCurve } from './support/foreign-curve.ts'
import { SOL } from './support/local-chain.ts'
import { type TestNode, testNode } from './support/node.ts'
import {
  addressOf,
  type ChainAndNode,
  lackingPrograms,
  openChainAndNode,
  openPlatform,
  type Platform,
} from './support/pool-platform.ts'
import { TOKEN_ACCOUNT_RENT } from './support/rent.ts'

/** Calls to the node for a curve with locked tokens, and once it has migrated, with what is left over and the positions of two. */
const CALLS = { curve: 3, migrated: 9 }

describe.skipIf(lackingPrograms.length > 0)(`the earnings of a pool (${lackingPrograms.join(', ')})`, () => {
  let base: ChainAndNode
  let platform: Platform
  let curve: ForeignCurve
  let connection: TestNode
  const [creator, trader] = [Keypair.generate(), Keypair.generate()]

  beforeAll(async () => {
    base = await openChainAndNode()
    platform = await openPlatform(base, { settings: { 'pools.crank': false } })
    const rpc = createRpc(base.chain, { onError: () => undefined })
    const embedded = { fetch: localFetch(rpc) as typeof fetch, commitment: 'processed' } as const
    connection = testNode('http://embedded.test', embedded)
    for (const key of [creator, trader]) base.chain.airdrop(addressOf(key), 1_000n * SOL)
    curve = await openForeignCurve(base.chain, connection, { partner: base.wallet, creator, trader })
  })
  afterAll(async () => {
    await platform.close()
    base.close()
  })

  const earnings = async (address = curve.pool): Promise<PoolEarnings> => {
    const { status, json, text } = await platform.request('GET', `/v2/pools/${address}/earnings`)
    expect(status, text).toBe(200)
    return json.data
  }
  const source = (earned: PoolEarnings, party: string, kind: string) =>
    earned.parties.find((each) => each.party === party)!.sources.find((each) => each.kind === kind)
  const asked = () => [...base.node.asked.values()].reduce((sum, each) => sum + each, 0)
  const lamports = (key: Keypair) => base.chain.account(addressOf(key))!.lamports
  /** What a wallet is paid by a claim that it pays the fee of, without rent of accounts that are opened. */
  const paid = async (owner: Keypair, claim: () => Promise<unknown> | unknown): Promise<bigint> => {
    const before = lamports(owner)
    await claim()
    return lamports(owner) - before + 5_000n
  }
  const amounts = (accrued: bigint | string | null, claimable: bigint | string, claimed: bigint | string | null) => {
    const text = (each: bigint | string | null) => (each === null ? null : String(each))
    return { accrued: text(accrued), claimable: text(claimable), claimed: text(claimed) }
  }

  it('are exact for each party before any claim, and in total after claims', async () => {
    const before = asked()
    const empty = await earnings()
    expect(asked() - before).toBeLessThanOrEqual(CALLS.curve + 1)
    expect(empty).toMatchObject({
      curve_address: curve.pool,
      damm_v2_address: null,
      base_decimals: 6,
      quote_decimals: 9,
    })
    expect(source(empty, 'partner', 'pool_creation_fee')!.lamports).toEqual(amounts(9_000_000n, 9_000_000n, 0n))
    await curve.trade(SOL / 3n)
    await curve.trade(1_000_003n)
    const state = await curve.state()
    const [partner, ofCreator] = [BigInt(String(state.partnerQuoteFee)), BigInt(String(state.creatorQuoteFee))]
    const earned = await earnings()
    expect(source(earned, 'partner', 'dbc')!.quote).toEqual(amounts(partner, partner, 0n))
    expect(source(earned, 'creator', 'dbc')!.quote).toEqual(amounts(ofCreator, ofCreator, 0n))
    expect(earned.trading_fees!.quote).toEqual(amounts(partner + ofCreator, partner + ofCreator, 0n))
    const protocol = BigInt(String(state.protocolQuoteFee))
    expect(source(earned, 'protocol', 'dbc')!.quote).toEqual(amounts(protocol, protocol, 0n))
    const got = await paid(creator, async () => curve.land(await curve.claims.creatorFees(), creator))
    // The first claim opens the creator's account of the token.
    expect(got + TOKEN_ACCOUNT_RENT).toBe(ofCreator)
    const after = await earnings()
    expect(source(after, 'partner', 'dbc')!.quote).toEqual(amounts(null, partner, null))
    expect(source(after, 'creator', 'dbc')!.quote).toEqual(amounts(null, 0n, null))
    expect(after.trading_fees!.quote).toEqual(amounts(partner + ofCreator, partner, ofCreator))
  })

  it('include claims by followed accounts, and change with no trade', async () => {
    const part = (wallet: Keypair) => creatorPart(base.chain.account(curve.pool), addressOf(wallet))
    const before = part(creator)
    expect(before).not.toBeNull()
    await curve.trade(SOL / 50n)
    expect(part(creator)).toEqual(before)
    curve.land(await curve.claims.creatorFees(), creator)
    expect(part(creator)).not.toEqual(before)
    expect(leftoverPart(base.chain.account(curve.pool))).toBeNull()
    expect(creatorPart(base.chain.account(addressOf(creator)), addressOf(creator))).toBeNull()
    expect(creatorPart(null, addressOf(creator))).toBeNull()
  })

  it('of a full curve equal what each withdrawal pays', async () => {
    await curve.trade(5n * SOL)
    addSurplus(base, (await readDbcPool(connection, curve.pool))!, SOL + 7n)
    const { claims, land } = curve
    // Nodes show what a transaction has left behind it.
    land(await claims.partnerFees(), base.wallet)
    for (const [party, kind, owner, claim] of [
      ['partner', 'surplus', base.wallet, claims.partnerSurplus],
      ['creator', 'surplus', creator, claims.creatorSurplus],
      ['partner', 'migration_fee', base.wallet, claims.partnerMigrationFee],
      ['creator', 'migration_fee', creator, claims.creatorMigrationFee],
    ] as const) {
      const { quote } = source(await earnings(), party, kind)!
      const got = await paid(owner, async () => land(await claim(), owner))
      expect(quote, `${kind} of ${party}`).toEqual(amounts(got, got, 0n))
      expect(source(await earnings(), party, kind)!.quote).toEqual(amounts(got, 0n, got))
    }
    const surplus = source(await earnings(), 'protocol', 'surplus')!.quote!
    expect(BigInt(surplus.claimable!)).toBeGreaterThan(SOL / 5n)
    const got = await paid(base.wallet, async () => land(await claims.creationFee(), base.wallet))
    const { lamports: fee } = source(await earnings(), 'partner', 'pool_creation_fee')!
    expect(fee).toEqual(amounts(got, 0n, got))
  })

  it('after the migration include those of the positions, by either address', async () => {
    const { services } = platform
    const common = {
      ...{ base_mint: curve.mint.toBase58(), quote_mint: 'So11111111111111111111111111111111111111112' },
      ...{ name: 'Coin', symbol: 'COIN', metadata_uri: null, preset: null, creator: addressOf(creator) },
      ...{ crank_signing: null, crank_signature: null, crank_failures: 0, submitted_at: null, external_uid: null },
      ...{ genesis: await services.chain.genesisHash(), next_check_at: null, metadata_json: null, created_at: 1 },
    }
    const { pool: address, dammPool, config } = curve
    await curve.migrate()
    await services.store.write(async (tx) => {
      const ofCurve = { type: 'dbc', status: 'migrated', migrated_to: dammPool, dbc_pool: null } as const
      await insertPool(tx, { ...common, ...ofCurve, address, config })
      const ofPool = { type: 'damm_v2', status: 'live', migrated_to: null, dbc_pool: address } as const
      await insertPool(tx, { ...common, ...ofPool, address: dammPool, config: null })
    })
    await curve.tradeMigrated(SOL)
    const before = await earnings()
    expect(before).toMatchObject({ damm_v2_address: dammPool, base_symbol: 'COIN', positions_complete: true })
    const { quote } = source(before, 'partner', 'damm_v2')!
    expect(quote!.claimed).toBe('0')
    expect(quote!.claimable).toBe(quote!.accrued)
    const got = await paid(base.wallet, async () => curve.land(await curve.claims.positions(base.wallet), base.wallet))
    expect(got).toBe(BigInt(quote!.claimable!))
    const after = await earnings(dammPool)
    expect(source(after, 'partner', 'damm_v2')!.quote).toEqual(amounts(quote!.accrued, 0n, quote!.accrued))
    expect(source(after, 'creator', 'damm_v2')!).toMatchObject({ wallet: addressOf(creator), pool_address: dammPool })
    // Two positions share the fees: what is left of the total is a unit of rounding each, at most.
    expect(Number(source(after, 'others', 'damm_v2')!.quote!.accrued)).toBeLessThanOrEqual(2)
    expect({ ...(await earnings()), pool_address: '', base_symbol: '' }).toEqual({
      ...after,
      pool_address: '',
      base_symbol: '',
    })
  })

  it('of leftover and vested tokens are paid in tokens', async () => {
    const tokens = (key: Keypair) =>
      Buffer.from(base.chain.account(curve.tokens(key.publicKey).toBase58())?.data ?? Buffer.alloc(72)).readBigUInt64LE(
        64,
      )
    const left = source(await earnings(), 'partner', 'leftover')!
    const held = tokens(base.wallet)
    curve.land(await curve.claims.leftover(), trader)
    const got = tokens(base.wallet) - held
    expect(left).toMatchObject({ wallet: addressOf(base.wallet), base: amounts(got, got, 0n) })
    expect(got).toBeGreaterThan(0n)
    expect(source(await earnings(), 'partner', 'leftover')!.base).toEqual(amounts(null, 0n, null))
    base.clock.advance(3 * 86_400_000)
    const [lock, ...others] = (await platform.request('GET', `/v2/locks?mint=${curve.mint}`)).json.data
    expect([lock.origin, lock.recipient, lock.amount, others]).toEqual([
      'launch',
      addressOf(creator),
      '100000000000',
      [],
    ])
    expect(lock).toMatchObject({ unlocked: '30000000000', claimable: '30000000000', claimed: '0' })
    curve.land(curve.claims.vested(), creator)
    const vested = source(await earnings(), 'creator', 'vesting')!
    expect(vested).toMatchObject({ locked: '70000000000', wallet: addressOf(creator) })
    expect(vested.base).toEqual(amounts(30_000_000_000n, 0n, 30_000_000_000n))
  })

  it('are read in few calls, and totals are those of the sources', async () => {
    const before = asked()
    const earned = await earnings()
    expect(asked() - before).toBeLessThanOrEqual(CALLS.migrated)
    for (const { party, quote, sources } of earned.parties) {
      const all = sources.flatMap((each) => each.quote ?? [])
      const sum = (field: keyof EarnedAmountsRecord) =>
        all.some((each) => each[field] === null)
          ? null
          : String(all.reduce((total, each) => total + BigInt(each[field]!), 0n))
      if (all.length > 0) expect(quote, party).toEqual(amounts(sum('accrued'), sum('claimable')!, sum('claimed')))
    }
  })

  it('of a wallet with many NFTs of strangers are bounded, and say so', async () => {
    const before = await earnings()
    for (let n = 0; n < 1_200; n++) {
      const data = new Uint8Array(165)
      data.set(randomBytes(32))
      data.set(creator.publicKey.toBytes(), 32)
      data.set([1], 64)
      data.set([1], 108)
      const owner = spl.TOKEN_2022_PROGRAM_ID.toBase58()
      base.chain.setAccount(base58.encode(randomBytes(32)), {
        data,
        owner,
        executable: false,
        lamports: TOKEN_ACCOUNT_RENT,
      })
    }
    const calls = asked()
    const after = await earnings()
    expect(after.positions_complete).toBe(false)
    expect(asked() - calls).toBeLessThanOrEqual(CALLS.migrated + 4)
    // Those that still lie where the program has minted them come first.
    expect(source(after, 'creator', 'damm_v2')).toEqual(source(before, 'creator', 'damm_v2'))
  })

  it('of an address without a pool are not_found', async () => {
    const { status, json } = await platform.request('GET', `/v2/pools/${addressOf(creator)}/earnings`)
    expect([status, json.error.code]).toEqual([404, 'not_found'])
  })
})
