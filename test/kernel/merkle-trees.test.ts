/** Merkle trees over HTTP: built, stored, listed, proven. */
import { describe, expect, it } from 'vitest'
import { naiveRoot, naiveVerify, recipientsOf } from '../merkle/reference.ts'
import { type Service, sharedService, startService } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

/** For tests that make trees of mints of their own. */
const shared = sharedService()
let mints = 0
const anyMint = () => wallet(1_000 + mints++)

const MINT = wallet(1)
const TREES = '/v2/merkle-trees'

const sent = (count: number) => recipientsOf(count).map(({ wallet, amount }) => ({ wallet, amount: amount.toString() }))

describe('a tree', () => {
  it('is created, listed, read and proven, with the root of a naive implementation', async () => {
    const { request, clock } = await startService()
    const recipients = recipientsOf(300)
    const made = await request('POST', TREES, { body: { mint: MINT, airdrop_count: 7, entries: sent(300) } })
    expect(made.status).toBe(201)
    const root = naiveRoot(recipients)
    const { warnings, ...tree } = made.json.data
    // Any 32-byte key is taken, and those on no curve are named.
    expect(warnings).toEqual([expect.stringMatching(/^169 of 300 addresses are not wallets/)])
    expect(tree).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9_-]{46}$/),
      mint: MINT,
      airdrop_count: 7,
      root,
      root_hex: `0x${root}`,
      leaf_count: 300,
      total: recipients.reduce((sum, { amount }) => sum + amount, 0n).toString(),
      total_locked: '0',
      list_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      persisted: true,
      created_by: expect.stringMatching(/^key_/),
      created_at: new Date(clock.now()).toISOString(),
    })
    const { id } = tree
    expect((await request('GET', TREES)).json.data).toEqual([tree])
    expect((await request('GET', `${TREES}/${id}`)).json.data).toEqual(tree)
    const airdrop = await request('GET', `/v2/airdrops/${id}`)
    expect(airdrop.json.data).toMatchObject({ id, mint: MINT, root, leaf_count: 300, status: 'tree_built' })
    for (const n of [0, 1, 255, 256, 298, 299]) {
      const recipient = recipients[n]!
      const { status, json } = await request('GET', `${TREES}/${id}/proofs/${recipient.wallet}`)
      expect(status).toBe(200)
      expect(Object.keys(json.data).sort()).toEqual(['amount', 'amount_locked', 'mint', 'proof', 'root', 'wallet'])
      expect(json.data).toMatchObject({ wallet: recipient.wallet, mint: MINT, amount: `${recipient.amount}`, root })
      expect(naiveVerify(recipient, json.data.proof, root)).toBe(true)
      expect(naiveVerify({ ...recipient, amount: recipient.amount ^ 1n }, json.data.proof, root)).toBe(false)
    }
  })

  it('has an id that is its mint and count', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const { json } = await request('POST', TREES, { body: { mint: MINT, airdrop_count: 258, entries: entries(1) } })
    const bytes = Buffer.from(json.data.id, 'base64url')
    expect([bytes.length, bytes.readUInt16BE(32)]).toEqual([34, 258])
    const zero = await request('POST', TREES, { body: { mint: MINT, entries: entries(1) } })
    expect(zero.json.data.airdrop_count).toBe(0)
  })

  it('of one leaf has an empty proof', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const { json } = await request('POST', TREES, { body: { mint: MINT, entries: entries(1) } })
    const proof = await request('GET', `${TREES}/${json.data.id}/proofs/${wallet(0)}`)
    expect([proof.status, proof.json.data.proof]).toEqual([200, []])
  })

  it('with persist: false answers 200 and stores nothing', async () => {
    const { request, services } = await startService()
    const built = await request('POST', TREES, { body: { mint: MINT, entries: entries(5), persist: false } })
    expect([built.status, built.json.data.persisted, built.json.data.created_at]).toEqual([200, false, null])
    expect((await request('GET', `${TREES}/${built.json.data.id}`)).status).toBe(404)
    expect((await request('GET', `${TREES}/${built.json.data.id}/proofs/${wallet(0)}`)).status).toBe(404)
    for (const table of ['merkle_trees', 'merkle_blobs', 'events'] as const) {
      expect(await services.store.db.selectFrom(table).selectAll().execute()).toEqual([])
    }
  })

  it('needs the scope also with persist: false', async () => {
    const { request, key } = await shared()
    const MINT = anyMint()
    const body = { mint: MINT, entries: entries(1), persist: false }
    expect((await request('POST', TREES, { body, key: await key() })).status).toBe(403)
    expect((await request('POST', TREES, { body, key: await key({ scopes: ['airdrop:write'] }) })).status).toBe(200)
  })
})

