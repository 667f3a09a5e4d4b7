/** Compute limit and priority fee of what the API builds, as the embedded chain then runs and charges it. */
import { ComputeBudgetProgram, Keypair, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildAuthorityTransfer } from '../src/chain/programs/tokens/index.ts'
import { cappedPrice, guardUnits, unitsFor, withComputeBudget } from '../src/chain/sending/compute-budget.ts'
import { localFetch } from '../src/localnet/fetch.ts'
import { ConfigError, parseSetting, type SettingName } from '../src/settings/config.ts'
import { MAX_COMPUTE_UNITS, MAX_TRANSACTION_BYTES } from '../src/solana/constants.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { percentileOf } from '../src/solana/recent-fees.ts'
import { testNode } from './support/node.ts'
import { hasProgram } from './support/programs.ts'
import { startService } from './support/service.ts'
import { createdToken } from './support/token-accounts.ts'
import { keypairOf, walletOn } from './support/wallets.ts'

const TEXTS = {
  name: 'My Token',
  symbol: 'MTK',
  initial_supply: '1000000000000',
  uri: 'https://example.com/token.json',
}
const LONGEST = { name: 'N'.repeat(20), symbol: 'S'.repeat(10), uri: `https://${'u'.repeat(192)}` }
const COMPUTE_BUDGET = ComputeBudgetProgram.programId.toBase58()

async function start(settings: Partial<Record<SettingName, unknown>> = {}) {
  const service = await startService({ settings })
  const { chain, wallet: payer, address } = await walletOn(service.services, 10_000_000_000n)
  const create = async (texts: object = {}) => {
    const body = { ...TEXTS, payer: address, token_program: 'token2022', revoke_freeze_authority: false, ...texts }
    const { status, json } = await service.request('POST', '/v2/tokens', { body })
    expect([status, json.error]).toEqual([200, undefined])
    const mintKey = keypairOf(json.data.required_signers.mint_secret_key)
    return { mint: json.data.mint as string, mintKey, built: read(json.data.transaction) }
  }
  const revoke = async (mint: string, type: string) => {
    const { json } = await service.request('DELETE', `/v2/tokens/${mint}/authorities/${type}`, {
      // The fallback is for what cannot be simulated, which has no guards.
      body: { payer: address, guard: 'off' },
    })
    return read(json.data.transaction)
  }
  const land = (built: VersionedTransaction, ...signers: Keypair[]) => {
    built.sign([payer, ...signers])
    const landed = chain.send(built.serialize())
    expect(landed.err).toBeNull()
    return landed
  }
  return { ...service, chain, payer, address, create, revoke, land }
}

const read = (transaction: string) => VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))

/** What a transaction asks for; undefined where it does not say. */
function budgetOf({ message }: VersionedTransaction) {
  const data = message.compiledInstructions
    .filter(({ programIdIndex }) => message.staticAccountKeys[programIdIndex]!.toBase58() === COMPUTE_BUDGET)
    .map((instruction) => Buffer.from(instruction.data))
  return {
    limit: data.find((bytes) => bytes[0] === 2)?.readUInt32LE(1),
    price: data.find((bytes) => bytes[0] === 3)?.readBigUInt64LE(1),
  }
}

