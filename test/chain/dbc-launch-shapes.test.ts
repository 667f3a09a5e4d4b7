/** Launches in other quotes, of Token-2022 tokens, with the least fee for the first buy, and paid by a sponsor. */

import { DynamicBondingCurveClient } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { TOKEN_2022_PROGRAM_ID } from '@solana/spl-token'
import { Connection, PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildDammV2Swap, quoteDammV2Swap, readDammV2Pool } from '../../src/chain/programs/damm-v2/index.ts'
import { configInstruction } from '../../src/chain/programs/dbc/config.ts'
import {
  buildCurve,
  buildDbcLaunch,
  buildMigrationStep,
  buildWholeDbcLaunch,
  type DbcPool,
  dbcPoolAddress,
  migratedPoolAddress,
  migrationMarketCap,
  migrationStep,
  quoteDbcSwap,
  requireQuoteBalance,
  requireQuoteMint,
} from '../../src/chain/programs/dbc/index.ts'
import { readTokenState } from '../../src/chain/programs/tokens/index.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  addressOf,
  CONFIG,
  CREATOR,
  type DbcChain,
  KEEPER,
  lacksDbc,
  launchOf,
  MINT,
  openDbcChain,
  PARTNER,
  presetWith,
  TRADER,
} from '../support/dbc.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { hasInstruction } from '../support/programs.ts'
import {
  putBadge,
  putMint,
  putTokens,
  QUOTES,
  type QuoteMint,
  quoteAddress,
  SHARE_EXTENSIONS,
  transferFee,
} from '../support/quotes.ts'
import { inSoak, runs } from '../support/runs.ts'

const needs = '(needs DBC, DAMM v2, Metaplex and Lock in the cache)'
const SPONSOR = goldenKey(34)
const [DOLLARS, QUOTE_OF_2022, WITH_FEE] = QUOTES as [QuoteMint, QuoteMint, QuoteMint]
/** A tokenized share, which Meteora takes as a quote only with a badge. */
const SHARE: QuoteMint = { ...QUOTE_OF_2022, extensions: SHARE_EXTENSIONS }
const lacksBadges = !hasInstruction(PROGRAMS.dbc.id, 'CreateTokenBadge')
const STEEP = { starting_bps: 5_000, ending_bps: 100, periods: 10, duration_seconds: 600 }
const inQuote = ({ mint, decimals }: QuoteMint) => ({ quote_mint: mint, quote_decimals: decimals })
const preset = (changes: Record<string, unknown>) => buildCurve(presetWith(changes))

async function openShapes() {
  const opened = await openDbcChain()
  const { chain } = opened
  opened.keys.set(addressOf(SPONSOR), SPONSOR)
  chain.airdrop(addressOf(SPONSOR), 1_000n * SOL)
  for (const quote of QUOTES) {
    putMint(chain, quote)
    for (const owner of [CREATOR, TRADER, KEEPER]) putTokens(chain, quote, { owner, amount: 10n ** 15n })
  }
  return opened
}

async function migrated(opened: DbcChain, pool: DbcPool): Promise<DbcPool> {
  let present = pool
  while (migrationStep(present) !== 'done') {
    const recentBlockhash = opened.chain.latestBlockhash().blockhash
    const { ComputeBudgetProgram } = await import('@solana/web3.js')
    const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: 470_000 })]
    const step = await buildMigrationStep({ pool: present, payer: addressOf(KEEPER), recentBlockhash, before })
    expect(opened.land(step, step.secretKeys), opened.logs.join('\n')).toBeNull()
    present = await opened.read(pool.address)
  }
  return present
}

const SHAPES = {
  dollars: { wishes: { buyLamports: 10_000_000n }, fields: inQuote(DOLLARS) },
  token2022: { wishes: { buyLamports: SOL }, fields: { token_program: 'token2022' } },
  'both-2022': {
    wishes: { buyLamports: SOL, quoteProgram: 'token2022' as const },
    fields: { token_program: 'token2022', ...inQuote(QUOTE_OF_2022) },
  },
  'least-fee': { wishes: { buyLamports: SOL }, fields: { fee: STEEP, first_swap_min_fee: true } },
  sponsored: { wishes: { buyLamports: SOL, payer: addressOf(SPONSOR) }, fields: {} },
  segments: {
    wishes: { buyLamports: SOL },
    fields: { shape: { kind: 'liquidity_weights', weights: Array.from({ length: 16 }, (_, i) => i + 1) } },
  },
}