describe('a second tree with the same mint and count', () => {
  it('and the same root gets the stored tree and emits no event', async () => {
    const { request, clock } = await startService()
    const body = { mint: MINT, entries: entries(3) }
    const first = await request('POST', TREES, { body })
    clock.advance(5000)
    const again = await request('POST', TREES, { body: { ...body, externalUid: 'again' } })
    expect([again.status, again.json.data]).toEqual([200, first.json.data])
    expect(again.json.meta.external_uid).toBe('again')
    expect((await request('GET', '/v2/events')).json.data).toHaveLength(1)
  })

  it('and another root is refused without replace, and then proves the new list', async () => {
    const { request, clock } = await startService()
    const first = await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })
    const { id } = first.json.data
    const body = { mint: MINT, entries: entries(2) }
    const refused = await request('POST', TREES, { body })
    expect([refused.status, refused.json.error.code]).toEqual([400, 'bad_request'])
    expect(refused.json.error.message).toMatch(/replace: true/)
    expect((await request('GET', `${TREES}/${id}`)).json.data).toEqual(first.json.data)
    clock.advance(1000)
    const replaced = await request('POST', TREES, { body: { ...body, replace: true } })
    expect([replaced.status, replaced.json.data.leaf_count, replaced.json.data.id]).toEqual([201, 2, id])
    expect((await request('GET', `${TREES}/${id}/proofs/${wallet(1)}`)).json.data.root).toBe(replaced.json.data.root)
    expect((await request('GET', `${TREES}/${id}/proofs/${wallet(2)}`)).status).toBe(404)
    expect((await request('GET', TREES)).json.data).toEqual([replaced.json.data])
    const events = await request('GET', '/v2/events?order=asc')
    expect(events.json.data.map(({ data }: { data: { object: { root: string } } }) => data.object.root)).toEqual([
      first.json.data.root,
      replaced.json.data.root,
    ])
  })

  it('is a conflict if another request replaces the tree at the same time', async () => {
    const { request, services } = await shared()
    const MINT = anyMint()
    const send = (count: number) =>
      request('POST', TREES, { body: { mint: MINT, entries: entries(count), replace: true } })
    // Both have looked for a stored tree before one of them writes.
    const { store } = services
    const write = store.write.bind(store)
    let arrived = 0
    let release = () => {}
    const both = new Promise<void>((settle) => {
      release = settle
    })
    store.write = async (work) => {
      if (++arrived === 2) release()
      await both
      return write(work)
    }
    const answers = await Promise.all([send(1), send(2)])
    store.write = write
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400])
    const { json } = answers.find(({ status }) => status === 400)!
    expect([json.error.code, json.error.param]).toEqual(['bad_request', 'airdrop_count'])
    expect(json.error.message).toMatch(/send this request again/)
    expect((await send(3)).status).toBe(201)
  })

  it('that restores an earlier root is an event of its own', async () => {
    const { request } = await startService()
    const lists = [entries(1), entries(2), entries(1), entries(2)]
    for (const list of lists) {
      expect((await request('POST', TREES, { body: { mint: MINT, entries: list, replace: true } })).status).toBe(201)
    }
    expect((await request('GET', '/v2/events')).json.data).toHaveLength(4)
  })

  it('never replaces a tree whose airdrop is on chain', async () => {
    const { request, services } = await startService()
    await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })
    await services.store.write((tx) => tx.updateTable('merkle_trees').set({ status: 'initialized' }).execute())
    const { status, json } = await request('POST', TREES, { body: { mint: MINT, entries: entries(2), replace: true } })
    expect([status, json.error.code]).toEqual([400, 'bad_request'])
    expect((await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })).status).toBe(200)
  })

  it('sent together with others leaves one tree, and one event for each that was stored', async () => {
    const { request } = await startService()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        request('POST', TREES, { body: { mint: MINT, entries: entries(1 + (n % 3)) } }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 400)).toHaveLength(8)
    expect((await request('GET', '/v2/events')).json.data).toHaveLength(1)
  })
})

