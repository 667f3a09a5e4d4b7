/** Trees with locked amounts over HTTP: made, stored, listed, proven, replaced and repaired. */
import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { naiveRoot, naiveVerify, type Recipient, recipientsOf, sha256, u64 } from '../merkle/reference.ts'
import { startService } from '../support/service.ts'
import { wallet } from '../support/trees.ts'

const MINT = wallet(1)
const TREES = '/v2/merkle-trees'

/** Every other wallet has a locked amount. */
const vestingOf = (count: number): Required<Recipient>[] =>
  recipientsOf(count).map(({ wallet }, n) => ({
    wallet,
    amount: BigInt(n),
    locked: n % 2 === 0 ? BigInt(1000 + n) : 0n,
  }))
const sent = (rows: readonly Required<Recipient>[]) =>
  rows.map(({ wallet, amount, locked }) => ({
    wallet,
    amount: String(amount),
    ...(locked === 0n ? {} : { amount_locked: String(locked) }),
  }))

describe('a tree with locked amounts', () => {
  it('is created, listed, read and proven with both amounts, under the root of a naive implementation', async () => {
    const { request } = await startService()
    const rows = vestingOf(300)
    const made = await request('POST', TREES, { body: { mint: MINT, entries: sent(rows) } })
    expect(made.status).toBe(201)
    const root = naiveRoot(rows)
    const list = rows.flatMap(({ wallet, amount, locked }) => [base58.decode(wallet), u64(amount), u64(locked)])
    expect(made.json.data).toMatchObject({
      root,
      leaf_count: 300,
      total: String(rows.reduce((sum, { amount, locked }) => sum + amount + locked, 0n)),
      total_locked: String(rows.reduce((sum, { locked }) => sum + locked, 0n)),
      list_sha256: sha256(...list).toString('hex'),
    })
    const { warnings, ...tree } = made.json.data
    expect(warnings).toHaveLength(1)
    const { id } = tree
    expect((await request('GET', `${TREES}/${id}`)).json.data).toEqual(tree)
    expect((await request('GET', TREES)).json.data).toEqual([tree])
    const events = await request('GET', `/v2/events?resource_id=${id}`)
    expect(events.json.data).toMatchObject([
      { type: 'airdrop.tree_built', data: { object: { total_locked: made.json.data.total_locked } } },
    ])
    const entries = await request('GET', `${TREES}/${id}/entries?limit=100`)
    expect(entries.json.data).toEqual(
      rows
        .slice(0, 100)
        .map(({ wallet, amount, locked }) => ({ wallet, amount: String(amount), amount_locked: String(locked) })),
    )
    for (const n of [0, 1, 255, 256, 298, 299]) {
      const { json } = await request('GET', `${TREES}/${id}/proofs/${rows[n]!.wallet}`)
      expect(json.data).toMatchObject({ amount: String(rows[n]!.amount), amount_locked: String(rows[n]!.locked), root })
      expect(naiveVerify(rows[n]!, json.data.proof, root)).toBe(true)
      expect(naiveVerify({ ...rows[n]!, locked: rows[n]!.locked + 1n }, json.data.proof, root)).toBe(false)
    }
  })

  it('is another tree than one with the same sums and no locked part', async () => {
    const { request } = await startService()
    const vesting = { mint: MINT, entries: [{ wallet: wallet(1), amount: '5', amount_locked: '7' }] }
    const whole = { mint: MINT, entries: [{ wallet: wallet(1), amount: '12' }] }
    const first = await request('POST', TREES, { body: vesting })
    expect(first.json.data).toMatchObject({ total: '12', total_locked: '7' })
    const refused = await request('POST', TREES, { body: whole })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'airdrop_count'])
    const replaced = await request('POST', TREES, { body: { ...whole, replace: true } })
    expect(replaced.json.data).toMatchObject({ total: '12', total_locked: '0' })
    const { id } = first.json.data
    expect((await request('GET', `${TREES}/${id}/entries`)).json.data).toEqual([
      { wallet: wallet(1), amount: '12', amount_locked: '0' },
    ])
    const again = await request('POST', TREES, { body: { ...vesting, replace: true } })
    expect(again.json.data).toMatchObject({ root: first.json.data.root, total_locked: '7' })
    expect((await request('GET', `${TREES}/${id}/proofs/${wallet(1)}`)).json.data).toMatchObject({ amount_locked: '7' })
  })

  it('never proves an amount that was changed on disk, and its own list repairs it', async () => {
    const { request, services } = await startService()
    const body = { mint: MINT, entries: sent(vestingOf(3)), replace: true }
    const { id } = (await request('POST', TREES, { body })).json.data
    const path = `${TREES}/${id}/proofs/${recipientsOf(1)[0]!.wallet}`
    const honest = await request('GET', path)
    expect(honest.json.data.amount_locked).toBe('1000')
    const { db } = services.store
    const row = await db.selectFrom('merkle_blobs').selectAll().where('kind', '=', 'locked').executeTakeFirstOrThrow()
    expect(row.bytes).toHaveLength(24)
    for (let at = 0; at < row.bytes.length; at++) {
      const bytes = Buffer.from(row.bytes)
      bytes[at]! ^= 1
      await services.store.write((tx) =>
        tx.updateTable('merkle_blobs').set({ bytes }).where('kind', '=', 'locked').execute(),
      )
      for (const read of [path, `${TREES}/${id}/entries`]) {
        const { status, json } = await request('GET', read)
        expect([at, status, json.error?.message]).toEqual([at, 400, expect.stringContaining('replace: true')])
      }
    }
    expect((await request('POST', TREES, { body })).status).toBe(200)
    expect((await request('GET', path)).json.data).toEqual(honest.json.data)
  })

  it('is refused if both amounts of a wallet together exceed a token account', async () => {
    const { request } = await startService()
    const entries = [{ wallet: wallet(1), amount: '1', amount_locked: '18446744073709551615' }]
    const { status, json } = await request('POST', TREES, { body: { mint: MINT, entries } })
    expect([status, json.error.param]).toEqual([400, 'entries.0.amount_locked'])
  })
})