describe('the compute limit', () => {
  it('is what the simulation used plus a margin, and the transaction runs within it', async () => {
    const { chain, create, land } = await start({ 'priority-fee': '7' })
    const { built, mintKey } = await create()
    const { limit } = budgetOf(built)
    const { unitsConsumed, err } = chain.simulate(built.serialize(), { replaceRecentBlockhash: true })
    expect([err, limit]).toEqual([null, unitsFor(unitsConsumed + guardUnits(built.serialize()))])
    expect(limit).toBeLessThan(70_000)
    expect(land(built, mintKey).unitsConsumed).toBe(unitsConsumed)
  })

  it('is the fallback if the payer cannot run the transaction yet, or if the node fails', async () => {
    const { services, chain, create, land, payer, address } = await start({ 'priority-fee': '7' })
    const poor = Keypair.generate().publicKey.toBase58()
    expect(budgetOf((await create({ payer: poor })).built)).toEqual({ limit: 50_000, price: 7n })

    const { built, mint, mintKey } = await create()
    land(built, mintKey)
    const send = localFetch(await services.chain.rpc())
    const failing = async (input: string | URL | Request, init?: RequestInit) =>
      /simulateTransaction|getRecentPrioritizationFees/.test(String(init?.body))
        ? new Response('broken', { status: 500 })
        : send(input, init)
    const failingNode = testNode('http://embedded.test', { fetch: failing as typeof fetch })
    const config = { values: { ...services.config.values, 'priority-fee': 'auto' } }
    const { blockhash } = chain.latestBlockhash()
    const revocation = {
      payer: address,
      mint,
      type: 'mint' as const,
      to: null,
      token: createdToken('token2022'),
      recentBlockhash: blockhash,
    } as const
    const { transaction } = await withComputeBudget(
      { chain: failingNode, config },
      (before) => buildAuthorityTransfer({ ...revocation, before }),
      12_345,
    )
    const fallen = VersionedTransaction.deserialize(transaction)
    expect(budgetOf(fallen)).toEqual({ limit: 12_345, price: undefined })
    fallen.sign([payer])
    expect(chain.send(fallen.serialize()).err).toBeNull()
  })

  it('adds a tenth and a thousand, rounded up, within the limit of the chain', () => {
    expect([unitsFor(0), unitsFor(150), unitsFor(151), unitsFor(1_271_817), unitsFor(1_271_819)]).toEqual([
      1_000, 1_165, 1_167, 1_399_999, 1_400_000,
    ])
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_COMPUTE_UNITS }), (used) => {
        const exact = (BigInt(used) * 11n + 9n) / 10n + 1_000n
        expect(BigInt(unitsFor(used))).toBe(exact < 1_400_000n ? exact : 1_400_000n)
      }),
    )
  })
})

