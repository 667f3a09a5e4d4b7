/** Allowlists of raises over HTTP, on the real program: stored, opened, proven, and never taken back. */
import { describe, expect, it } from 'vitest'
import { merkleRootAddress, serverMetadataAddress } from '../../src/chain/programs/presale/index.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { PRESALE } from '../../src/solana/programs/presale.ts'
import { serverMetadataInstruction } from '../../src/solana/raise-acts.ts'
import { walletOf } from '../merkle/reference.ts'
import { approversOf } from '../support/approvers.ts'
import { type ListedRaise, listedRaise, MAXIMUM } from '../support/listed-raises.ts'
import { GENEROUS, startPlatform } from '../support/platform-wallet.ts'
import { lacksPresale, type RaiseWish } from '../support/raises.ts'
import { itInSoak } from '../support/runs.ts'
import { ORIGIN, startService } from '../support/service.ts'
import { addressOf } from '../support/wallets.ts'

const URL = 'https://sale.example.com/raise'
const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]
const ONE = 1n << 64n
/** InvalidMerkleProof of the program. */
const INVALID_PROOF = 6018

const make = async (wish: Partial<RaiseWish> = {}, settings: object = {}) => {
  const service = await startService({ settings: { 'priority-fee': 'none', ...settings } })
  const visit = (path: string) => service.app.fetch(new Request(`${ORIGIN}${path}`))
  const host = { local: () => service.services.chain.local(), request: service.request, visit }
  return { service, ...(await listedRaise(host, wish)) }
}

const entry = (wallet: string, cap: bigint | number | string, round?: number) => ({
  ...{ wallet, cap: String(cap) },
  ...(round === undefined ? {} : { round }),
})

async function refused(
  answer: ReturnType<ListedRaise['store']>,
): Promise<{ status: number; message: string; details: unknown }> {
  const { status, json, text } = await answer
  expect(status, text).toBeGreaterThanOrEqual(400)
  return { status, message: json.error.message, details: json.error.details }
}

