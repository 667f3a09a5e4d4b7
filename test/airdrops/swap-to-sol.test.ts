/** A claim that is sold at once: through the launch curve of its token, or the pool that the curve became. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { type Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { MAX_TRANSACTION_BYTES } from '../../src/solana/constants.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addressOf, airdropsOn, claimBody, createBody, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { IMAGE, keysIn, TINY_CURVE } from '../support/launches.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { RICH } from '../support/pool-platform.ts'
import { hasProgram } from '../support/programs.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { SOL } from '../support/wallets.ts'

const NEEDED = [PROGRAMS.distributor, PROGRAMS.dbc, PROGRAMS.dammV2, PROGRAMS.tokenMetadata]
const lacking = NEEDED.filter(({ id }) => !hasProgram(id)).map(({ name }) => name)
const AMOUNT = 1_000_000_000n

/** A token on a curve, and an airdrop of what its creator bought. */
async function opened(count = 4) {
  const folder = temporaryFolder()
  const presets = join(folder, 'presets.json')
  writeFileSync(presets, JSON.stringify({ tiny: TINY_CURVE }))
  const service = await startPlatform(RICH, {
    settings: { 'pools.presets': presets, 'pools.preset': 'tiny', 'pools.crank': true },
  })
  const all = await airdropsOn(service)
  const { ok, submit, chain, clock, services } = all
  const creator = all.wallet(100n * SOL)
  const wallets = Array.from({ length: count }, () => all.wallet())
  const launch = {
    creator: addressOf(creator),
    name: 'A token',
    symbol: 'SWAP',
    image: IMAGE,
    buy_amount: 0.2,
  }
  const { pool, transactions, required_signers } = await ok('POST', '/v2/pools', launch)
  const keys = keysIn(required_signers)
  for (const transaction of transactions) {
    const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    const needed = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures).map(String)
    await submit({ transaction }, ...[creator, ...keys].filter((key) => needed.includes(addressOf(key))))
    chain.advance(2)
  }
  const mint = pool.base_mint as string
  const tree = await all.storeTree(
    mint,
    entriesFor(wallets, () => AMOUNT),
  )
  await submit(await ok('POST', '/v2/airdrops', createBody(creator, mint, tree.root)), creator)
  const id = tree.id as string
  const migrate = async () => {
    const order = { payer: addressOf(creator), side: 'buy', amount: String(20n * SOL) }
    const { tx } = await ok('POST', `/v2/pools/${pool.address}/swaps`, order)
    await submit(tx, creator)
    for (let n = 0; n < 20; n++) {
      chain.advance(10)
      clock.advance(10_000)
      await followTransactions(services)
      await followPools(services)
    }
    expect((await ok('GET', `/v2/pools/${pool.address}`)).status).toBe('migrated')
  }
  const claimAndSwap = async (key: Keypair) => {
    const built = await ok('POST', `/v2/airdrops/${id}/claims`, claimBody(key, { swap_to_sol: true }))
    await submit(built, key)
    expect(all.tokensOf(mint, key)).toBe(AMOUNT)
    chain.advance(2)
    const before = chain.account(addressOf(key))!.lamports
    const { fee } = all.land(built.swap_transaction, key)
    expect(all.tokensOf(mint, key)).toBe(0n)
    const raw = Buffer.from(built.swap_transaction, 'base64')
    expect(raw.length).toBeLessThanOrEqual(MAX_TRANSACTION_BYTES)
    const programs = decodeWireTransaction(raw).message.keys
    return { received: chain.account(addressOf(key))!.lamports - before + fee, programs }
  }
  const quoted = async (address: string) => {
    const order = { payer: addressOf(creator), side: 'sell', amount: String(AMOUNT) }
    return BigInt((await ok('POST', `/v2/pools/${address}/swaps`, order)).estimated_out)
  }
  const forget = () => services.store.write((tx) => tx.deleteFrom('pools').execute())
  return { ...all, creator, wallets, mint, id, pool: pool.address as string, migrate, claimAndSwap, quoted, forget }
}