describe('amounts', () => {
  const totalsOf =
    ({ request }: Service) =>
    async (list: string, more = '') => {
      const body = `{"mint":"${MINT}","entries":[${list}],"persist":false${more}}`
      const { status, json } = await request('POST', TREES, { body })
      return status === 200 ? json.data.total : [status, json.error.param]
    }
  const of = (...amounts: string[]) => amounts.map((amount, n) => `{"wallet":"${wallet(n)}","amount":${amount}}`).join()

  it('as numbers are scaled by their exact decimal text, never rounded', async () => {
    const total = totalsOf(await shared())
    expect(await total(of('0.1', '0.2'), ',"decimals":1')).toBe('3')
    expect(await total(of('9007199254740993'), ',"decimals":0')).toBe('9007199254740993')
    expect(await total(of('0.000000000000000001'), ',"decimals":18')).toBe('1')
    expect(await total(of('18446744073.709551615'), ',"decimals":9')).toBe('18446744073709551615')
    expect(await total(of('18446744073.709551616'), ',"decimals":9')).toEqual([400, 'entries.0.amount'])
    expect(await total(of('1', '1.0000001'), ',"decimals":6')).toEqual([400, 'entries.1.amount'])
    expect(await total(of('1.5'))).toEqual([400, 'entries.0.amount'])
    expect(await total(of('9007199254740991'))).toBe('9007199254740991')
    expect(await total(of('9007199254740993'))).toEqual([400, 'entries.0.amount'])
    expect(await total(of('-1'), ',"decimals":2')).toEqual([400, 'entries.0.amount'])
  })

  it('as digits are raw units whatever the decimals', async () => {
    const total = totalsOf(await shared())
    expect(await total(of('"5"'), ',"decimals":9')).toBe('5')
    expect(await total(of('"18446744073709551615"'))).toBe('18446744073709551615')
    expect(await total(of('"18446744073709551615"', '"18446744073709551615"'))).toBe('36893488147419103230')
    for (const amount of ['"18446744073709551616"', '"1.0"', '""', '"-1"', '" 1"', '"1e3"', 'null', '[]', 'true']) {
      expect([amount, await total(of(amount))]).toEqual([amount, [400, 'entries.0.amount']])
    }
  })

  it('of a repeated wallet are refused with both positions, or summed', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const list = [...entries(3), { wallet: wallet(1), amount: '10' }]
    const refused = await request('POST', TREES, { body: { mint: MINT, entries: list } })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'entries.3.wallet'])
    expect(refused.json.error.message).toContain('entries.1')
    const summed = await request('POST', TREES, { body: { mint: MINT, entries: list, duplicates: 'sum' } })
    expect([summed.status, summed.json.data.leaf_count, summed.json.data.total]).toEqual([201, 3, '16'])
    expect(summed.json.data.root).toBe(naiveRoot([1n, 12n, 3n].map((amount, n) => ({ wallet: wallet(n), amount }))))
  })
})

