/** Withdrawing a vault: signed by the platform wallet under its policy, and only ever to the receiver that the chain has stored. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { addressOf, airdropsOn, createBody, DAY_S, entriesFor, lacksDistributor } from '../support/airdrops.ts'
import { FEE, type PlatformService as Platform, sharedPlatform, startPlatform } from '../support/platform-wallet.ts'
import { startService } from '../support/service.ts'

const withdrawals = (id: string) => `/v2/airdrops/${id}/vault-withdrawals`
const ABSENT = Buffer.concat([Buffer.alloc(32, 5), Buffer.alloc(2)]).toString('base64url')

/** No token, and lamports for one fee a transaction. */
const ONLY_FEES = { lamports_per_transaction: '5000', lamports_per_day: '50000' }

const shared = sharedPlatform(ONLY_FEES)

/** A policy that lets nothing but fees leave, and an airdrop that another wallet made, a month and a day old. */
async function opened({ passed = 31 * DAY_S, fund_amount = '900', service = undefined as Platform | undefined } = {}) {
  service ??= await shared()
  const all = await airdropsOn(service)
  const payer = all.wallet()
  const mint = all.mintFor(payer, 10_000n)
  const tree = await all.storeTree(
    mint,
    entriesFor([all.wallet()], () => 1_000n),
  )
  const body = createBody(payer, mint, tree.root, { fund_amount })
  await all.submit(await all.ok('POST', '/v2/airdrops', body), payer)
  if (passed > 0) all.pass(passed)
  const key = new PublicKey(mint)
  const receiver = spl.getAssociatedTokenAddressSync(key, payer.publicKey)
  /** The receiver's tokens go elsewhere, and it is closed. */
  const closeReceiver = () => {
    const elsewhere = Keypair.generate().publicKey
    const account = spl.getAssociatedTokenAddressSync(key, elsewhere)
    all.run(
      [
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, account, elsewhere, key),
        spl.createTransferInstruction(receiver, account, payer.publicKey, all.tokensOf(mint, payer)!),
        spl.createCloseAccountInstruction(receiver, payer.publicKey, payer.publicKey),
      ],
      [payer],
    )
  }
  return {
    ...all,
    signer: service.wallet,
    payer,
    mint,
    id: tree.id as string,
    path: withdrawals(tree.id),
    closeReceiver,
  }
}

describe('a withdrawal', () => {
  it('needs its scope and a signer', async () => {
    const { request, key } = await startService()
    for (const scopes of [[], ['airdrop:write']]) {
      const { status } = await request('POST', withdrawals(ABSENT), {
        body: { amount: '1' },
        key: await key({ scopes }),
      })
      expect(status).toBe(403)
    }
    const unsigned = await request('POST', withdrawals(ABSENT), { body: { amount: '1' } })
    expect([unsigned.status, unsigned.json.error.message]).toEqual([500, expect.stringMatching(/No signer/)])
  })

  it('of an airdrop that is not on chain is not found', async () => {
    const all = await airdropsOn(await startPlatform(null))
    const none = await all.refused('POST', withdrawals(ABSENT), { amount: '1' })
    expect(none).toMatchObject({ status: 404, param: 'id', details: { reason: 'not_initialized' } })
  })
})

