/** Swaps and fee claims on DAMM v2 pools with the real program: quotes and claims exact to the unit. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildDammV2Swap,
  buildLiquidityRemoval,
  buildPermanentLock,
  buildPositionClaim,
  type DammV2Pool,
  type DammV2Position,
  dammV2ChangesIn,
  positionAddresses,
  positionsPerClaim,
  quoteDammV2Swap,
  readPositions,
  type SwapOrder,
} from '../../src/chain/programs/damm-v2/index.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import {
  type DammV2Chain,
  goldenPool,
  HAS_DAMM_V2,
  type LaunchKeys,
  launchKeys,
  openDammV2,
  openStrangersPool,
  SIGNATURE_FEE,
  type StrangersPool,
  SUPPLY,
  splitOff,
} from '../support/damm-v2.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { PROGRAMS_DIR, SOL, sharedTestChain, someone } from '../support/local-chain.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { inSoak, runs } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'

const shared = sharedTestChain({ programsDir: PROGRAMS_DIR })
const openShared = async () => openDammV2(await shared())
const real = it.skipIf(!HAS_DAMM_V2)
const BUY: SwapOrder = { side: 'buy', amount: 5n * SOL }
const keyOf = (address: string) => new PublicKey(address)
const freshKeys = (creator: Keypair): LaunchKeys => ({
  creator,
  mint: Keypair.generate(),
  positionNft: Keypair.generate(),
})

async function openWithPool() {
  const chain = await openShared()
  const keys = freshKeys(chain.wallet())
  // Of unlocked liquidity parts can be split off and taken out.
  return { ...chain, keys, pool: await chain.launch(keys, { lockLiquidity: false }) }
}

/** What a swap changed for its trader, its transaction's fee and rents taken out. */
async function trade(chain: DammV2Chain, pool: DammV2Pool, trader: Keypair, order: SwapOrder, minimumOut = 0n) {
  const holdings = () => ({
    lamports: chain.lamportsOf(trader.publicKey),
    tokens: chain.tokensOf(trader.publicKey, pool.tokenAMint, programOf(pool)),
  })
  const before = holdings()
  const landed = chain.land(await chain.swap(pool, trader, order, minimumOut), trader)
  const after = holdings()
  const rent = before.tokens === null ? rentOf(chain, pool, trader) : 0n
  return {
    units: landed.unitsConsumed,
    lamports: after.lamports - before.lamports + SIGNATURE_FEE + rent,
    tokens: (after.tokens ?? 0n) - (before.tokens ?? 0n),
  }
}

const programOf = (pool: DammV2Pool) =>
  pool.tokenAProgram === spl.TOKEN_2022_PROGRAM_ID.toBase58() ? spl.TOKEN_2022_PROGRAM_ID : undefined

function rentOf({ chain }: DammV2Chain, pool: DammV2Pool, { publicKey }: Keypair): bigint {
  const account = spl.getAssociatedTokenAddressSync(new PublicKey(pool.tokenAMint), publicKey, true, programOf(pool))
  return chain.account(account.toBase58())!.lamports
}