describe('limits', () => {
  it('are 1 to 50,000 entries, counts to 65535 and decimals to 18', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const refused = async (body: object) => {
      const { status, json } = await request('POST', TREES, { body })
      return [status, json.error?.param]
    }
    expect(await refused({ mint: MINT, entries: [] })).toEqual([400, 'entries'])
    const over = Array.from({ length: 50_001 }, () => ({ wallet: MINT, amount: '1' }))
    expect(await refused({ mint: MINT, entries: over, duplicates: 'sum' })).toEqual([400, 'entries'])
    for (const airdrop_count of [-1, 65_536, 1.5, '1', null]) {
      expect(await refused({ mint: MINT, entries: entries(1), airdrop_count })).toEqual([400, 'airdrop_count'])
    }
    for (const decimals of [-1, 19, 0.5, '6', null]) {
      expect(await refused({ mint: MINT, entries: entries(1), decimals })).toEqual([400, 'decimals'])
    }
    expect(await refused({ entries: entries(1) })).toEqual([400, 'mint'])
    expect(await refused({ mint: 'x', entries: entries(1) })).toEqual([400, 'mint'])
    expect(await refused({ mint: MINT, entries: entries(1), persist: 'yes' })).toEqual([400, 'persist'])
    expect(await refused({ mint: MINT, entries: {} })).toEqual([400, 'entries'])
    expect(await refused({ mint: MINT, entries: entries(1), airdrop_count: 65_535 })).toEqual([201, undefined])
  })

  it('are reported for a field that is sent twice, because the last one would win unnoticed', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const body = `{"mint":"${MINT}","entries":[{"wallet":"${MINT}","amount":"1","amount":"2"}]}`
    const { status, json } = await request('POST', TREES, { body })
    expect([status, json.error.param]).toEqual([400, 'entries.0.amount'])
  })
})

describe('the entries of a tree', () => {
  it('are paged in leaf order, with a summed wallet at its first place', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const list = [...entries(300), { wallet: wallet(7), amount: '100' }]
    const made = await request('POST', TREES, { body: { mint: MINT, entries: list, duplicates: 'sum' } })
    const path = `${TREES}/${made.json.data.id}/entries`
    const found: { wallet: string; amount: string }[] = []
    for (let cursor = ''; ; ) {
      const { status, json } = await request('GET', `${path}?limit=70${cursor}`)
      expect([status, json.meta.count]).toEqual([200, json.data.length])
      found.push(...json.data)
      if (!json.meta.has_more) break
      cursor = `&cursor=${json.meta.next_cursor}`
    }
    expect(found).toEqual(
      entries(300, (n) => (n === 7 ? '108' : String(n + 1))).map((entry) => ({ ...entry, amount_locked: '0' })),
    )
  })

  it('of an unknown tree are not_found, and a cursor of another tree is refused', async () => {
    const { request } = await shared()
    expect((await request('GET', `${TREES}/${'A'.repeat(46)}/entries`)).status).toBe(404)
    const ids: string[] = []
    for (const mint of [wallet(1), wallet(2)]) {
      ids.push((await request('POST', TREES, { body: { mint, entries: entries(3) } })).json.data.id)
    }
    const { json } = await request('GET', `${TREES}/${ids[0]}/entries?limit=1`)
    const other = await request('GET', `${TREES}/${ids[1]}/entries?cursor=${json.meta.next_cursor}`)
    expect([other.status, other.json.error.param]).toEqual([400, 'cursor'])
  })

  it('are never mixed: a cursor of a tree that was replaced meanwhile is refused', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const { json } = await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })
    const path = `${TREES}/${json.data.id}/entries?limit=1`
    const { next_cursor } = (await request('GET', path)).json.meta
    expect((await request('GET', `${path}&cursor=${next_cursor}`)).status).toBe(200)
    await request('POST', TREES, { body: { mint: MINT, entries: entries(4), replace: true } })
    const late = await request('GET', `${path}&cursor=${next_cursor}`)
    expect([late.status, late.json.error.param]).toEqual([400, 'cursor'])
  })

  it('that were changed on disk are bad_request, never a wrong list', async () => {
    const { request, services } = await startService()
    const made = await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })
    const { db } = services.store
    const row = await db.selectFrom('merkle_blobs').selectAll().where('kind', '=', 'leaves').executeTakeFirstOrThrow()
    for (let at = 0; at < row.bytes.length; at += 5) {
      const bytes = Buffer.from(row.bytes)
      bytes[at]! ^= 1
      await services.store.write((tx) =>
        tx.updateTable('merkle_blobs').set({ bytes }).where('kind', '=', 'leaves').execute(),
      )
      const { status } = await request('GET', `${TREES}/${made.json.data.id}/entries`)
      expect([at, status]).toEqual([at, 400])
    }
  })
})