describe('a launch of another shape', () => {
  for (const [name, { wishes, fields }] of Object.entries(SHAPES)) {
    const launch = async () => launchOf(GOLDEN_BLOCKHASH, { ...wishes, curve: await preset(fields) })
    it.skipIf(RECORDING && lacksDbc)(`is built as recorded: ${name}`, async ({ annotate }) => {
      const built = await buildDbcLaunch(await launch())
      for (const [i, { transaction }] of built.entries()) {
        const bytes = await expectGolden(`dbc-shape-${name}-${i + 1}`, transaction, async () => {
          const opened = await openShapes()
          for (const earlier of built.slice(0, i)) expect(opened.land(earlier), opened.logs.join('\n')).toBeNull()
          return opened.test
        })
        await annotate(`${name} ${i + 1}: ${bytes} bytes`, 'size')
      }
    })

    it.skipIf(RECORDING && lacksDbc)(`is built as recorded in version 1: ${name}`, async ({ annotate }) => {
      const { tip: _, computeUnitPrice: __, ...content } = await launch()
      const payer = 'payer' in wishes ? wishes.payer : addressOf(CREATOR)
      const { transaction } = await buildWholeDbcLaunch({ ...content, payer, messageConfig: GOLDEN_CONFIG })
      const bytes = await expectGolden(`dbc-shape-v1-${name}`, transaction, async () => (await openShapes()).test)
      await annotate(`${name}: ${bytes} bytes`, 'size')
    })
  }

  it('that is sponsored fits with the texts of the service, and a tip', async ({ annotate }) => {
    const wishes = {
      ...SHAPES.sponsored.wishes,
      name: 'N'.repeat(20),
      symbol: 'S'.repeat(10),
      uri: `https://${'u'.repeat(92)}`,
      tip: { account: addressOf(goldenKey(35)), lamports: 1_000_000n },
      computeUnitPrice: 1_000n,
    }
    const built = await buildDbcLaunch(await launchOf(GOLDEN_BLOCKHASH, wishes))
    expect(built.map(({ requiredSigners }) => requiredSigners)).toEqual([
      [SPONSOR, CONFIG].map(addressOf),
      [SPONSOR, CREATOR, MINT].map(addressOf),
    ])
    const sizes = built.map(({ transaction }) => transaction.length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
    await annotate(`sponsored, uri of 100: ${sizes} bytes`, 'size')
  })
})

describe.skipIf(lacksDbc)(`a launch of another shape on chain ${needs}`, () => {
  const SAMPLE: [string, QuoteMint, Record<string, string>][] = [
    ['a Token-2022 quote, of a Token-2022 token', QUOTE_OF_2022, { token_program: 'token2022' }],
  ]
  const BADGED: typeof SAMPLE = [['a tokenized share, which has a badge', SHARE, {}]]
  const OTHERS: typeof SAMPLE = [
    ['dollars', DOLLARS, {}],
    ['dollars, with fees in both tokens', DOLLARS, { collect_fee_mode: 'both' }],
  ]
  for (const [what, quote, fields] of inSoak ? [...SAMPLE, ...BADGED, ...OTHERS] : [...SAMPLE, ...BADGED]) {
    const isLacking = quote === SHARE && lacksBadges
    const title = `in ${what} is traded as quoted, on the curve and after the migration${isLacking ? ' (needs DBC 0.2.1 in the cache)' : ''}`
    it.skipIf(isLacking)(title, { tags: 'sampled' }, async () => {
      const opened = await openShapes()
      const { connection } = opened
      putMint(opened.chain, quote)
      const tokenBadge = quote === SHARE ? await putBadge(opened.chain, quote) : null
      const quoteProgram = quote.program
      const curve = await preset({ ...inQuote(quote), ...fields })
      expect(await requireQuoteMint(connection, curve)).toEqual({ quoteProgram, tokenBadge })
      let pool = await opened.launch({ curve, quoteProgram, tokenBadge, buyLamports: 10n ** 6n })
      expect(pool).toMatchObject({
        address: await dbcPoolAddress({ mint: addressOf(MINT), config: addressOf(CONFIG), quoteMint: quote.mint }),
        quoteMint: quote.mint,
        quoteProgram,
        quoteDecimals: quote.decimals,
        baseProgram: 'token_program' in fields ? 'token2022' : 'spl',
      })
      expect(migrationMarketCap(pool)).toBeNull()
      const paid = () => opened.tokens(quoteAddress(quote, TRADER))
      const held = () => tokensHeld(opened, pool)
      const steps = fc.sample(
        fc.record({ side: fc.constantFrom('buy', 'sell'), part: fc.bigInt({ min: 1n, max: 100n }) }),
        runs(6, 12),
      )
      for (const { side, part } of [{ side: 'buy', part: 100n }, ...steps] as {
        side: 'buy' | 'sell'
        part: bigint
      }[]) {
        const amount = side === 'buy' ? (curve.thresholdLamports * part) / 2_000n : (held() * part) / 200n
        if (amount === 0n) continue
        const { estimatedOut, amountIn } = await quoteDbcSwap(connection, pool, { side, amount })
        const [money, tokens] = [paid(), held()]
        pool = await opened.trade(pool, side, amount)
        expect([amountIn, side === 'buy' ? held() - tokens : paid() - money]).toEqual([amount, estimatedOut])
        expect(side === 'buy' ? money - paid() : tokens - held()).toBe(amount)
      }
      pool = await opened.trade(pool, 'buy', curve.thresholdLamports * 2n)
      expect(pool.price).toBe(curve.migrationPrice)
      pool = await migrated(opened, pool)
      const damm = (await readDammV2Pool(connection, await migratedPoolAddress(pool)))!
      expect([damm.tokenAMint, damm.tokenBMint]).toEqual([pool.baseMint, quote.mint])
      for (const side of ['buy', 'sell'] as const) {
        const amount = side === 'buy' ? curve.thresholdLamports / 100n : held() / 10n
        const { estimatedOut } = await quoteDammV2Swap(connection, damm, { side, amount })
        const [money, tokens] = [paid(), held()]
        const recentBlockhash = opened.chain.latestBlockhash().blockhash
        const payer = addressOf(TRADER)
        const swap = await buildDammV2Swap({
          pool: damm,
          payer,
          side,
          amount,
          minimumOut: estimatedOut,
          recentBlockhash,
        })
        expect(opened.land(swap), opened.logs.join('\n')).toBeNull()
        expect(side === 'buy' ? held() - tokens : paid() - money).toBe(estimatedOut)
      }
    })
  }

  it('in a quote that has the extensions of a tokenized share is traded as quoted', async () => {
    const opened = await openShapes()
    const { connection, chain } = opened
    const curve = await preset(inQuote(QUOTE_OF_2022))
    // The extensions come after the launch, because a program before 0.2.1 knows no badges.
    let pool = await opened.launch({ curve, quoteProgram: 'token2022' })
    putMint(chain, SHARE)
    const paid = () => opened.tokens(quoteAddress(SHARE, TRADER))
    for (const side of ['buy', 'sell', 'buy'] as const) {
      const amount = side === 'buy' ? curve.thresholdLamports / 20n : tokensHeld(opened, pool) / 3n
      const { estimatedOut } = await quoteDbcSwap(connection, pool, { side, amount })
      const [money, tokens] = [paid(), tokensHeld(opened, pool)]
      pool = await opened.trade(pool, side, amount)
      const moved = [money - paid(), tokensHeld(opened, pool) - tokens]
      expect(moved).toEqual(side === 'buy' ? [amount, estimatedOut] : [-estimatedOut, -amount])
    }
  })

  it('with the lowest fee for the first buy takes it only from the first buy', async () => {
    const opened = await openShapes()
    const curve = await preset({ fee: STEEP, first_swap_min_fee: true })
    let pool = await opened.launch({ curve, buyLamports: SOL })
    expect([pool.quoteReserve, pool.swapShowsInstructions]).toEqual([(SOL * 99n) / 100n, true])
    const before = pool.quoteReserve
    pool = await opened.trade(pool, 'buy', SOL)
    expect(pool.quoteReserve - before).toBe(SOL / 2n)
    const plain = await (await openShapes()).launch({ curve: await preset({ fee: STEEP }), buyLamports: SOL })
    expect(plain.quoteReserve).toBe(SOL / 2n)
  })

  it('that is sponsored costs the creator the first buy, and the sponsor everything else', async () => {
    const opened = await openShapes()
    const { lamports } = opened
    const [creator, sponsor] = [lamports(addressOf(CREATOR)), lamports(addressOf(SPONSOR))]
    const curve = await preset({ pool_creation_fee: 1 })
    const pool = await opened.launch({ curve, payer: addressOf(SPONSOR), buyLamports: SOL })
    expect(pool.creator).toBe(addressOf(CREATOR))
    expect(creator - lamports(addressOf(CREATOR))).toBe(SOL)
    expect(sponsor - lamports(addressOf(SPONSOR))).toBeGreaterThan(SOL)
    expect(opened.held(pool, CREATOR)).toBeGreaterThan(0n)
  })

  it('of a Token-2022 token has no authority, and its own mint has its name', async () => {
    const opened = await openShapes()
    const immutable = await opened.launch({ curve: await preset({ token_program: 'token2022' }) })
    expect(opened.chain.account(immutable.baseMint)!.owner).toBe(TOKEN_2022_PROGRAM_ID.toBase58())
    const state = await readTokenState(opened.connection, immutable.baseMint)
    expect(state).toMatchObject({
      mintAuthority: null,
      freezeAuthority: null,
      metadata: { name: 'Test Coin', symbol: 'TST', updateAuthority: null },
    })
  })

  for (const [token_update_authority, who] of [
    ['creator', 'creator'],
    ['partner', 'partner'],
  ] as const) {
    it(`leaves the metadata to the ${who} where the preset says so`, async () => {
      const opened = await openShapes()
      const pool = await opened.launch({ curve: await preset({ token_update_authority }) })
      const { metadata } = await readTokenState(opened.connection, pool.baseMint)
      expect(metadata).toMatchObject({ updateAuthority: who === 'creator' ? pool.creator : pool.feeClaimer })
    })
  }
})

describe('a quote token', () => {
  it('is refused if it is not a mint, has other decimals or needs a badge', async () => {
    const { connection, chain } = await openShapes()
    const asked = (quote: QuoteMint, more: object = {}) =>
      requireQuoteMint(connection, { quoteMint: quote.mint, quoteDecimals: quote.decimals, ...more })
    const refusal = (text: string) => ({ code: 'bad_request', param: 'preset', message: expect.stringContaining(text) })
    expect(await asked(DOLLARS)).toEqual({ quoteProgram: 'spl', tokenBadge: null })
    expect(await asked(QUOTE_OF_2022)).toEqual({ quoteProgram: 'token2022', tokenBadge: null })
    await expect(asked(WITH_FEE)).rejects.toMatchObject(refusal('token badge'))
    await expect(asked(DOLLARS, { quoteDecimals: 9 })).rejects.toMatchObject(refusal('has 6 decimals'))
    await expect(asked({ ...DOLLARS, mint: addressOf(KEEPER) })).rejects.toMatchObject(refusal('is not a mint'))
    expect(chain.account(addressOf(KEEPER))).not.toBeNull()
  })

  it('with a badge of Meteora is launched with it, and only with its own', async () => {
    const { connection, chain } = await openShapes()
    const asked = () => requireQuoteMint(connection, { quoteMint: SHARE.mint, quoteDecimals: SHARE.decimals })
    putMint(chain, SHARE)
    const without = { code: 'bad_request', param: 'preset', message: expect.stringMatching(/token badge.*ask Meteora/) }
    await expect(asked()).rejects.toMatchObject(without)
    await putBadge(chain, SHARE, { of: DOLLARS.mint })
    await expect(asked()).rejects.toMatchObject(without)
    await putBadge(chain, SHARE, { owner: addressOf(KEEPER) })
    await expect(asked()).rejects.toMatchObject(without)
    const tokenBadge = await putBadge(chain, SHARE)
    expect(await asked()).toEqual({ quoteProgram: 'token2022', tokenBadge })
    const curve = await preset(inQuote(SHARE))
    const launch = await launchOf(GOLDEN_BLOCKHASH, { curve, quoteProgram: 'token2022', tokenBadge })
    const lastAccounts = (built: { transaction: Uint8Array }[]) =>
      built.flatMap(({ transaction }) => {
        const { keys, instructions } = decodeWireTransaction(transaction).message
        return instructions
          .filter(({ programIdIndex }) => keys[programIdIndex] === PROGRAMS.dbc.id)
          .map(({ accounts }) => keys[accounts.at(-1) ?? -1])
      })
    expect(lastAccounts(await buildDbcLaunch(launch))).toEqual([tokenBadge, tokenBadge])
    const others = await buildDbcLaunch({ ...launch, tokenBadge: null })
    expect(lastAccounts(others)).toEqual([PROGRAMS.dbc.id, PROGRAMS.dbc.id])
    const { tip: _, computeUnitPrice: __, ...content } = launch
    const whole = { ...content, payer: addressOf(CREATOR), messageConfig: GOLDEN_CONFIG, buyLamports: 1n }
    expect(lastAccounts([await buildWholeDbcLaunch(whole)]).slice(0, 2)).toEqual([tokenBadge, tokenBadge])
    // The SDK of the program's authors names it in the same place.
    const client = new DynamicBondingCurveClient(new Connection('http://127.0.0.1:1'), 'confirmed')
    const theirs = await client.partner.createConfig({
      ...curve.parameters,
      config: CONFIG.publicKey,
      feeClaimer: PARTNER.publicKey,
      leftoverReceiver: PARTNER.publicKey,
      quoteMint: new PublicKey(SHARE.mint),
      payer: CREATOR.publicKey,
      tokenBadge: new PublicKey(tokenBadge),
    })
    const ours = await configInstruction({ ...launch, payer: addressOf(CREATOR) })
    expect(theirs.instructions).toEqual([ours])
  })

  it.each([
    ['takes a transfer fee of 0.2 %', transferFee(20)],
    ['takes a transfer fee of 0.2 % from epoch 99999', transferFee(20, { from: 99_999n, older: 0 })],
    ['takes a transfer fee of 0.1 %', transferFee(0, { from: 99_999n, older: 10 })],
    ['calls the program', [14, new Uint8Array(64).fill(3)]],
    ['cannot be transferred', [9, new Uint8Array()]],
    ['freezes each new account', [6, Uint8Array.of(2)]],
    ['is paused', [26, new Uint8Array(33).fill(1, 32)]],
  ] as const)('that %s is refused, with a badge too', async (why, extension) => {
    const { connection, chain } = await openShapes()
    putMint(chain, { ...SHARE, extensions: [extension] })
    await putBadge(chain, SHARE)
    await expect(
      requireQuoteMint(connection, { quoteMint: SHARE.mint, quoteDecimals: SHARE.decimals }),
    ).rejects.toMatchObject({ code: 'bad_request', param: 'preset', message: expect.stringContaining(why) })
  })

  it('whose transfer fee is over is taken with a badge', async () => {
    const { connection, chain } = await openShapes()
    putMint(chain, { ...SHARE, extensions: [transferFee(0, { from: 0n, older: 10 })] })
    const tokenBadge = await putBadge(chain, SHARE)
    const asked = requireQuoteMint(connection, { quoteMint: SHARE.mint, quoteDecimals: SHARE.decimals })
    expect(await asked).toEqual({ quoteProgram: 'token2022', tokenBadge })
  })

  it('is what the creator must have for the first buy', async () => {
    const { connection, chain } = await openShapes()
    const quote = { quoteMint: DOLLARS.mint, quoteDecimals: 6, quoteProgram: 'spl' as const }
    putTokens(chain, DOLLARS, { owner: CREATOR, amount: 99n })
    const asked = (buyer: string, amount: bigint) => requireQuoteBalance(connection, quote, { buyer, amount })
    await asked(addressOf(CREATOR), 99n)
    for (const [buyer, amount] of [
      [addressOf(CREATOR), 100n],
      [addressOf(SPONSOR), 1n],
    ] as const) {
      await expect(asked(buyer, amount)).rejects.toMatchObject({ code: 'bad_request', param: 'buy_amount' })
    }
    await asked(addressOf(SPONSOR), 0n)
  })
})

function tokensHeld(opened: DbcChain, pool: DbcPool): bigint {
  const program = pool.baseProgram === 'spl' ? ('spl' as const) : ('token2022' as const)
  return opened.tokens(quoteAddress({ mint: pool.baseMint, decimals: 0, program }, TRADER))
}
