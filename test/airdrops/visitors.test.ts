/** What a claim page asks for its visitors, without a key: the same sponsored claims, bounded, and without the operator's figures. */
import { connect } from 'node:net'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clientAddressOf, visitorAddressOf } from '../../daemon/client-address.ts'
import { VisitorCounter } from '../../daemon/limits/visitors.ts'
import { RefusalCounts } from '../../src/operations/signing/refusal-counts.ts'
import { listen } from '../kernel/listening.ts'
import { addressOf, lacksDistributor } from '../support/airdrops.ts'
import { startService } from '../support/service.ts'
import {
  ABSENT,
  type BuiltSponsoredClaim,
  openSponsoredAirdrop,
  SPONSORED_COST,
  sponsorshipOf,
} from '../support/sponsored-airdrop.ts'

const PAGE = 'https://claim.example.com'
const settings = { 'claim-pages': true, 'claim-origins': [PAGE] }

/** The airdrop, and requests as a page of another origin makes them. */
async function visited(options: Parameters<typeof openSponsoredAirdrop>[0] = {}) {
  const all = await openSponsoredAirdrop({ ...options, settings: { ...settings, ...options.settings } })
  const ask = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const answer = await all.app.fetch(
      new Request(`http://svc.test/claim/${all.id}${path}`, {
        method,
        headers: { origin: PAGE, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    return { status: answer.status, headers: answer.headers, json: JSON.parse(await answer.text()) }
  }
  const buildFor = (claimer: Keypair) => ask('POST', '/sponsored-claims', { claimer: addressOf(claimer) })
  const submit = ({ id, transaction }: BuiltSponsoredClaim, claimer: Keypair) =>
    ask('POST', `/sponsored-claims/${id}/submissions`, { transaction: all.signedBy({ transaction }, claimer) })
  return { ...all, ask, buildFor, submit }
}

describe('sponsored claims of claim pages', () => {
  it('do not exist unless the daemon serves claim pages', async () => {
    const { app } = await startService({ settings: { 'claim-origins': [PAGE] } })
    for (const [method, path] of [
      ['GET', 'sponsorship'],
      ['POST', 'sponsored-claims'],
    ]) {
      const answer = await app.fetch(new Request(`http://svc.test/claim/${ABSENT}/${path}`, { method: method! }))
      expect(answer.status).toBe(404)
      expect(await answer.text()).not.toContain('reason')
    }
  })

  it('are not offered for an airdrop without a sponsorship', async () => {
    const { app } = await startService({ settings })
    const answer = await app.fetch(new Request(`http://svc.test/claim/${ABSENT}/sponsorship`))
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { details: { reason: 'not_sponsored' } } },
    ])
  })
})