describe.skipIf(lacksPresale !== '')(`the allowlist of a raise ${lacksPresale}`, () => {
  it('is stored once, opened on chain, and lets its wallets buy up to their caps', async () => {
    const it = await make()
    const [first, second] = [it.buyer(0), it.buyer(1)]
    const entries = [entry(addressOf(first.key), 500), entry(addressOf(second.key), 700, 2), entry(A, 9, 1)]
    const stored = await it.store(entries)
    expect(stored.status, stored.text).toBe(201)
    const { root } = stored.json.data
    expect(stored.json.data).toMatchObject({ id: it.id, entries: 3, total: '1209' })
    const again = await it.store(entries.toReversed())
    expect([again.status, again.json.data]).toEqual([200, stored.json.data])
    expect((await it.ask('GET', `/v2/raises/${it.id}`)).json.data.root).toBe(root)

    const opened = await it.open({ url: `${URL}/` })
    expect(opened).toMatchObject({ id: it.id, root, root_version: 0, url: URL })
    expect(PRESALE.decode('permissioned_server_metadata', it.account(serverMetadataAddress(it.id)))?.server_url).toBe(
      URL,
    )
    const config = merkleRootAddress(it.id, 0n)
    expect(Buffer.from(PRESALE.decode('merkle_root_config', it.account(config))!.root).toString('hex')).toBe(root)

    for (const [buyer, cap] of [
      [first, 500n],
      [second, 700n],
    ] as const) {
      const { status, headers, json } = await it.proof(addressOf(buyer.key), buyer.round)
      expect([status, json.merkle_root_config, json.deposit_cap]).toEqual([200, config, Number(cap)])
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('cache-control')).toBe('public, max-age=60')
      expect(it.join(buyer, json)).toBeNull()
      const before = it.quoteOf(buyer)
      expect(it.deposit(buyer, 10_000n)).toBeNull()
      expect(before - it.quoteOf(buyer)).toBe(cap)
    }
  })

  it('tells nothing about other wallets and rounds, and answers 404 as JSON that any page may read', async () => {
    const it = await make()
    await it.store([entry(A, 5), entry(B, 5, 2)])
    for (const [wallet, registry, raise] of [
      [A, 1, it.id],
      [B, 0, it.id],
      [C, 0, it.id],
      [A, 0, C],
      [A, 5, it.id],
      [A, '00', it.id],
      ['x', 0, it.id],
      [A, 0, 'x'],
      ['a'.repeat(4_000), 0, it.id],
    ] as const) {
      const { status, headers, json } = await it.proof(wallet, registry, raise)
      expect([status, json.error.code]).toEqual([404, 'not_found'])
      expect(json.error.message).toBe('This wallet is not on the allowlist of this raise and round')
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
    const { headers } = await it.proof(A, 0)
    const tag = { 'if-none-match': headers.get('etag') ?? '' }
    const unchanged = await it.service.app.fetch(new Request(`http://svc.test/raise/${it.id}/0/${A}`, { headers: tag }))
    expect(unchanged.status).toBe(304)
  })

  it('says aloud that caps of one wallet add up, and what cannot sell', async () => {
    const it = await make({ rounds: [{ supply: 1n }, { supply: 1n }, { supply: 1n }] })
    const { json } = await it.store([entry(A, 5), entry(A, 6, 2)])
    expect(json.data.warnings).toEqual([
      `1 wallet is in more than one round, where its caps add up: ${A}`,
      'all caps add up to 11 raw units, less than the minimum 1000: the raise must fail with this list',
      'nobody is in round 3, so its tokens cannot be sold',
    ])
  })

  itInSoak('lets a wallet of two rounds buy up to the cap of each, with a proof of each', async () => {
    const it = await make()
    const buyer = it.buyer(0)
    const wallet = addressOf(buyer.key)
    await it.store([entry(wallet, 500), entry(wallet, 700, 2), entry(A, 5)])
    await it.open({ url: URL })
    const before = it.quoteOf(buyer)
    for (const round of [0, 1]) {
      const here = { ...buyer, round }
      expect(it.join(here, (await it.proof(wallet, 1 - round)).json)).toBe(INVALID_PROOF)
      expect(it.join(here, (await it.proof(wallet, round)).json)).toBeNull()
      expect(it.deposit(here, 10_000n)).toBeNull()
    }
    expect(before - it.quoteOf(buyer)).toBe(1_200n)
  })

  it('takes no proof of an airdrop, whose leaves have 48 bytes', async () => {
    const it = await make()
    const buyer = it.buyer(0)
    const wallet = addressOf(buyer.key)
    const tree = buildTree(
      listFromEntries([
        { wallet, amount: 500n },
        { wallet: A, amount: 5n },
      ]),
    )
    await it.open({ url: URL, root: toHex(tree.root) })
    const told = {
      merkle_root_config: merkleRootAddress(it.id, 0n),
      deposit_cap: 500,
      proof: proofAt(tree, 0).map((sibling) => [...sibling]),
    }
    expect(it.join(buyer, told)).toBe(INVALID_PROOF)
  })

  itInSoak('takes no cap that the program would refuse', async () => {
    const it = await make()
    expect((await refused(it.store([entry(A, MAXIMUM + 1n)]))).message).toBe(
      `entries: the cap 1000001 (raw units) of ${A} in round 1 is above 1000000, the most that the raise takes: lower it`,
    )
    expect((await refused(it.store([entry(A, 5), entry(B, 0, 2)]))).message).toBe(
      `entries: the cap 0 (raw units) of ${B} in round 2 is below 1, the least that a buyer pays: raise it`,
    )
    expect((await refused(it.store([entry(A, 5, 3)]))).message).toBe(
      `entries: ${A} is in round 3, and the raise has 2 rounds`,
    )
    const fixed = await make({
      mode: 'fixed_price',
      price: (ONE * 5n) / 2n,
      rounds: [{ supply: 1_000_000n, buyerMin: 3n }],
    })
    expect((await refused(fixed.store([entry(A, 2)]))).message).toBe(
      `entries: the cap 2 (raw units) of ${A} in round 1 is below 3, the least that a buyer pays: raise it`,
    )
    const buyer = fixed.buyer()
    expect((await fixed.store([entry(addressOf(buyer.key), 3)])).status).toBe(201)
    await fixed.open({ url: URL })
    expect(fixed.join(buyer, (await fixed.proof(addressOf(buyer.key), 0)).json)).toBeNull()
  })

  it('belongs to a raise that takes one', async () => {
    const it = await make({ allowlist: 'none', rounds: [{ supply: 1_000n }] })
    expect((await refused(it.store([entry(A, 5)]))).message).toBe(
      `The raise ${it.id} is open to everyone, so it takes no allowlist: that is decided when it is created`,
    )
    expect((await refused(it.ask('POST', `/v2/raises/${A}/allowlist`, { entries: [entry(A, 5)] }))).status).toBe(404)
    expect((await refused(it.opening({ url: URL, root: 'ab'.repeat(32) }))).message).toContain('is open to everyone')
  })

  it('is replaced while its root is not on chain, by the key that stored it', async () => {
    const it = await make()
    const [owner, other] = await Promise.all([1, 2].map(() => it.service.key({ scopes: ['airdrop:write'] })))
    const first = await it.store([entry(A, 5)], owner)
    expect(first.status).toBe(201)
    expect(await refused(it.store([entry(B, 5)], other))).toMatchObject({ status: 403 })
    const second = await it.store([entry(B, 5)], owner)
    expect([second.status, second.json.data.root === first.json.data.root]).toEqual([201, false])
    expect((await it.proof(A, 0)).status).toBe(404)
    expect((await it.proof(B, 0)).status).toBe(200)
    expect(await it.open({ url: URL })).toMatchObject({ root: second.json.data.root, root_version: 0 })
  })

  it('only grows once its root is on chain, and keeps the first proofs', async () => {
    const it = await make()
    const [buyer, late] = [it.buyer(0), it.buyer(0)]
    const [own, its] = [addressOf(buyer.key), addressOf(late.key)]
    await it.store([entry(own, 500), entry(A, 5), entry(B, 5, 2)])
    const { root } = await it.open({ url: URL })
    for (const [entries, wallet, round, cap] of [
      [[entry(own, 500), entry(A, 5)], B, 2, 5],
      [[entry(own, 499), entry(A, 5), entry(B, 5, 2)], own, 1, 500],
      [[entry(own, 500), entry(A, 5, 2), entry(B, 5, 2)], A, 1, 5],
    ] as const) {
      const { message, details } = await refused(it.store(entries))
      expect(message).toContain(`${wallet} has the cap ${cap} in round ${round} of the list whose root is on chain`)
      expect(details).toMatchObject({ root, version: 0 })
    }
    const longer = await it.store([entry(own, 500), entry(A, 6), entry(B, 5, 2), entry(its, 300)])
    expect(longer.status, longer.text).toBe(201)
    const config = (version: bigint) => merkleRootAddress(it.id, version)
    // What has not changed keeps its proof, so that nobody waits for the second root.
    expect((await it.proof(own, 0)).json.merkle_root_config).toBe(config(0n))
    expect((await it.proof(B, 1)).json.merkle_root_config).toBe(config(0n))
    expect((await it.proof(A, 0)).json).toMatchObject({ merkle_root_config: config(1n), deposit_cap: 6 })
    expect(it.join(buyer, (await it.proof(own, 0)).json)).toBeNull()
    expect(await it.open()).toMatchObject({
      ...{ root: longer.json.data.root, root_version: 1, url: null },
      warnings: ['other roots are on chain too (version 0), and their wallets can buy as well'],
    })
    expect(it.join(late, (await it.proof(its, 0)).json)).toBeNull()
    expect(it.deposit(late, 10_000n)).toBeNull()
    expect(it.escrowOf(late)).toMatchObject({ deposited: 300n, cap: 300n })
    // The list before the second root can be had again only by what is in it.
    expect((await refused(it.store([entry(own, 500), entry(A, 6), entry(B, 5, 2)]))).message).toContain(its)
  })

  it('grows by the key that stored it alone, so that nobody is admitted by the next opening', async () => {
    const it = await make()
    const [owner, other] = await Promise.all([1, 2].map(() => it.service.key({ scopes: ['airdrop:write'] })))
    await it.store([entry(A, 5)], owner)
    const { root } = await it.open({ url: URL })
    expect(await refused(it.store([entry(A, 5), entry(B, 500)], other))).toMatchObject({ status: 403 })
    expect((await it.ask('GET', `/v2/raises/${it.id}`)).json.data.root).toBe(root)
    expect((await it.store([entry(A, 5), entry(C, 5)], owner)).status).toBe(201)
  })

  itInSoak('can go back to the opened list while the longer one is not open', async () => {
    const it = await make()
    const first = [entry(A, 5)]
    await it.store(first)
    const { root } = await it.open({ url: URL })
    expect((await it.store([...first, entry(B, 5)])).status).toBe(201)
    const back = await it.store(first)
    expect([back.status, back.json.data.root]).toEqual([201, root])
    expect((await it.proof(B, 0)).status).toBe(404)
    expect((await refused(it.opening())).details).toMatchObject({ reason: 'already_open', root_version: 0 })
  })

  itInSoak('is one of two that are stored at the same time, and whole', async () => {
    const it = await make()
    const lists = [[entry(A, 5)], [entry(B, 6), entry(C, 7)]]
    const answers = await Promise.all(lists.map((entries) => it.store(entries)))
    const stored = answers.flatMap(({ status, json }, i) => (status === 201 ? [{ root: json.data.root, i }] : []))
    const { root } = (await it.ask('GET', `/v2/raises/${it.id}`)).json.data
    const kept = stored.find((each) => each.root === root)
    expect(kept, answers.map(({ text }) => text).join()).toBeDefined()
    for (const [wallet, list] of [
      [A, 0],
      [B, 1],
      [C, 1],
    ] as const)
      expect((await it.proof(wallet, 0)).status).toBe(kept?.i === list ? 200 : 404)
  })

  it('is refused with faults by their places', async () => {
    const it = await make()
    const { message, details } = await refused(
      it.store([entry(A, 5), entry(A, 6), { wallet: 'x', cap: '1' }, entry(B, 5, 9)]),
    )
    expect(message).toContain('entries.2.wallet')
    expect((details as { issue_count: number }).issue_count).toBe(3)
  })
})