describe('the priority fee', () => {
  it('is the price in the setting, and the chain charges it', async () => {
    const { create, land } = await start({ 'priority-fee': '123456' })
    const { built, mintKey } = await create()
    const { limit, price } = budgetOf(built)
    expect(price).toBe(123_456n)
    expect(land(built, mintKey).fee).toBe(10_000n + (BigInt(limit!) * 123_456n + 999_999n) / 1_000_000n)
  })

  it.each(['none', '0'])(
    'is not read from the node with the setting %s, nor used if nobody paid one lately',
    async (setting) => {
      const { create, land } = await start({ 'priority-fee': setting })
      const { built, mintKey } = await create()
      expect(budgetOf(built)).toEqual({ limit: expect.any(Number), price: undefined })
      expect(land(built, mintKey).fee).toBe(10_000n)
      const { create: quiet } = await start()
      expect(budgetOf((await quiet()).built).price).toBeUndefined()
    },
  )

  it('is lowered to the cap', async () => {
    const { create, land } = await start({ 'priority-fee': '9999999999999999999', 'priority-fee-cap': 321 })
    const { built, mintKey } = await create()
    expect(land(built, mintKey).fee).toBe(10_321n)
    const { create: free } = await start({ 'priority-fee': '1000', 'priority-fee-cap': 0 })
    expect(budgetOf((await free()).built).price).toBeUndefined()
  })

  it('follows by default what was lately paid for the same accounts', async () => {
    const { chain, create, revoke, land, payer } = await start()
    const { built, mint, mintKey } = await create()
    land(built, mintKey)
    const paying = async (type: string, microLamports: number) => {
      const revocation = await revoke(mint, type)
      const { compiledInstructions, staticAccountKeys } = revocation.message
      const programIdIndex = staticAccountKeys.findIndex((key) => key.equals(ComputeBudgetProgram.programId))
      const isPrice = (found: { programIdIndex: number; data: Uint8Array }) =>
        found.programIdIndex === programIdIndex && found.data[0] === 3
      const { data } = ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
      const others = compiledInstructions.filter((found) => !isPrice(found))
      compiledInstructions.splice(
        0,
        Number.POSITIVE_INFINITY,
        { programIdIndex, accountKeyIndexes: [], data },
        ...others,
      )
      revocation.signatures = [new Uint8Array(64)]
      chain.advance(1)
      land(revocation)
    }
    await paying('freeze', 40_000)
    await paying('mint', 80_000)
    const fees = chain
      .prioritizationFees([payer.publicKey.toBase58(), mint])
      .map((row) => BigInt(row.prioritizationFee))
    expect(fees.filter((fee) => fee > 0n).sort()).toEqual([40_000n, 80_000n])
    expect(budgetOf(await revoke(mint, 'metadata')).price).toBe(percentileOf(fees))
    expect(percentileOf(fees)).toBe(80_000n)
  })

  it('is the 75th percentile by nearest rank', () => {
    expect(percentileOf([])).toBe(0n)
    expect(percentileOf([5n])).toBe(5n)
    expect(percentileOf([4n, 1n, 3n, 2n])).toBe(3n)
    expect(percentileOf([0n, 0n, 0n, 9n, 10n])).toBe(9n)
    expect(percentileOf(Array.from({ length: 150 }, (_, i) => BigInt(150 - i)))).toBe(113n)
  })

  it('stays within the cap and the lowest price', () => {
    const price = fc.bigInt(0n, 2n ** 64n - 1n)
    const units = fc.integer({ min: 1, max: MAX_COMPUTE_UNITS })
    const cap = fc.bigInt(0n, BigInt(Number.MAX_SAFE_INTEGER))
    const cost = (each: bigint, count: number) => (each * BigInt(count) + 999_999n) / 1_000_000n
    fc.assert(
      fc.property(price, units, cap, (asked, count, most) => {
        const offered = cappedPrice(asked, count, most)
        expect(offered <= asked && cost(offered, count) <= most).toBe(true)
        expect(offered === asked || cost(offered + 1n, count) > most).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

it.each(['cheap', '-1', '1.5', '1e3', 'Auto', '12345678901234567890', ''])(
  'the setting priority-fee refuses %j and lists what it accepts',
  (value) => {
    expect(() => parseSetting('priority-fee', value, 'SVC_PRIORITY_FEE')).toThrow(
      new ConfigError(
        `priority-fee (SVC_PRIORITY_FEE) must be auto, none or micro-lamports per compute unit in digits, not ${JSON.stringify(value)}`,
      ),
    )
  },
)

describe.each([
  ['token2022', true],
  ['spl', hasProgram(PROGRAMS.tokenMetadata.id)],
] as const)('the longest legal texts of a %s token', (token_program, runs) => {
  it.skipIf(!runs)('fit into a transaction with limit and price, and it runs', async () => {
    const { create, revoke, land } = await start({ 'priority-fee': '1000' })
    const wishes = { token_program, ...LONGEST, initial_supply: '18446744073709551615', revoke_mint_authority: true }
    const { built, mint, mintKey } = await create(wishes)
    expect(budgetOf(built)).toEqual({ limit: expect.any(Number), price: 1_000n })
    const bytes = built.serialize().length
    expect(bytes).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
    land(built, mintKey)
    const used: number[] = []
    for (const _ of [1, 2, 3]) {
      const another = await create({ ...wishes, guard: 'off' })
      used.push(land(another.built, another.mintKey).unitsConsumed)
    }
    // The fallback leaves room over what the costliest creation needs; now and then an address alone takes some of it.
    expect(Math.min(...used) * 1.4).toBeLessThan(token_program === 'spl' ? 85_000 : 50_000)
    const gone = land(await revoke(mint, 'metadata'))
    expect(gone.unitsConsumed * 1.4).toBeLessThan(25_000)
  })
})
