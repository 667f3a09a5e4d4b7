/** Fee claims of launch curves by the real programs: exact to the lamport, split or not, whoever pays. */

import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, type Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildCurve,
  buildQuoteWithdrawal,
  buildTradingFeeClaim,
  type DbcPool,
  maxRecipients,
  TRADING_FEE_CLAIM_UNITS,
  WITHDRAWAL_UNITS,
} from '../../src/chain/programs/dbc/index.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import {
  addressOf,
  addSurplus,
  CREATOR,
  type DbcChain,
  goldenPool,
  KEEPER,
  lacksDbc,
  openDbcChain,
  PARTNER,
  presetWith,
} from '../support/dbc.ts'
import { expectGolden, GOLDEN_BLOCKHASH, GOLDEN_CONFIG, goldenKey, RECORDING } from '../support/golden.ts'
import { SOL } from '../support/local-chain.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { runs } from '../support/runs.ts'

const FEE = 5_000n
const budget = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 95_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
]
const recipients = (count: number) => Array.from({ length: count }, (_, i) => addressOf(goldenKey(100 + i)))
const sharedEvenly = (lamports: bigint, count: number) =>
  recipients(count).map((recipient, i) => ({
    recipient,
    amount: lamports / BigInt(count) + (BigInt(i) < lamports % BigInt(count) ? 1n : 0n),
  }))

const claimOf = (pool: DbcPool, payer: Keypair, amount: bigint, count: number) => ({
  pool,
  beneficiary: 'partner' as const,
  claimer: addressOf(PARTNER),
  payer: addressOf(payer),
  amount,
  splits: sharedEvenly(amount, count),
  recentBlockhash: GOLDEN_BLOCKHASH,
})

/** A curve with the partner's fees of a buy of 50 SOL. */
async function withFees(opened: DbcChain): Promise<DbcPool> {
  const pool = await opened.trade(await opened.launch(), 'buy', 50n * SOL)
  expect(pool.partnerQuoteFee).toBe((50n * SOL * 8n) / 1_000n)
  return pool
}