describe('a swap (needs Meteora DAMM v2 and Metaplex Token Metadata in the cache)', () => {
  real('gives what its quote said to the unit, buying and selling', async ({ annotate }) => {
    const chain = await openWithPool()
    const { pool } = chain
    const trader = chain.wallet()
    const bought = await quoteDammV2Swap(chain.connection, pool, BUY)
    expect(bought).toEqual({ amountIn: 5n * SOL, estimatedOut: expect.any(BigInt), fee: (5n * SOL) / 100n })
    const buy = await trade(chain, pool, trader, BUY, bought.estimatedOut)
    expect(buy).toMatchObject({ lamports: -5n * SOL, tokens: bought.estimatedOut })
    const sale: SwapOrder = { side: 'sell', amount: bought.estimatedOut / 3n }
    const sold = await quoteDammV2Swap(chain.connection, pool, sale)
    const sell = await trade(chain, pool, trader, sale, sold.estimatedOut)
    expect(sell).toMatchObject({ lamports: sold.estimatedOut, tokens: -sale.amount })
    await annotate(`buy ${buy.units}, sell ${sell.units}`, 'units')
    const { tokenAAmount, tokenBAmount } = await chain.read(pool.address)
    expect(tokenAAmount).toBe(SUPPLY - buy.tokens + sale.amount)
    expect(tokenBAmount).toBe(1n + 5n * SOL - sold.estimatedOut)
    // Wrapped SOL does not stay behind.
    expect(chain.tokensOf(trader.publicKey, pool.tokenBMint)).toBeNull()
  })

  real('gives what its quote said whatever is traded in whatever order', { tags: 'sampled' }, async () => {
    const chain = await openWithPool()
    const trader = chain.wallet(1_000_000n * SOL)
    await trade(chain, chain.pool, trader, { side: 'buy', amount: 1_000n })
    let swaps = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('buy' as const, 'sell' as const),
        fc.bigInt(1n, 10_000n),
        fc.constantFrom(1n, 1_000n, SOL / 1_000n),
        async (side, share, unit) => {
          // The same order twice in one slot would be the same transaction.
          chain.chain.advance(1)
          const held = chain.tokensOf(trader.publicKey, chain.pool.tokenAMint)!
          const amount = side === 'buy' ? share * unit : (held * share) / 10_000n
          const order = { side, amount: amount > 0n ? amount : 1n }
          const quote = await quoteDammV2Swap(chain.connection, chain.pool, order).catch(() => null)
          fc.pre(quote !== null)
          const { lamports, tokens } = await trade(chain, chain.pool, trader, order, quote.estimatedOut)
          expect(side === 'buy' ? tokens : lamports).toBe(quote.estimatedOut)
          expect(side === 'buy' ? lamports : tokens).toBe(-order.amount)
          swaps++
        },
      ),
      { numRuns: runs(5, 80), endOnFailure: true },
    )
    expect(swaps).toBeGreaterThan(runs(0, 40))
  })

  const falling = cpAmm.getFeeTimeSchedulerParams(5_000, 100, cpAmm.BaseFeeMode.FeeTimeSchedulerLinear, 10, 600)
  const byMarketCap = cpAmm.getFeeMarketCapSchedulerParams(
    5_000,
    100,
    cpAmm.BaseFeeMode.FeeMarketCapSchedulerLinear,
    10,
    2,
    86_400,
  )
  /** Seconds to wait, then lamports to buy for. */
  const STEPS = [
    [0, 5n * SOL],
    [1, SOL / 50n],
    [30, SOL / 10n],
    [61, 5n * SOL],
    [200, SOL / 3n],
    [400, SOL],
    [5, SOL / 50n],
    [7, 2n * SOL],
  ] as const
  const OTHERS: [string, StrangersPool][] = [
    ['a fee that falls with slots', { fee: { baseFee: falling }, activationType: cpAmm.ActivationType.Slot }],
    ['a fee that falls with the market cap', { fee: { baseFee: byMarketCap } }],
    ['a fee that follows volatility', { fee: { dynamicFee: cpAmm.getDynamicFeeParams(100) } }],
    ['fees in both tokens', { collectFeeMode: cpAmm.CollectFeeMode.BothToken }],
  ]
  real.each<[string, StrangersPool]>([
    ['a fee that falls with time', { fee: { baseFee: falling } }],
    ['a mint that takes a share of transfers', { transferFeeBps: 123 }],
    ...(inSoak ? OTHERS : []),
  ])('gives what its quote said in a pool with %s', { tags: 'sampled' }, async (_, wishes) => {
    const chain = await openShared()
    const address = await openStrangersPool(chain.test, freshKeys(chain.wallet()), wishes)
    const pool = await chain.read(address)
    const trader = chain.wallet(1_000n * SOL)
    const rates = new Set<bigint>()
    for (const [seconds, amount] of STEPS) {
      if (seconds > 0) chain.chain.advance(seconds)
      const order: SwapOrder = { side: 'buy', amount }
      const bought = await quoteDammV2Swap(chain.connection, pool, order)
      const buy = await trade(chain, pool, trader, order, bought.estimatedOut)
      expect(buy).toMatchObject({ lamports: -amount, tokens: bought.estimatedOut })
      const sale: SwapOrder = { side: 'sell', amount: buy.tokens / 2n }
      const sold = await quoteDammV2Swap(chain.connection, pool, sale)
      const sell = await trade(chain, pool, trader, sale, sold.estimatedOut)
      expect(sell).toMatchObject({ lamports: sold.estimatedOut, tokens: -sale.amount })
      rates.add((sold.fee * 100_000n) / (sold.estimatedOut + sold.fee))
    }
    // The fee did change on the way, where it should.
    if (wishes.fee !== undefined) expect(rates.size).toBeGreaterThan(2)
  })

  real('fails where it would give less than its minimum', async () => {
    const chain = await openWithPool()
    const trader = chain.wallet()
    const { estimatedOut } = await quoteDammV2Swap(chain.connection, chain.pool, BUY)
    const greedy = await chain.swap(chain.pool, trader, BUY, estimatedOut + 1n)
    expect(chain.run(greedy, trader).err).toEqual({ InstructionError: [4, { Custom: 6002 }] })
    await trade(chain, chain.pool, trader, BUY, estimatedOut)
  })

  real('is refused where the pool could not take it', async () => {
    const chain = await openWithPool()
    const { connection, pool } = chain
    const refused = { code: 'bad_request', param: 'amount' }
    // Nobody has bought yet: there is no SOL to sell for.
    await expect(quoteDammV2Swap(connection, pool, { side: 'sell', amount: SUPPLY / 2n })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('holds too little'),
    })
    for (const amount of [0n, -1n, 2n ** 64n]) {
      for (const side of ['buy', 'sell'] as const) {
        await expect(quoteDammV2Swap(connection, pool, { side, amount })).rejects.toMatchObject(refused)
        await expect(chain.swap(pool, goldenKey(1), { side, amount })).rejects.toMatchObject(refused)
      }
    }
    await chain.land(await chain.swap(pool, chain.keys.creator, BUY), chain.keys.creator)
    await expect(quoteDammV2Swap(connection, pool, { side: 'sell', amount: 1n })).rejects.toMatchObject(refused)
    await expect(chain.swap(pool, goldenKey(1), BUY, -1n)).rejects.toMatchObject({ param: 'minimum_out' })
  })

  real('is refused before the pool opens, and quoted after', async () => {
    const chain = await openDammV2()
    const opensAt = 1_800_000_020n
    const wishes = { activationPoint: opensAt }
    const pool = await chain.read(await openStrangersPool(chain.test, freshKeys(chain.wallet()), wishes))
    expect(pool.activationPoint).toBe(opensAt)
    await expect(quoteDammV2Swap(chain.connection, pool, BUY)).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('not open'),
    })
    chain.chain.advance(120)
    const { estimatedOut } = await quoteDammV2Swap(chain.connection, pool, BUY)
    expect(await trade(chain, pool, chain.wallet(), BUY, estimatedOut)).toMatchObject({ tokens: estimatedOut })
  })

  real('is read from its transaction', async () => {
    const { swap, pool, keys } = await openWithPool()
    const built = await swap(pool, keys.creator, { side: 'sell', amount: 77n })
    expect(dammV2ChangesIn(decodeWireTransaction(built.transaction).message)).toEqual([
      { kind: 'swap', pool: pool.address, trader: addressOf(keys.creator), amountIn: 77n },
    ])
  })
})