describe('a proof', () => {
  it('without a wallet in its path is bad_request, and of an unknown wallet or tree not_found', async () => {
    const { request } = await shared()
    const MINT = anyMint()
    const { json } = await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })
    const path = `${TREES}/${json.data.id}/proofs`
    for (const bare of [path, `${path}/`]) {
      const { status, json } = await request('GET', bare)
      expect([status, json.error.code, json.error.param]).toEqual([400, 'bad_request', 'wallet'])
    }
    expect((await request('GET', `${path}/not-base58`)).json.error.param).toBe('wallet')
    expect((await request('GET', `${path}/${wallet(99)}`)).status).toBe(404)
    expect((await request('GET', `${TREES}/${'A'.repeat(46)}/proofs/${wallet(0)}`)).status).toBe(404)
    expect((await request('GET', `${TREES}/short/proofs/${wallet(0)}`)).json.error.param).toBe('id')
  })

  it('from leaves that were changed on disk is bad_request, never a wrong proof', async () => {
    for (const kind of ['head', 'index', 'leaves']) {
      const { request, services } = await startService()
      const { json } = await request('POST', TREES, { body: { mint: MINT, entries: entries(3) } })
      const path = `${TREES}/${json.data.id}/proofs/${wallet(0)}`
      const honest = await request('GET', path)
      const { db } = services.store
      const row = await db.selectFrom('merkle_blobs').selectAll().where('kind', '=', kind).executeTakeFirstOrThrow()
      const write = (bytes: Buffer) =>
        services.store.write((tx) => tx.updateTable('merkle_blobs').set({ bytes }).where('kind', '=', kind).execute())
      for (let at = 0; at < row.bytes.length; at += 7) {
        const bytes = Buffer.from(row.bytes)
        bytes[at]! ^= 0x40
        await write(bytes)
        const { status, json } = await request('GET', path)
        if (status !== 200) expect([kind, at, status, json.error.code]).toEqual([kind, at, 400, 'bad_request'])
        else expect([kind, at, json.data]).toEqual([kind, at, honest.json.data])
      }
      await write(row.bytes.subarray(0, -1))
      expect([kind, (await request('GET', path)).status]).toEqual([kind, 400])
      await services.store.write((tx) => tx.deleteFrom('merkle_blobs').where('kind', '=', kind).execute())
      const gone = await request('GET', path)
      expect([kind, gone.status]).toEqual([kind, 400])
      expect(gone.json.error.message).toMatch(/replace: true/)
    }
  })

  it('works again after the tree was rebuilt over its damaged leaves', async () => {
    const { request, services } = await startService()
    const body = { mint: MINT, entries: entries(3), replace: true }
    const { json } = await request('POST', TREES, { body })
    await services.store.write((tx) => tx.deleteFrom('merkle_blobs').execute())
    const path = `${TREES}/${json.data.id}/proofs/${wallet(0)}`
    expect((await request('GET', path)).status).toBe(400)
    await request('POST', TREES, { body })
    expect((await request('GET', path)).status).toBe(200)
  })
})