describe.skipIf(lacksDbc)('a claim on chain (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  it('pays 2 to 10 recipients to the lamport, and costs the claimer only its fee', {
    tags: 'sampled',
  }, async ({ annotate }) => {
    const opened = await openDbcChain()
    const { lamports, land } = opened
    let pool = await withFees(opened)
    let most = 0
    for (const payer of [PARTNER, KEEPER]) {
      const limit = maxRecipients(payer === PARTNER)
      for (let count = 2; count <= limit; count += runs(limit - 2, 1)) {
        const claimed = 10_000_003n + BigInt(count)
        const claim = claimOf(pool, payer, claimed, count)
        const isFirst = count === 2 && payer === PARTNER
        const owned = pool.partnerQuoteFee
        const before = new Map(
          [...claim.splits.map(({ recipient }) => recipient), addressOf(PARTNER), addressOf(KEEPER)].map((each) => [
            each,
            lamports(each),
          ]),
        )
        expect(land(await buildTradingFeeClaim(claim)), opened.logs.join('\n')).toBeNull()
        most = Math.max(most, opened.units)
        for (const share of claim.splits) {
          expect(lamports(share.recipient) - before.get(share.recipient)!).toBe(share.amount)
        }
        const change = (key: Keypair) => lamports(addressOf(key)) - before.get(addressOf(key))!
        const fees = payer === PARTNER ? FEE : 2n * FEE
        // The claimer's account of the token is opened once.
        expect(change(payer)).toBe(-fees - (isFirst ? TOKEN_ACCOUNT_RENT : 0n))
        if (payer === KEEPER) expect(change(PARTNER)).toBe(0n)
        pool = await opened.read(pool.address)
        expect(owned - pool.partnerQuoteFee).toBe(claimed)
      }
    }
    await annotate(`claim with 10 recipients: ${most}`, 'units')
    expect(most).toBeLessThan(TRADING_FEE_CLAIM_UNITS)
  })

  it('goes to the fee claimer if another wallet pays, which also pays for the token account', async () => {
    const opened = await openDbcChain()
    const { lamports, land } = opened
    const pool = await withFees(opened)
    const [claimer, payer] = [lamports(addressOf(PARTNER)), lamports(addressOf(KEEPER))]
    expect(land(await buildTradingFeeClaim(claimOf(pool, KEEPER, pool.partnerQuoteFee, 0)))).toBe(null)
    expect(lamports(addressOf(PARTNER)) - claimer).toBe(pool.partnerQuoteFee)
    expect(payer - lamports(addressOf(KEEPER))).toBe(2n * FEE + TOKEN_ACCOUNT_RENT)
  })

  it('closes the token account again if it was opened in vain, whoever pays', async () => {
    const opened = await openDbcChain()
    const { lamports, land } = opened
    let pool = await withFees(opened)
    for (const payer of [PARTNER, KEEPER]) {
      for (const count of [0, 7]) {
        const claimed = 10_000_003n + BigInt(count)
        const before = [PARTNER, KEEPER].map((key) => lamports(addressOf(key)))
        const claim = { ...claimOf(pool, payer, claimed, count), isTokenMissing: true }
        expect(land(await buildTradingFeeClaim(claim)), opened.logs.join('\n')).toBeNull()
        expect(opened.units).toBeLessThan(TRADING_FEE_CLAIM_UNITS)
        const [partner, keeper] = [PARTNER, KEEPER].map((key, i) => lamports(addressOf(key)) - before[i]!)
        const kept = count === 0 ? claimed : 0n
        expect([partner, keeper]).toEqual(payer === PARTNER ? [kept - FEE, 0n] : [kept, -2n * FEE])
        pool = await opened.read(pool.address)
      }
    }
  })

  it('takes the fees of sells too, without the creator’s share', async () => {
    const opened = await openDbcChain()
    const curve = await buildCurve(presetWith({ creator_fee_percentage: 25 }))
    let pool = await opened.trade(await opened.launch({ curve }), 'buy', 10n * SOL)
    pool = await opened.trade(pool, 'sell', 10n ** 13n)
    expect(pool.creatorQuoteFee).toBeGreaterThan(0n)
    const before = opened.lamports(addressOf(PARTNER))
    expect(opened.land(await buildTradingFeeClaim(claimOf(pool, PARTNER, pool.partnerQuoteFee, 0)))).toBeNull()
    expect(opened.lamports(addressOf(PARTNER)) - before).toBe(pool.partnerQuoteFee - FEE - TOKEN_ACCOUNT_RENT)
    const after = await opened.read(pool.address)
    expect(after.partnerQuoteFee).toBe(0n)
    expect(after.creatorQuoteFee).toBe(pool.creatorQuoteFee)
  })

  it('never pays a split from earlier funds of the claimer: the second of two equal claims fails completely', async () => {
    const opened = await openDbcChain()
    const pool = await withFees(opened)
    const claim = await buildTradingFeeClaim(claimOf(pool, PARTNER, pool.partnerQuoteFee, 10))
    expect(opened.land(claim)).toBeNull()
    const before = [addressOf(PARTNER), ...recipients(10)].map(opened.lamports)
    expect(opened.land(claim)).toEqual({ InstructionError: [5, { Custom: 1 }] })
    expect([addressOf(PARTNER), ...recipients(10)].map(opened.lamports)).toEqual(before)
    const one = claimOf(await opened.read(pool.address), PARTNER, 1n, 2)
    expect(opened.land(await buildTradingFeeClaim(one))).not.toBeNull()
  })

  it.each([0, 2])('of %d recipients takes only the fees, not wrapped SOL that was there before', async (count) => {
    const opened = await openDbcChain()
    const pool = await withFees(opened)
    const claim = await buildTradingFeeClaim(claimOf(pool, PARTNER, pool.partnerQuoteFee, count))
    expect(opened.land(claim)).toBeNull()
    const wrapped = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, PARTNER.publicKey)
    const put = [
      spl.createAssociatedTokenAccountInstruction(PARTNER.publicKey, wrapped, PARTNER.publicKey, spl.NATIVE_MINT),
      SystemProgram.transfer({
        fromPubkey: PARTNER.publicKey,
        toPubkey: wrapped,
        lamports: pool.partnerQuoteFee * 2n,
      }),
      spl.createSyncNativeInstruction(wrapped),
    ]
    expect(opened.test.send(put, [PARTNER]).err).toBeNull()
    const before = recipients(count).map(opened.lamports)
    expect(opened.land(claim)).toEqual({ InstructionError: [5, { Custom: 1 }] })
    expect(recipients(count).map(opened.lamports)).toEqual(before)
  })

  it('needs the fee claimer of the config', async () => {
    const opened = await openDbcChain()
    const pool = await withFees(opened)
    const stranger = { ...claimOf(pool, CREATOR, 1_000n, 0), claimer: addressOf(CREATOR) }
    expect(opened.land(await buildTradingFeeClaim(stranger))).toMatchObject({
      InstructionError: [4, { Custom: expect.any(Number) }],
    })
  })

  it('withdraws the surplus of a full curve once, exactly as read', async ({ annotate }) => {
    const opened = await openDbcChain()
    const { chain } = opened
    const curve = await buildCurve(presetWith({ creator_fee_percentage: 30 }))
    let pool = await opened.launch({ curve })
    const claimOfSurplus = async () =>
      buildQuoteWithdrawal({
        kind: 'surplus',
        beneficiary: 'partner',
        pool,
        claimer: addressOf(PARTNER),
        payer: addressOf(KEEPER),
        recentBlockhash: GOLDEN_BLOCKHASH,
      })
    expect(pool.surplus).toEqual({ claimable: 0n, withdrawn: false })
    expect(opened.land(await claimOfSurplus())).not.toBeNull()
    pool = await opened.fill(pool)
    addSurplus(opened, pool, 1_000_003n)
    pool = await opened.read(pool.address)
    // Four fifths are for partner and creator; of these the creator has three tenths.
    expect(pool.surplus).toEqual({ claimable: 800_002n - 240_000n, withdrawn: false })
    const before = opened.lamports(addressOf(PARTNER))
    expect(opened.land(await claimOfSurplus()), opened.logs.join('\n')).toBeNull()
    await annotate(`surplus: ${opened.units}`, 'units')
    expect(opened.units).toBeLessThan(WITHDRAWAL_UNITS.surplus)
    expect(opened.lamports(addressOf(PARTNER)) - before).toBe(pool.surplus.claimable)
    pool = await opened.read(pool.address)
    expect(pool.surplus).toEqual({ claimable: 0n, withdrawn: true })
    expect(opened.land(await claimOfSurplus())).toMatchObject({ InstructionError: [1, { Custom: 6025 }] })
    expect(chain.account(pool.address)).not.toBeNull()
  })
})