describe('a claim of position fees (needs Meteora DAMM v2 and Metaplex Token Metadata in the cache)', () => {
  const fees = (chain: DammV2Chain, pool: DammV2Pool, owner: Keypair) =>
    readPositions(chain.connection, pool.address, addressOf(owner))

  real('pays the owner four fifths of all fees, to the lamport, once', async ({ annotate }) => {
    const chain = await openWithPool()
    const { pool } = chain
    const owner = chain.keys.creator
    let paid = 0n
    for (const trader of [chain.wallet(), chain.wallet(), chain.wallet()]) {
      const { fee, estimatedOut } = await quoteDammV2Swap(chain.connection, pool, BUY)
      await trade(chain, pool, trader, BUY)
      const sale: SwapOrder = { side: 'sell', amount: estimatedOut / 2n }
      paid += fee + (await quoteDammV2Swap(chain.connection, pool, sale)).fee
      await trade(chain, pool, trader, sale)
    }
    const [position] = await fees(chain, pool, owner)
    expect(position!.feeA).toBe(0n)
    // A fifth is the protocol's; each trade rounds by a lamport, and so does the pool's sum.
    expect((paid * 4n) / 5n - position!.feeB).toBeLessThan(8n)
    const before = chain.lamportsOf(owner.publicKey)
    const [claim, ...others] = await chain.claim(pool, owner, [position!])
    expect(others).toEqual([])
    const { unitsConsumed } = chain.land(claim!, owner)
    await annotate(`${claim!.transaction.length} bytes, ${unitsConsumed} units`, 'size')
    expect(chain.lamportsOf(owner.publicKey) - before).toBe(position!.feeB - SIGNATURE_FEE)
    expect(chain.tokensOf(owner.publicKey, pool.tokenBMint)).toBeNull()
    expect(await fees(chain, pool, owner)).toEqual([{ ...position!, feeB: 0n }])
    const empty = chain.lamportsOf(owner.publicKey)
    chain.chain.advance(1)
    chain.land((await chain.claim(pool, owner, [position!]))[0]!, owner)
    expect(chain.lamportsOf(owner.publicKey)).toBe(empty - SIGNATURE_FEE)
  })

  real(
    'with another payer moves its fees and nothing else, however often: the payer loses what the network takes',
    async () => {
      const chain = await openWithPool()
      const { pool } = chain
      const [owner, payer] = [chain.keys.creator, chain.wallet()]
      const token = spl.getAssociatedTokenAddressSync(new PublicKey(pool.tokenAMint), owner.publicKey)
      const parties = [owner.publicKey, payer.publicKey, token, ...[pool.tokenAVault, pool.tokenBVault].map(keyOf)]
      for (const round of ['first', 'second', 'after its token account was closed', 'third', 'fourth']) {
        chain.chain.advance(1)
        const trader = chain.wallet()
        const { tokens } = await trade(chain, pool, trader, BUY)
        await trade(chain, pool, trader, { side: 'sell', amount: tokens / 2n })
        const isClosed = round.startsWith('after')
        if (isClosed) {
          const close = spl.createCloseAccountInstruction(token, owner.publicKey, owner.publicKey)
          expect(chain.send([close], [owner]).err).toBeNull()
        }
        const [position] = await fees(chain, pool, owner)
        expect(position!.feeB).toBeGreaterThan(0n)
        const before = parties.map(chain.lamportsOf)
        const [claim] = await chain.claim(pool, owner, [position!], payer)
        chain.land(claim!, payer, owner)
        const changes = parties.map((key, i) => chain.lamportsOf(key) - before[i]!)
        const rent = isClosed ? TOKEN_ACCOUNT_RENT : 0n
        expect(changes, round).toEqual([position!.feeB - rent, -2n * SIGNATURE_FEE, rent, 0n, -position!.feeB])
        expect(chain.tokensOf(owner.publicKey, pool.tokenBMint)).toBeNull()
      }
    },
  )

  real('pays both tokens where both take fees', async () => {
    const chain = await openShared()
    const keys = freshKeys(chain.wallet())
    const wishes = { collectFeeMode: cpAmm.CollectFeeMode.BothToken }
    const pool = await chain.read(await openStrangersPool(chain.test, keys, wishes))
    const trader = chain.wallet()
    const { tokens } = await trade(chain, pool, trader, BUY)
    await trade(chain, pool, trader, { side: 'sell', amount: tokens / 2n })
    const [position] = await fees(chain, pool, keys.creator)
    expect(position!.feeA > 0n && position!.feeB > 0n).toBe(true)
    const held = chain.tokensOf(keys.creator.publicKey, pool.tokenAMint)!
    const before = chain.lamportsOf(keys.creator.publicKey)
    chain.land((await chain.claim(pool, keys.creator, [position!]))[0]!, keys.creator)
    expect(chain.tokensOf(keys.creator.publicKey, pool.tokenAMint)).toBe(held + position!.feeA)
    // The wrapped SOL account that was open before is closed: its rent comes along.
    const gained = chain.lamportsOf(keys.creator.publicKey) - before
    expect(gained).toBe(position!.feeB + TOKEN_ACCOUNT_RENT - SIGNATURE_FEE)
  })

  real('takes six positions of a paying owner in one transaction, and eight in two', async ({ annotate }) => {
    const chain = await openWithPool()
    const { pool, keys } = chain
    for (let i = 0; i < 7; i++) {
      await splitOff(chain.test, pool.address, keys.creator, keys.positionNft.publicKey, Keypair.generate())
    }
    // A position in another pool, and other Token-2022 tokens, do not count here.
    await chain.launch(freshKeys(keys.creator))
    const trader = chain.wallet()
    const { tokens } = await trade(chain, pool, trader, { side: 'buy', amount: 7_654_321_987n })
    await trade(chain, pool, trader, { side: 'sell', amount: tokens / 7n })
    const positions = await fees(chain, pool, keys.creator)
    expect(positions).toHaveLength(8)
    expect(positions.reduce((sum, { unlockedLiquidity }) => sum + unlockedLiquidity, 0n)).toBe(pool.liquidity)
    expect(positions.every(({ feeB }) => feeB > 0n)).toBe(true)
    const claims = await chain.claim(pool, keys.creator, positions)
    expect(claims).toHaveLength(2)
    const owed = [positions.slice(0, 6), positions.slice(6)].map((part) =>
      part.reduce((sum, { feeB }) => sum + feeB, 0n),
    )
    const units: number[] = []
    // Each stands alone: the second may land first.
    for (const i of [1, 0]) {
      const before = chain.lamportsOf(keys.creator.publicKey)
      units.push(chain.land(claims[i]!, keys.creator).unitsConsumed)
      expect(chain.lamportsOf(keys.creator.publicKey) - before).toBe(owed[i]! - SIGNATURE_FEE)
    }
    await annotate(`2 and 6 positions: ${units.join(' and ')} units`, 'units')
    expect((await fees(chain, pool, keys.creator)).map(({ feeB }) => feeB)).toEqual(Array(8).fill(0n))
    expect(claims.flatMap(({ transaction }) => dammV2ChangesIn(decodeWireTransaction(transaction).message))).toEqual(
      positions.map(({ position, positionNftAccount: nftAccount }) => ({
        kind: 'claim',
        pool: pool.address,
        position,
        nftAccount,
        owner: addressOf(keys.creator),
      })),
    )
  })

  real('pays nobody else: a stranger has no positions and cannot sign for them', async () => {
    const chain = await openWithPool()
    const thief = chain.wallet()
    await trade(chain, chain.pool, thief, BUY)
    expect(await fees(chain, chain.pool, thief)).toEqual([])
    await expect(chain.claim(chain.pool, thief, [])).rejects.toMatchObject({ code: 'bad_request' })
    const positions = await fees(chain, chain.pool, chain.keys.creator)
    const [theft] = await chain.claim(chain.pool, thief, positions)
    expect(chain.run(theft!, thief).err).toMatchObject({ InstructionError: [2, { Custom: expect.any(Number) }] })
    expect(await fees(chain, chain.pool, chain.keys.creator)).toEqual(positions)
  })

  real('goes with the position NFT to whoever holds it', async () => {
    const chain = await openWithPool()
    const { pool, keys } = chain
    await trade(chain, pool, chain.wallet(), BUY)
    const [position] = await fees(chain, pool, keys.creator)
    const heir = chain.wallet()
    const [nft, program] = [keys.positionNft.publicKey, spl.TOKEN_2022_PROGRAM_ID]
    const account = spl.getAssociatedTokenAddressSync(nft, heir.publicKey, false, program)
    const from = new PublicKey(position!.positionNftAccount)
    const payer = keys.creator.publicKey
    const moved = chain.send(
      [
        spl.createAssociatedTokenAccountInstruction(payer, account, heir.publicKey, nft, program),
        spl.createTransferInstruction(from, account, payer, 1n, [], program),
      ],
      [keys.creator],
    )
    expect(moved.err, moved.logs?.join('\n')).toBeNull()
    expect(await fees(chain, pool, keys.creator)).toEqual([])
    const inherited = await fees(chain, pool, heir)
    expect(inherited).toEqual([{ ...position!, positionNftAccount: account.toBase58() }])
    const before = chain.lamportsOf(heir.publicKey)
    chain.land((await chain.claim(pool, heir, inherited))[0]!, heir)
    // The token's account is opened, although there is no fee in the token.
    expect(chain.lamportsOf(heir.publicKey) - before).toBe(position!.feeB - SIGNATURE_FEE - TOKEN_ACCOUNT_RENT)
  })
})