describe.skipIf(lacksDistributor)('a withdrawal on chain (needs the Jito merkle distributor)', () => {
  it('of another wallet’s airdrop passes a policy that lets only fees leave', async () => {
    const { ok, path, chain, signer, tokensOf, mint, payer, settle, eventsOf, id, refused } = await opened()
    const before = chain.account(addressOf(signer))!.lamports
    // Whose the receiver is matters only to who names an admin.
    const named = await refused('POST', path, { amount: '900', admin: addressOf(signer) })
    expect([named.status, named.param, named.details.owner]).toEqual([400, 'admin', addressOf(payer)])
    const done = await ok('POST', path, { amount: '900', mode: 'unsigned' })
    expect(done).toEqual({ mode: 'signed', signature: expect.any(String), mint, amount: '900' })
    expect(before - chain.account(addressOf(signer))!.lamports).toBe(FEE)
    expect(tokensOf(mint, payer)).toBe(10_000n)
    await settle()
    expect(await eventsOf(id)).toEqual(['airdrop.tree_built', 'airdrop.initialized', 'airdrop.vault_drained'])
  })

  it('of the platform’s own airdrop returns the tokens', async () => {
    const service = await startPlatform()
    const all = await airdropsOn(service)
    const mint = all.mintFor(service.wallet, 1_000n)
    const tokens = [{ mint, per_transaction: '1000', per_day: '1000' }]
    expect((await all.request('PATCH', '/v2/signer/policy', { body: { tokens } })).status).toBe(200)
    const tree = await all.storeTree(
      mint,
      entriesFor([all.wallet()], () => 1_000n),
    )
    await all.ok(
      'POST',
      '/v2/airdrops',
      createBody('11111111111111111111111111111112', mint, tree.root, { mode: 'signed' }),
    )
    all.pass(31 * DAY_S)
    await all.ok('POST', withdrawals(tree.id), { amount: '1000', admin: addressOf(service.wallet) })
    expect(all.tokensOf(mint, service.wallet)).toBe(1_000n)
  })

  it('is refused by a list of destinations that lacks the receiver', async () => {
    const { request, refused, path, payer, ok } = await opened({ service: await startPlatform(ONLY_FEES) })
    const limits = (destinations: string[]) => request('PATCH', '/v2/signer/policy', { body: { destinations } })
    await limits([addressOf(Keypair.generate())])
    const { status, details } = await refused('POST', path, { amount: '900' })
    expect([status, details.rule, details.owner]).toEqual([400, 'destination', addressOf(payer)])
    await limits([addressOf(payer)])
    await ok('POST', path, { amount: '900' })
  })

  it('to a closed account opens it again for its owner, if the owner is known and lamports may leave', async () => {
    const { refused, ok, path, payer, closeReceiver, tokensOf, mint, request } = await opened({
      service: await startPlatform(ONLY_FEES),
    })
    closeReceiver()
    const unknown = await refused('POST', path, { amount: '900' })
    expect(unknown).toMatchObject({ status: 400, param: 'admin' })
    expect(unknown.message).toMatch(/which is closed.*send its owner as admin/)
    const other = await refused('POST', path, { amount: '900', admin: addressOf(Keypair.generate()) })
    expect([other.status, other.param]).toEqual([400, 'admin'])
    const known = { amount: '900', admin: addressOf(payer) }
    const capped = await refused('POST', path, known)
    expect(capped.details).toMatchObject({ rule: 'lamports_per_transaction' })
    const body = { lamports_per_transaction: '3000000', lamports_per_day: '3000000' }
    await request('PATCH', '/v2/signer/policy', { body })
    await ok('POST', path, known)
    expect(tokensOf(mint, payer)).toBe(900n)
  })

  it('of an empty vault is possible too, and ends the airdrop', async () => {
    const { ok, path, id, settle, refused } = await opened({ fund_amount: '0' })
    const wrong = await refused('POST', path, { amount: '1' })
    expect(wrong).toMatchObject({ status: 400, param: 'amount', details: { vault_balance: '0' } })
    await ok('POST', path, { amount: '0' })
    await settle()
    expect(await ok('GET', `/v2/airdrops/${id}`)).toMatchObject({
      ...{ status: 'vault_drained', clawed_back: true, vault_lacks: null },
      note: 'The vault was withdrawn after the clawback time: nothing can be claimed from it',
    })
  })

  it('of an airdrop without a stored tree is found on chain', async () => {
    const { ok, submit, pass, payer, mint } = await opened({ passed: 0 })
    const body = createBody(payer, mint, 'ab'.repeat(32), { airdrop_count: 1 })
    const built = await ok('POST', '/v2/airdrops', body)
    await submit(built, payer)
    const path = `/v2/airdrops/${built.tracked_resource.resource_id}`
    expect(await ok('GET', path)).toMatchObject({
      clawed_back: false,
      note: expect.stringContaining('not stored here'),
    })
    pass(31 * DAY_S)
    await ok('POST', `${path}/vault-withdrawals`, { amount: '0' })
    expect(await ok('GET', path)).toMatchObject({ clawed_back: true, note: expect.stringContaining('was withdrawn') })
  })

  it('is refused a minute early, and works a minute later', async () => {
    const { ok, path, id, chain, pass, refused } = await opened({ passed: 0 })
    const { clawback_at } = await ok('GET', `/v2/airdrops/${id}`)
    pass(Date.parse(clawback_at) / 1000 - chain.unixTimestamp() - 60)
    const early = await refused('POST', path, { amount: '900' })
    expect(early.details).toMatchObject({ reason: 'too_early', clawback_at })
    expect(Number(early.details.seconds_left)).toBeGreaterThan(0)
    pass(60)
    await ok('POST', path, { amount: '900' })
  })
})