describe.skipIf(lacking.length > 0)(`a claim with a swap (needs ${NEEDED.map(({ name }) => name).join(', ')})`, () => {
  it('sells the claimed tokens on the launch curve, whether it is stored or found by a search', async () => {
    const { wallets, claimAndSwap, quoted, pool, forget } = await opened()
    for (const key of wallets.slice(0, 2)) {
      const expected = await quoted(pool)
      const { received, programs } = await claimAndSwap(key)
      expect([received, programs.includes(PROGRAMS.dbc.id)]).toEqual([expected, true])
    }
    await forget()
    const expected = await quoted(pool)
    expect((await claimAndSwap(wallets[2]!)).received).toBe(expected)
  })

  it('sells them in the pool that replaced the curve, stored or derived', async () => {
    const { wallets, claimAndSwap, quoted, pool, forget, migrate, ok } = await opened()
    await migrate()
    const [damm] = (await ok('GET', '/v2/pools?type=damm_v2')) as { address: string }[]
    expect(damm!.address).not.toBe(pool)
    const expected = await quoted(damm!.address)
    const { received, programs } = await claimAndSwap(wallets[0]!)
    expect([received, programs.includes(PROGRAMS.dammV2.id)]).toEqual([expected, true])
    await forget()
    const next = await quoted(damm!.address)
    expect((await claimAndSwap(wallets[1]!)).received).toBe(next)
  })

  it('on a full curve before its migration is refused; the claim without a swap is not', async () => {
    const { wallets, ok, refused, submit, id, creator, pool } = await opened()
    const order = { payer: addressOf(creator), side: 'buy', amount: String(20n * SOL) }
    await submit((await ok('POST', `/v2/pools/${pool}/swaps`, order)).tx, creator)
    const path = `/v2/airdrops/${id}/claims`
    const full = await refused('POST', path, claimBody(wallets[0]!, { swap_to_sol: true }))
    expect([full.status, full.param]).toEqual([400, 'swap_to_sol'])
    expect(full.message).toMatch(/is full.*Claim without swap_to_sol/)
    expect((await ok('POST', path, claimBody(wallets[0]!))).swap_transaction).toBeNull()
  })

  it('fails completely if the price has fallen by more than three percent, and the tokens stay', async () => {
    const { wallets, ok, submit, id, creator, pool, sign, chain, tokensOf, mint } = await opened()
    const [key] = wallets
    const built = await ok('POST', `/v2/airdrops/${id}/claims`, claimBody(key!, { swap_to_sol: true }))
    await submit(built, key!)
    const order = { payer: addressOf(creator), side: 'sell', amount: String(tokensOf(mint, creator)) }
    await submit((await ok('POST', `/v2/pools/${pool}/swaps`, order)).tx, creator)
    const failed = chain.simulate(Buffer.from(sign(built.swap_transaction, [key!]), 'base64'))
    expect(failed.err).not.toBeNull()
    expect(failed.logs.join('\n')).toMatch(/slippage/i)
    expect(tokensOf(mint, key!)).toBe(AMOUNT)
  })
})

describe.skipIf(lacksDistributor)('a claim with a swap of a token without a pool (needs the distributor)', () => {
  it('is refused, for wrapped SOL too; without the swap it is built', async () => {
    const all = await airdropsOn(await startService())
    const [payer, claimer] = [all.wallet(), all.wallet()]
    const mint = all.mintFor(payer, 1_000n)
    const tree = await all.storeTree(mint, entriesFor([claimer]))
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer)
    const path = `/v2/airdrops/${tree.id}/claims`
    const none = await all.refused('POST', path, claimBody(claimer, { swap_to_sol: true }))
    expect([none.status, none.param]).toEqual([400, 'swap_to_sol'])
    expect(none.message).toMatch(/has neither a launch curve nor a migrated pool on embedded/)
    expect((await all.ok('POST', path, claimBody(claimer, { swap_to_sol: false }))).swap_transaction).toBeNull()
    const sol = spl.NATIVE_MINT.toBase58()
    const wrapped = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, payer.publicKey)
    all.run(
      [
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, wrapped, payer.publicKey, spl.NATIVE_MINT),
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: wrapped, lamports: 1_000 }),
        spl.createSyncNativeInstruction(wrapped),
      ],
      [payer],
    )
    const own = await all.storeTree(sol, entriesFor([claimer]))
    await all.submit(await all.ok('POST', '/v2/airdrops', createBody(payer, sol, own.root)), payer)
    const refused = await all.refused(
      'POST',
      `/v2/airdrops/${own.id}/claims`,
      claimBody(claimer, { swap_to_sol: true }),
    )
    expect([refused.param, refused.message]).toEqual(['swap_to_sol', expect.stringMatching(/pays wrapped SOL/)])
    await all.submit(await all.ok('POST', `/v2/airdrops/${own.id}/claims`, claimBody(claimer)), claimer)
    expect(all.tokensOf(sol, claimer)).toBe(1_000n)
  })
})