describe('the transactions of swaps and claims', () => {
  const pool = {
    address: someone().toBase58(),
    tokenAMint: someone().toBase58(),
    tokenBMint: 'So11111111111111111111111111111111111111112',
    tokenAVault: someone().toBase58(),
    tokenBVault: someone().toBase58(),
    tokenAProgram: spl.TOKEN_2022_PROGRAM_ID.toBase58(),
    tokenBProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    baseFeeMode: 2,
  }
  const before = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2n ** 64n - 1n }),
  ]
  const envelope = { payer: someone().toBase58(), recentBlockhash: GOLDEN_BLOCKHASH, before }
  const positionsAt = (count: number): Pick<DammV2Position, 'position' | 'positionNftAccount'>[] =>
    Array.from({ length: count }, () => ({
      position: someone().toBase58(),
      positionNftAccount: someone().toBase58(),
    }))

  it('fit with compute limit and price, the rate limiter of older pools and two token programs', async ({
    annotate,
  }) => {
    const swaps = await Promise.all(
      (['buy', 'sell'] as const).map((side) =>
        buildDammV2Swap({ ...envelope, pool, side, amount: 2n ** 64n - 1n, minimumOut: 2n ** 64n - 1n }),
      ),
    )
    const sizes = swaps.map(({ transaction }) => transaction.length)
    await annotate(`buy and sell: ${sizes.join(', ')} bytes`, 'size')
    expect(sizes).toEqual([759, 737])
  })

  it('claim as many positions as fit, and not one more', async ({ annotate }) => {
    const owner = someone().toBase58()
    for (const payer of [owner, someone().toBase58()]) {
      const most = positionsPerClaim({ owner, payer })
      const sizesOf = async (count: number) => {
        const input = { owner, payer, pool, positions: positionsAt(count), recentBlockhash: GOLDEN_BLOCKHASH, before }
        return (await buildPositionClaim(input)).map(({ transaction }) => transaction.length)
      }
      const [one, full, more] = [await sizesOf(1), await sizesOf(most), await sizesOf(2 * most + 1)]
      await annotate(`${payer === owner ? 'own' : 'other'} payer, 1 to ${most} positions: ${one} to ${full}`, 'size')
      expect(more).toEqual([...full, ...full, ...one])
      const each = (full[0]! - one[0]!) / (most - 1)
      expect(full[0]).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
      expect(full[0]! + each).toBeGreaterThan(MAX_TRANSACTION_BYTES)
    }
  })

  const names = ['buy', 'sell', 'claim', 'claim-for', 'remove', 'remove-part', 'lock']
  for (const name of names.flatMap((each) => [each, `v1-${each}`])) {
    it.skipIf(RECORDING && !HAS_DAMM_V2)(`are built as recorded: ${name}`, async ({ annotate }) => {
      const { creator, positionNft } = launchKeys()
      const [trader, payer] = [goldenKey(30), goldenKey(31)]
      const built = await goldenTransaction(name, { creator, positionNft, trader, payer })
      const bytes = await expectGolden(`damm-v2-${name}`, built.transaction, async () => {
        const chain = await openDammV2()
        for (const key of [creator, trader, payer]) chain.chain.airdrop(addressOf(key), 100n * SOL)
        const opened = await chain.launch(launchKeys(), { lockLiquidity: !/remove|lock/.test(name) })
        expect(opened).toMatchObject(GOLDEN_POOL)
        chain.land(await chain.swap(opened, trader, BUY), trader)
        return chain.test
      })
      await annotate(`${name}: ${bytes} bytes`, 'size')
    })
  }
})