describe.skipIf(lacksDistributor)('a visitor without SOL (needs the Jito merkle distributor)', () => {
  it('can claim, and can ask for a lost answer again', async () => {
    const { ask, buildFor, submit, first, tokensOf, mint, lamportsOf, platform, services, sponsorship } =
      await visited()
    const before = lamportsOf(platform)
    expect((await ask('GET', '/sponsorship')).json.data).toEqual({ available: true })
    const built = await buildFor(first)
    expect(built.json.data).toEqual({
      id: expect.stringMatching(/^spc_/),
      transaction: expect.any(String),
      fee_payer: addressOf(platform),
      lamports: String(SPONSORED_COST),
      last_valid_block_height: expect.any(Number),
    })
    const done = await submit(built.json.data, first)
    expect([done.status, done.json.data]).toEqual([200, { signature: expect.any(String), status: 'submitted' }])
    expect((await submit(built.json.data, first)).json.data).toEqual(done.json.data)
    expect([tokensOf(mint, first), before - lamportsOf(platform)]).toEqual([1_000n, SPONSORED_COST])
    const again = await buildFor(first)
    const { signature } = done.json.data
    expect([again.status, again.json.error.details]).toEqual([400, { reason: 'sponsored_already', signature }])
    expect(await sponsorship()).toMatchObject({ pending: 1 })
    const entries = await services.store.db.selectFrom('audit_entries').select(['action', 'api_key_id']).execute()
    const signed = entries.filter(({ action }) => action.startsWith('signing.'))
    expect(signed).toEqual(
      ['signing.intended', 'signing.signed'].map((action) => ({ action, api_key_id: 'claim-page' })),
    )
  })

  it('may come from the origins of the setting, and from no other', async () => {
    const { app, id, ask } = await visited()
    const preflight = (origin: string) =>
      app.fetch(
        new Request(`http://svc.test/claim/${id}/sponsored-claims`, {
          method: 'OPTIONS',
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type',
          },
        }),
      )
    const allowed = await preflight(PAGE)
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, PAGE])
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
    const { headers } = await ask('GET', '/sponsorship')
    expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([PAGE, 'no-store'])
    const { headers: api } = await app.fetch(new Request('http://svc.test/v2/health', { headers: { origin: PAGE } }))
    expect(api.get('access-control-allow-origin')).toBeNull()
  })

  it('learns nothing about the policy, the wallet or the budget', async () => {
    const { buildFor, submit, claimers, request, ok, id } = await visited()
    const [one, two] = claimers as [Keypair, Keypair]
    const built = (await buildFor(one)).json.data
    await request('PATCH', '/v2/signer/policy', { body: { lamports_per_day: '123456' } })
    const refused = await submit(built, one)
    expect([refused.status, refused.json.error.details]).toEqual([400, { reason: 'sponsor_unavailable' }])
    expect(JSON.stringify(refused.json)).not.toMatch(/123456|lamports|policy|svc /)
    await ok('PATCH', sponsorshipOf(id), { budget: '777' })
    const poor = await buildFor(two)
    expect([poor.status, poor.json.error.details]).toEqual([400, { reason: 'budget_exhausted' }])
    expect(JSON.stringify(poor.json)).not.toMatch(/777|svc /)
    await request('POST', '/v2/signer/pauses', { body: { reason: 'secret reason' } })
    expect(JSON.stringify((await buildFor(two)).json)).not.toContain('secret reason')
  })

  it('adds one entry for each rule and minute to the audit log, however often the signer refuses', async () => {
    const { app, buildFor, submit, claimers, request, clock } = await visited()
    clock.advance(60_000 - (clock.now() % 60_000))
    const one = claimers[0]!
    const built = (await buildFor(one)).json.data
    const refusals = async () =>
      (await request('GET', '/v2/audit-entries?action=signing.refused&order=asc')).json.data.map(
        ({ details, api_key_id }: { details: object; api_key_id: string }) => [api_key_id, details],
      )
    const minute = new Date(clock.now()).toISOString()
    await request('PATCH', '/v2/signer/policy', { body: { lamports_per_day: '123456' } })
    for (let n = 0; n < 5; n++) expect((await submit(built, one)).status).toBe(400)
    await request('PATCH', '/v2/signer/policy', { body: { lamports_per_day: '10000000000', destinations: [] } })
    for (let n = 0; n < 3; n++) expect((await submit(built, one)).status).toBe(400)
    expect(await refusals()).toEqual([])
    // The end of a minute writes them, and so does that of the daemon.
    await app.close()
    const operation = 'airdrop.sponsored_claim'
    const counted = [
      ['claim-page', { operation, rule: 'lamports_per_day', minute, count: 5 }],
      ['claim-page', { operation, rule: 'destination', minute, count: 3 }],
    ]
    expect(await refusals()).toEqual(counted)
    await app.close()
    expect(await refusals()).toEqual(counted)
    expect((await request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  it('has its refusals counted later if the database was busy at the end of a minute', async () => {
    const { services, request } = await startService()
    let isBusy = true
    const write: typeof services.store.write = (run) =>
      isBusy ? Promise.reject(new Error('busy')) : services.store.write(run)
    const counts = new RefusalCounts({ ...services, store: { ...services.store, write } })
    const refusal = {
      actor: { apiKeyId: 'claim-page', scopes: [] },
      signer: addressOf(Keypair.generate()),
      operation: 'airdrop.sponsored_claim',
      rule: 'destination',
    }
    for (const failing of [true, true, false]) {
      for (let n = 0; n < 2; n++) counts.add(refusal)
      isBusy = failing
      if (failing) await expect(counts.write()).rejects.toThrow('busy')
      else await counts.write()
    }
    await counts.write()
    const entries = (await request('GET', '/v2/audit-entries?action=signing.refused')).json.data
    expect(entries.map(({ details }: { details: object }) => details)).toMatchObject([{ count: 6 }])
  })

  it('gets a clear answer to any other input', async () => {
    const { ask, first, id, app } = await visited()
    const claimer = addressOf(first)
    const fault = async (body: unknown, path = '/sponsored-claims', more: Record<string, string> = {}) => {
      const { status, json } = await ask('POST', path, body, more)
      return [status, json.error.param]
    }
    expect(await fault({})).toEqual([400, 'claimer'])
    expect(await fault({ claimer: 'x' })).toEqual([400, 'claimer'])
    expect(await fault({ claimer, more: 1 })).toEqual([400, 'more'])
    expect(await fault('{')).toEqual([400, undefined])
    expect(await fault('[]')).toEqual([400, undefined])
    expect(await fault({ claimer }, '/sponsored-claims', { 'content-type': 'text/plain' })).toEqual([
      400,
      'Content-Type',
    ])
    expect(await fault(`{"claimer":"${'x'.repeat(20_000)}"}`)).toEqual([400, undefined])
    expect(await fault('['.repeat(16_000))).toEqual([400, undefined])
    expect(await fault({ transaction: 'AAAA' }, '/sponsored-claims/spc_1/submissions')).toEqual([400, 'transaction'])
    expect(await fault({ transaction: 'AAAA' }, '/sponsored-claims/.../submissions')).toEqual([400, 'claim'])
    const elsewhere = await app.fetch(
      new Request('http://svc.test/claim/x/sponsored-claims', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ claimer, id }),
      }),
    )
    expect(elsewhere.status).toBe(400)
  })

  it('gets 20 answers per minute, of any kind', async () => {
    const { ask, clock } = await visited()
    clock.advance(60_000 - (clock.now() % 60_000))
    for (let n = 0; n < 20; n++) expect((await ask('GET', '/sponsorship')).status).toBe(200)
    const { status, headers, json } = await ask('GET', '/sponsorship')
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '60'])
    expect(headers.get('access-control-allow-origin')).toBe(PAGE)
    clock.advance(60_000)
    expect((await ask('GET', '/sponsorship')).status).toBe(200)
  })
})