describe('a built claim', () => {
  it('fits with the stated number of recipients, and not with one more', async ({ annotate }) => {
    const pool = await goldenPool()
    for (const payer of [PARTNER, KEEPER]) {
      const most = maxRecipients(payer === PARTNER)
      const { transaction, requiredSigners } = await buildTradingFeeClaim({
        ...claimOf(pool, payer, 10n ** 9n, most),
        isTokenMissing: true,
        before: budget,
      })
      expect(requiredSigners).toEqual(payer === PARTNER ? [addressOf(PARTNER)] : [KEEPER, PARTNER].map(addressOf))
      await annotate(
        `${most} recipients, ${requiredSigners.length} signers, limit and price: ${transaction.length} bytes`,
        'size',
      )
      const seven = { ...claimOf(pool, payer, 10n ** 9n, 7), isTokenMissing: true, before: budget }
      expect((await buildTradingFeeClaim(seven)).transaction.length).toBeLessThan(MAX_TRANSACTION_BYTES)
      // A recipient takes an address and a transfer.
      expect(transaction.length + 32 + 17).toBeGreaterThan(MAX_TRANSACTION_BYTES)
      const tooMany = buildTradingFeeClaim({ ...claimOf(pool, payer, 10n ** 9n, most + 1), before: budget })
      await expect(tooMany).rejects.toMatchObject({
        code: 'bad_request',
        param: 'splits',
        message: expect.stringContaining(`${most} recipients`),
      })
    }
    expect([maxRecipients(true), maxRecipients(false)]).toEqual([10, 8])
  })

  it('of version 1 fits with 38 recipients, whoever pays, and not with one more', async ({ annotate }) => {
    const pool = await goldenPool()
    for (const payer of [PARTNER, KEEPER]) {
      const claimFor = (count: number) =>
        buildTradingFeeClaim({ ...claimOf(pool, payer, 10n ** 9n, count), messageConfig: GOLDEN_CONFIG })
      const { message, raw } = decodeWireTransaction((await claimFor(38)).transaction)
      await annotate(`38 recipients: ${raw.length} bytes, ${message.keys.length} accounts`, 'size')
      expect([message.keys.length, raw.length]).toEqual(payer === PARTNER ? [53, 2_609] : [54, 2_705])
      await expect(claimFor(39)).rejects.toMatchObject({ code: 'bad_request', param: 'splits' })
    }
    const nine = buildTradingFeeClaim(claimOf(pool, KEEPER, 10n ** 9n, 9))
    await expect(nine).rejects.toThrow('tx_version 1, which has room for 38')
  })

  it('of zero, or with splits above it, is refused', async () => {
    const pool = await goldenPool()
    const claim = claimOf(pool, PARTNER, 1_000n, 2)
    await expect(buildTradingFeeClaim({ ...claim, amount: 0n, splits: [] })).rejects.toMatchObject({
      code: 'bad_request',
    })
    await expect(buildTradingFeeClaim({ ...claim, amount: 999n })).rejects.toMatchObject({
      code: 'bad_request',
      param: 'splits',
    })
  })

  for (const [name, payer, count] of [
    ['plain', PARTNER, 0],
    ['split', PARTNER, 10],
    ['paid-by-another', KEEPER, 8],
    ['v1-plain', PARTNER, 0],
    ['v1-paid-by-another', KEEPER, 10],
    ['v1-most', KEEPER, 38],
  ] as const) {
    it.skipIf(RECORDING && lacksDbc)(`is built as recorded: ${name}`, async ({ annotate }) => {
      // Enough for each of 38 to be rent-exempt.
      const lamports = name === 'v1-most' ? 100_000_005n : 10_000_005n
      const terms = name.startsWith('v1') ? { messageConfig: GOLDEN_CONFIG } : { before: budget }
      const claim = { ...claimOf(await goldenPool(), payer, lamports, count), ...terms }
      const { transaction } = await buildTradingFeeClaim(claim)
      const bytes = await expectGolden(`dbc-claim-${name}`, transaction, async () => {
        const opened = await openDbcChain()
        await withFees(opened)
        return opened.test
      })
      await annotate(`${name}: ${bytes} bytes`, 'size')
    })
  }

  it.skipIf(RECORDING && lacksDbc)('of a surplus is built as recorded', async ({ annotate }) => {
    const payer = addressOf(PARTNER)
    const claim = {
      pool: await goldenPool(),
      kind: 'surplus' as const,
      beneficiary: 'partner' as const,
      claimer: payer,
      payer,
      recentBlockhash: GOLDEN_BLOCKHASH,
      before: budget,
    }
    const { transaction } = await buildQuoteWithdrawal(claim)
    const bytes = await expectGolden('dbc-claim-surplus', transaction, async () => {
      const opened = await openDbcChain()
      await opened.fill(await opened.launch())
      return opened.test
    })
    await annotate(`surplus: ${bytes} bytes`, 'size')
  })
})