type Actors = Record<'creator' | 'positionNft' | 'trader' | 'payer', Keypair>

async function goldenTransaction(recorded: string, { creator, positionNft, trader, payer }: Actors) {
  const name = recorded.replace('v1-', '')
  const messageConfig = name === recorded ? undefined : GOLDEN_CONFIG
  const terms = { recentBlockhash: GOLDEN_BLOCKHASH, messageConfig }
  if (name === 'buy' || name === 'sell') {
    const order = name === 'buy' ? BUY : { side: 'sell' as const, amount: 1_000_000_000n }
    return buildDammV2Swap({ payer: addressOf(trader), pool: GOLDEN_POOL, ...order, minimumOut: 1n, ...terms })
  }
  const position = await positionAddresses(addressOf(positionNft))
  const act = { payer: addressOf(creator), pool: GOLDEN_POOL, position, refreshes: false, ...terms }
  if (name === 'lock') return buildPermanentLock({ ...act, liquidity: PART })
  if (name.startsWith('remove')) {
    const [liquidity, minimum] = [name === 'remove' ? null : PART, { amountA: 1n, amountB: 0n }]
    return buildLiquidityRemoval({ ...act, liquidity, minimum })
  }
  const positions = [position]
  const other = name === 'claim' ? {} : { payer: addressOf(payer) }
  const claim = { owner: addressOf(creator), ...other, pool: GOLDEN_POOL, positions, ...terms }
  return (await buildPositionClaim(claim))[0]!
}

/** Of the liquidity of `launchKeys()`. */
const PART = 10n ** 30n

/** The pool of `launchKeys()`. */
const GOLDEN_POOL = goldenPool(launchKeys())
