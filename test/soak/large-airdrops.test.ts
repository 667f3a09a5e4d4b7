/** An airdrop of 50,000 wallets over HTTP on the real distributor: created, funded, claimed by many, withdrawn. */

import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Airdrops,
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  type Entry,
  lacksDistributor,
} from '../support/airdrops.ts'
import { GENEROUS, keypairFile } from '../support/platform-wallet.ts'
import { CLAIM_STATUS_RENT, TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { openService, removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { wallet as someWallet } from '../support/trees.ts'

const ROWS = 50_000
const CLAIMS = 60
const PLATFORM_FEE = 100_000

/** The same for one seed: which rows of the tree belong to keys that the test has. */
function* pseudoRandom(seed: number) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state
  }
}

describe.skipIf(lacksDistributor)('an airdrop of 50,000 wallets (needs the Jito merkle distributor)', () => {
  const folders = [makeSharedFolder('svc-'), makeSharedFolder('svc-')]
  const platform = Keypair.generate()
  const payer = Keypair.generate()
  const keys = Array.from({ length: CLAIMS }, () => Keypair.generate())
  const entries: Entry[] = Array.from({ length: ROWS }, (_, n) => ({
    wallet: someWallet(n),
    amount: String(1_000_000n + BigInt(n)),
  }))
  const places = new Set<number>([0, ROWS - 1])
  for (const number of pseudoRandom(7)) {
    if (places.size === CLAIMS) break
    places.add(number % ROWS)
  }
  const claims = [...places].map((place, n) => {
    const key = keys[n]!
    entries[place] = { wallet: addressOf(key), amount: entries[place]!.amount }
    return { key, amount: BigInt(entries[place]!.amount) }
  })
  const total = entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const claimed = claims.reduce((sum, { amount }) => sum + amount, 0n)

  let all: Airdrops
  let mint: string
  let id: string
  let root: string
  let vault: string

  beforeAll(async () => {
    const service = await openService({
      dataDir: folders[0]!,
      settings: { signer: 'keypair', 'signer.keypair': keypairFile(folders[1]!, platform) },
    })
    all = await airdropsOn(service)
    for (const key of [platform, payer, ...keys]) all.chain.airdrop(addressOf(key), 10_000_000_000n)
    mint = all.mintFor(payer, total + 5n)
    vault = (await all.vaultOf(mint)).vault
    expect((await all.request('PATCH', '/v2/signer/policy', { body: GENEROUS })).status).toBe(200)
    return async () => {
      await service.close()
      for (const folder of folders) removeFolder(folder)
    }
  })

  it('is created and funded in one transaction, and read back from the chain', async () => {
    const tree = await all.storeTree(mint, entries, 0, { externalUid: 'airdrop:1' })
    id = tree.id
    root = tree.root
    expect(tree.total).toBe(String(total))
    const built = await all.ok('POST', '/v2/airdrops', createBody(payer, mint, `0x${root.toUpperCase()}`))
    expect(built).toMatchObject({ mode: 'unsigned', requiredSigners: [addressOf(payer)] })
    expect(built.tracked_resource).toEqual({
      resource_type: 'airdrop',
      resource_id: id,
      related_events: ['airdrop.initialized'],
    })
    expect((await all.ok('GET', `/v2/airdrops/${id}`)).status).toBe('tree_built')
    const signature = await all.submit(built, payer)
    await all.settle()
    expect([all.tokensOf(mint, payer), all.chain.transaction(signature)!.err]).toEqual([5n, null])
    const read = await all.ok('GET', `/v2/airdrops/${id}`)
    const { distributor } = await all.vaultOf(mint)
    expect(read).toEqual({
      id,
      mint,
      airdrop_count: 0,
      root,
      leaf_count: ROWS,
      status: 'initialized',
      created_at: tree.created_at,
      own: true,
      total: String(total),
      total_locked: '0',
      distributor,
      on_chain_root: root,
      admin: addressOf(payer),
      vault,
      vault_balance: String(total),
      vault_lacks: '0',
      claimed_count: 0,
      claimed_amount: '0',
      starts_at: expect.any(String),
      ends_at: expect.any(String),
      clawback_at: expect.any(String),
      clawback_receiver: expect.any(String),
      clawed_back: false,
      note: null,
    })
    const days = (Date.parse(read.clawback_at) - Date.parse(read.starts_at)) / 1000 / DAY_S
    expect(days).toBeGreaterThanOrEqual(30)
    expect(days).toBeLessThan(30.001)
    expect((await all.ok('GET', `/v2/airdrops?mint=${mint}`))[0]).toMatchObject({
      id,
      status: 'initialized',
      vault: null,
    })
  })

  it(`pays ${CLAIMS} wallets the amount of their leaf, each once, whatever they ask for`, async ({ annotate }) => {
    const began = performance.now()
    const earned = () => all.chain.account(addressOf(platform))!.lamports
    const before = earned()
    for (const [n, { key, amount }] of claims.entries()) {
      const lamports = all.chain.account(addressOf(key))!.lamports
      const built = await all.ok(
        'POST',
        `/v2/airdrops/${id}/claims`,
        claimBody(key, { amount: '1', platform_fee: n % 2 === 0 ? PLATFORM_FEE : 0 }),
      )
      expect([built.requiredSigners, built.swap_transaction]).toEqual([[addressOf(key)], null])
      const signature = await all.submit(built, key)
      expect(all.tokensOf(mint, key)).toBe(amount)
      const { fee } = all.chain.transaction(signature)!
      const paid = BigInt(n % 2 === 0 ? PLATFORM_FEE : 0)
      expect(lamports - all.chain.account(addressOf(key))!.lamports).toBe(
        fee + paid + CLAIM_STATUS_RENT + TOKEN_ACCOUNT_RENT,
      )
    }
    expect(all.tokensOf(mint, (await all.vaultOf(mint)).distributor)).toBe(total - claimed)
    expect(earned() - before).toBe(BigInt((CLAIMS / 2) * PLATFORM_FEE))
    await annotate(`${CLAIMS} claims: ${Math.round(performance.now() - began)} ms`, 'time')
    await all.settle()
    expect(await all.ok('GET', `/v2/airdrops/${id}`)).toMatchObject({
      status: 'claiming',
      claimed_count: CLAIMS,
      claimed_amount: String(claimed),
      vault_balance: String(total - claimed),
      note: null,
    })
  })

  it('refuses a second claim and the proof of another wallet with a clear message', async () => {
    const { key, amount } = claims[0]!
    const again = await all.refused('POST', `/v2/airdrops/${id}/claims`, claimBody(key))
    expect(again).toMatchObject({
      status: 400,
      param: 'claimer',
      details: { reason: 'already_claimed', claimed: String(amount) },
    })
    const terms = `has claimed 1 of ${mint} from the airdrop ${id} already: a wallet claims once`
    expect(again.message).toContain(`${addressOf(key)} ${terms}`)
    const thief = all.wallet()
    const { proof, amount: known } = await all.ok('GET', `/v2/merkle-trees/${id}/proofs/${someWallet(17)}`)
    const foreign = await all.refused('POST', `/v2/airdrops/${id}/claims`, claimBody(thief, { amount: known, proof }))
    expect(foreign).toMatchObject({ status: 400, param: 'proof', details: { root } })
    expect(foreign.message).toMatch(/does not lead from .* to the root/)
    const absent = await all.refused('POST', `/v2/airdrops/${id}/claims`, claimBody(thief))
    expect(absent).toMatchObject({ status: 404, param: 'claimer' })
    expect(absent.message).toMatch(/is not in the merkle tree/)
  })

  it('returns the remaining tokens to its creator after its time, and not before', async () => {
    const left = total - claimed
    const path = `/v2/airdrops/${id}/vault-withdrawals`
    const early = await all.refused('POST', path, { amount: String(left) })
    expect(early).toMatchObject({ status: 400, param: 'id', details: { reason: 'too_early' } })
    expect(early.message).toMatch(/can be withdrawn from \d{4}-.*Z on: until then wallets can claim from it/)
    all.pass(30 * DAY_S + 600)
    const wrong = await all.refused('POST', path, { amount: String(left - 1n) })
    expect(wrong).toMatchObject({ status: 400, param: 'amount', details: { vault_balance: String(left), vault } })
    const stranger = addressOf(Keypair.generate())
    const other = await all.refused('POST', path, { amount: String(left), admin: stranger })
    expect(other).toMatchObject({ status: 400, param: 'admin', details: { owner: addressOf(payer) } })
    const lamports = all.chain.account(addressOf(platform))!.lamports
    const body = { amount: String(left), admin: addressOf(payer), externalUid: 'drain:1' }
    const headers = { 'idempotency-key': 'drain' }
    const done = await all.ok('POST', path, body, headers)
    expect(done).toEqual({ mode: 'signed', signature: expect.any(String), mint, amount: String(left) })
    expect(await all.ok('POST', path, body, headers)).toEqual(done)
    expect(all.tokensOf(mint, payer)).toBe(left + 5n)
    const { fee } = all.chain.transaction(done.signature)!
    expect(lamports - all.chain.account(addressOf(platform))!.lamports).toBe(fee)
    await all.settle()
    expect(await all.ok('GET', `/v2/airdrops/${id}`)).toMatchObject({ status: 'vault_drained', vault_balance: '0' })
    expect((await all.ok('GET', '/v2/airdrops'))[0].status).toBe('vault_drained')
    const twice = await all.refused('POST', path, { amount: '0' })
    expect(twice).toMatchObject({ status: 400, details: { reason: 'already_withdrawn' } })
    expect(twice.message).toMatch(/was already withdrawn/)
  })

  it('has reported all of it in events, in order, with the values of the chain', async () => {
    const pages = []
    for (let cursor = ''; ; ) {
      const { json } = await all.request(
        'GET',
        `/v2/events?order=asc&limit=100&resource_type=airdrop&resource_id=${id}${cursor}`,
      )
      pages.push(...json.data)
      if (json.meta.next_cursor === null) break
      cursor = `&cursor=${json.meta.next_cursor}`
    }
    expect(pages.map(({ type }) => type)).toEqual([
      'airdrop.tree_built',
      'airdrop.initialized',
      'airdrop.claim_started',
      ...Array(CLAIMS).fill('airdrop.claimed'),
      'airdrop.vault_drained',
    ])
    const [, initialized, started, ...rest] = pages
    expect(initialized.data.object).toMatchObject({ id, mint, root, status: 'initialized', source: 'chain' })
    expect(initialized.data.object.slot).toBeGreaterThan(0)
    expect(started.data.object).toMatchObject({ id, status: 'claiming', source: 'chain' })
    const told = rest.slice(0, CLAIMS).map(({ data: { object } }) => [object.claimer, object.amount, object.source])
    const expected = claims.map(({ key, amount }) => [addressOf(key), String(amount), 'chain'])
    expect(told.sort()).toEqual(expected.sort())
    expect(new Set(rest.slice(0, CLAIMS).map(({ data }) => data.object.signature)).size).toBe(CLAIMS)
    expect(rest.at(-1)).toMatchObject({
      external_uid: 'drain:1',
      data: { object: { status: 'vault_drained', source: 'chain' } },
    })
  })
})