/** Sends a head that declares a body, and nothing more. */
function sendHead(port: number, path: string, from: string) {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    `x-forwarded-for: ${from}`,
    'content-type: application/json',
    'content-length: 100',
  ]
  const socket = connect(port, '127.0.0.1', () => socket.write(`${head.join('\r\n')}\r\n\r\n`))
  onTestFinished(() => void socket.destroy())
  const status = new Promise<number>((resolve, reject) => {
    socket.once('data', (data) => resolve(Number(String(data).split(' ')[1]))).once('error', reject)
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return { status, closed }
}

describe('requests without a key', () => {
  const clock = { now: () => 30_500 }
  const many = { perAddress: 1_000, inAll: 1_000 }
  const quick = { read: undefined, run: async () => 'done' }
  const opened = () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    return { gate, open }
  }

  it('are counted per address and in total', async () => {
    const counter = new VisitorCounter(clock, { minute: { perAddress: 3, inAll: 5 }, reading: many, running: many })
    for (let n = 0; n < 3; n++) expect(await counter.run('a', quick)).toEqual({ answer: 'done' })
    expect(await counter.run('a', quick)).toEqual({ wait: 30 })
    for (let n = 0; n < 2; n++) expect(await counter.run(`b${n}`, quick)).toEqual({ answer: 'done' })
    expect(await counter.run('c', quick)).toEqual({ wait: 30 })
  })

  it('run in parallel up to a limit per address and in total, and refused ones are not counted', async () => {
    const minute = { perAddress: 3, inAll: 6 }
    const busy = new VisitorCounter(clock, { minute, reading: many, running: { perAddress: 2, inAll: 3 } })
    const { gate, open } = opened()
    const held = { read: undefined, run: () => gate }
    const running = [busy.run('a', held), busy.run('a', held)]
    for (let n = 0; n < 9; n++) expect(await busy.run('a', quick)).toEqual({ wait: 1 })
    running.push(busy.run('b', held))
    for (let n = 0; n < 9; n++) expect(await busy.run('c', quick)).toEqual({ wait: 1 })
    open()
    await Promise.all(running)
    const failing = {
      read: undefined,
      run: async () => {
        throw new Error('x')
      },
    }
    for (let n = 0; n < 2; n++) await expect(busy.run('d', failing)).rejects.toThrow('x')
    expect(await busy.run('e', quick)).toEqual({ answer: 'done' })
    expect(await busy.run('f', quick)).toEqual({ wait: 30 })
  })

  it('take a slot only when their body has arrived; without a body they do not wait', async () => {
    const reading = { perAddress: 2, inAll: 3 }
    const counter = new VisitorCounter(clock, { minute: many, reading, running: { perAddress: 1, inAll: 1 } })
    const { gate, open } = opened()
    const slow = { read: () => gate.then(() => 'body'), run: async (body: string | undefined) => body }
    const first = [counter.run('a', slow), counter.run('a', slow)]
    expect(await counter.run('a', slow)).toEqual({ wait: 1 })
    const last = counter.run('b', slow)
    expect(await counter.run('c', slow)).toEqual({ wait: 1 })
    for (const address of ['a', 'c']) expect(await counter.run(address, quick)).toEqual({ answer: 'done' })
    open()
    const answers = await Promise.all([...first, last])
    expect(answers).toContainEqual({ answer: 'body' })
    const failing = { ...slow, read: () => Promise.reject(new Error('x')) }
    for (let n = 0; n < 9; n++) await expect(counter.run('a', failing)).rejects.toThrow('x')
    expect(await counter.run('a', slow)).toEqual({ answer: 'body' })
  })

  it('never hold more slots than exist, in any order of events', async () => {
    const limits = { minute: many, reading: { perAddress: 2, inAll: 4 }, running: { perAddress: 2, inAll: 3 } }
    const request = fc.record({ address: fc.constantFrom('a', 'b', 'c'), reads: fc.nat(3), runs: fc.nat(3) })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 40 }), async (requests) => {
        const counter = new VisitorCounter(clock, limits)
        const now = { reading: [] as string[], running: [] as string[] }
        const within = async (name: 'reading' | 'running', address: string, turns: number) => {
          now[name].push(address)
          expect(now[name].length).toBeLessThanOrEqual(limits[name].inAll)
          expect(now[name].filter((one) => one === address).length).toBeLessThanOrEqual(limits[name].perAddress)
          for (let n = 0; n < turns; n++) await new Promise(setImmediate)
          now[name].splice(now[name].indexOf(address), 1)
        }
        const all = []
        for (const { address, reads, runs } of requests) {
          const read = reads === 0 ? undefined : () => within('reading', address, reads)
          all.push(counter.run(address, { read, run: () => within('running', address, runs) }))
          if (reads === runs) await new Promise(setImmediate)
        }
        await Promise.all(all)
        for (const address of ['a', 'b', 'c']) expect(await counter.run(address, quick)).toEqual({ answer: 'done' })
      }),
      { numRuns: 50 },
    )
  })

  it('without their body do not block others, and are ended', async () => {
    const service = await startService({ settings: { ...settings, 'trusted-proxies': 1 } })
    const { port } = await listen(service)
    const path = `/claim/${ABSENT}/sponsored-claims`
    const slow = Array.from({ length: 16 }, () => sendHead(port, path, '1.2.3.4'))
    let answered = 0
    for (const { status } of slow) void status.then(() => answered++)
    await expect.poll(() => answered, { timeout: 60_000 }).toBeGreaterThanOrEqual(13)
    const ask = async (from: string, method: string, url: string, body?: string) => {
      const headers = { 'x-forwarded-for': from, 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}${url}`, { method, headers, ...(body && { body }) })
      return [
        answer.status,
        ((await answer.json()) as { error: { details?: { reason: string } } }).error.details?.reason,
      ]
    }
    const claimer = JSON.stringify({ claimer: addressOf(Keypair.generate()) })
    for (let n = 0; n < 5; n++) {
      expect(await ask('5.6.7.8', 'POST', path, claimer)).toEqual([404, 'not_sponsored'])
      expect(await ask('5.6.7.8', 'GET', `/claim/${ABSENT}/sponsorship`)).toEqual([404, 'not_sponsored'])
    }
    const statuses = await Promise.all(slow.map(({ status }) => status))
    expect(statuses.toSorted()).toEqual([...Array(3).fill(400), ...Array(13).fill(429)])
    await Promise.all(slow.map(({ closed }) => closed))
    expect(await ask('1.2.3.4', 'POST', path, claimer)).toEqual([404, 'not_sponsored'])
  })

  it('cause one warning if a proxy names addresses and no proxy is trusted', () => {
    const warnings: object[] = []
    const values = { 'trusted-proxies': 0 }
    const kernel = { config: { values }, log: { warn: (fields: object) => void warnings.push(fields) } } as never
    const asked = (headers: Record<string, string>) => {
      return visitorAddressOf({ headers: new Headers(headers), connection: '10.0.0.1' }, kernel)
    }
    expect(asked({})).toBe('10.0.0.1')
    expect(warnings).toEqual([])
    for (const forwarded of ['1.2.3.4', '5.6.7.8']) expect(asked({ 'x-forwarded-for': forwarded })).toBe('10.0.0.1')
    expect(warnings).toEqual([{ setting: 'trusted-proxies' }])
    values['trusted-proxies'] = 1
    expect(asked({ 'x-forwarded-for': '1.2.3.4' })).toBe('1.2.3.4')
  })

  it('have the address of their connection, or that from the trusted proxies', () => {
    const of = (address: string, proxies: number, forwarded?: string) => {
      const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
      return clientAddressOf({ headers: new Headers(headers), connection: address }, proxies)
    }
    expect(of('10.0.0.1', 0, '1.2.3.4')).toBe('10.0.0.1')
    expect(of('10.0.0.1', 1, '6.6.6.6, 1.2.3.4')).toBe('1.2.3.4')
    expect(of('10.0.0.1', 2, '6.6.6.6, 1.2.3.4, 5.6.7.8')).toBe('1.2.3.4')
    expect(of('10.0.0.1', 2, '1.2.3.4')).toBe('10.0.0.1')
    expect(of('10.0.0.1', 1)).toBe('10.0.0.1')
    expect(of('::ffff:1.2.3.4', 0)).toBe('1.2.3.4')
    // A port is not a part of the address, or each connection would be another visitor.
    expect(of('10.0.0.1', 1, '1.2.3.4:50001')).toBe('1.2.3.4')
    expect(of('10.0.0.1', 1, '[2001:db8:1:2::5]:50001')).toBe('2001:db8:1:2')
    expect(of('10.0.0.1', 1, '[2001:db8:1:2::5]')).toBe('2001:db8:1:2')
    expect(of('10.0.0.1', 1, '2001:db8:1:2::5')).toBe('2001:db8:1:2')
    expect(of('2001:db8:1:2:3:4:5:6', 0)).toBe('2001:db8:1:2')
    expect(of('2001:db8::6', 0)).toBe('2001:db8:0:0')
    expect(of('10.0.0.1', 1, 'x'.repeat(100))).toBe('10.0.0.1')
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.nat(8), (forwarded, proxies) => {
        expect(of('10.0.0.1', proxies, forwarded.replace(/[^\x20-\x7e]/g, '')).length).toBeLessThanOrEqual(64)
      }),
    )
  })
})