describe.skipIf(lacksPresale !== '')(`the opening of a raise ${lacksPresale}`, () => {
  it('is for its creator alone, and needs a list and a place of proofs', async () => {
    const it = await make()
    expect((await refused(it.opening({ url: URL }))).message).toContain('No allowlist of the raise')
    await it.store([entry(A, 5)])
    expect((await refused(it.opening({ payer: A, url: URL }))).message).toBe(
      `Only the creator of the raise ${it.id}, ${addressOf(it.creator)}, can open it, not ${A}`,
    )
    expect((await refused(it.opening())).message).toContain('this server has no public address')
    const dry = await it.opening({ url: URL, dry_run: true })
    expect([dry.status, it.account(merkleRootAddress(it.id, 0n))]).toEqual([200, null])
  })

  it.each([
    ['plain http', 'http://sale.example.com/raise'],
    ['a query', 'https://sale.example.com/raise?x=1'],
    ['a fragment', 'https://sale.example.com/raise#x'],
    ['credentials', 'https://user:pass@sale.example.com/raise'],
    ['another scheme', 'ftp://sale.example.com/raise'],
    ['a script', 'javascript:alert(1)'],
    ['dots', 'https://sale.example.com/a/../raise'],
    ['capital letters in its host', 'https://SALE.example.com/raise'],
    ['letters that look like others', 'https://sаle.example.com/raise'],
    ['a space', 'https://sale.example.com/ra ise'],
    ['no host', '/raise'],
  ])('refuses a URL with %s', async (_, url) => {
    const it = await make()
    await it.store([entry(A, 5)])
    expect((await refused(it.opening({ url }))).message).toMatch(/^url must be an https URL of at most 256 characters/)
  })

  it('takes the public address of the server, or one of this machine', async () => {
    const it = await make({}, { 'public-url': 'https://svc.example.com/' })
    await it.store([entry(A, 5)])
    expect((await it.opening()).json.data.url).toBe('https://svc.example.com/raise')
    expect((await it.opening({ url: 'http://localhost:8080/raise' })).json.data.url).toBe('http://localhost:8080/raise')
    expect((await it.opening({ url: `https://a.example/${'x'.repeat(240)}` })).status).toBe(400)
  })

  itInSoak('writes another URL in place of the first, and says when nothing is left to do', async () => {
    const it = await make()
    await it.store([entry(A, 5)])
    await it.open({ url: URL })
    expect((await refused(it.opening({ url: URL }))).details).toMatchObject({ reason: 'already_open', url: URL })
    const moved = await it.open({ url: 'https://other.example.com/a-longer-place/raise' })
    expect(moved).toMatchObject({ root_version: 0, warnings: [`the URL on chain is replaced: ${URL}`] })
    expect(PRESALE.decode('permissioned_server_metadata', it.account(serverMetadataAddress(it.id)))?.server_url).toBe(
      moved.url,
    )
  })

  it('prints clean what the creator wrote elsewhere as the URL', async () => {
    const it = await make()
    const { creator, id } = it
    const odd = `https://x.example/\u202e${'y'.repeat(300)}`
    const metadata = serverMetadataAddress(id)
    expect(
      it.act([serverMetadataInstruction(id, { creator: addressOf(creator), metadata, url: odd })], creator),
    ).toBeNull()
    await it.store([entry(A, 5)])
    const kept = await it.opening()
    expect([kept.status, kept.json.data.url]).toEqual([200, null])
    const moved = await it.open({ url: URL })
    expect(moved.warnings).toEqual([`the URL on chain is replaced: https://x.example/\\u202e${'y'.repeat(237)}`])
  })

  it('takes the root of a list that is kept elsewhere', async () => {
    const it = await make()
    const root = 'AB'.repeat(32)
    expect(await it.open({ url: URL, root: `0x${root}` })).toMatchObject({ root: root.toLowerCase(), root_version: 0 })
    await it.store([entry(A, 5)])
    expect(await it.open()).toMatchObject({ root_version: 1 })
  })

  itInSoak('is signed by the platform wallet, if it is the creator and its policy permits', async () => {
    const service = await startPlatform(GENEROUS)
    const host = { local: () => service.services.chain.local(), request: service.request, visit: fetch }
    const it = await listedRaise({ ...host, creator: service.wallet })
    await it.store([entry(A, 5)])
    const { status, json, text } = await it.opening({ url: URL, mode: 'signed' })
    expect([status, json.data?.mode, json.data?.root_version], text).toEqual([200, 'signed', 0])
    expect(it.account(merkleRootAddress(it.id, 0n))).not.toBeNull()
    const other = await listedRaise(host)
    await other.store([entry(A, 5)])
    expect((await refused(other.opening({ url: URL, mode: 'signed' }))).message).toContain('Only the creator')
    await approversOf(service, 1, { operations: ['raise.open'] })
    const moved = await it.opening({ url: `${URL}/2`, mode: 'signed' })
    expect([moved.status, moved.json.data.proposal.what], moved.text).toEqual([
      202,
      expect.stringMatching(new RegExp(`${it.id}, to the list with the root [0-9a-f]{64}, with proofs at ${URL}/2`)),
    ])
  })

  it('is refused after the end', async () => {
    const it = await make({ lasts: 120 })
    await it.store([entry(A, 5)])
    it.chain.advance(121)
    expect((await refused(it.opening({ url: URL }))).message).toMatch(/ended on .*, so nobody can deposit any more/)
  })
})
