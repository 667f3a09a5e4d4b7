/** What a claim page asks for its visitors, without a key: the same sponsored claims, bounded, and without the operator's figures. */
import type { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientAddressOf, noteClientAddress } from '../../daemon/client-address.ts'
import { VisitorCounter } from '../../daemon/limits/visitors.ts'
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

describe('the sponsored claims of pages', () => {
  it('are not there unless the daemon serves claim pages', async () => {
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
  it('claims, and a lost answer is asked for again', async () => {
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
    expect([again.status, again.json.error.details]).toEqual([409, { reason: 'sponsored_already', signature }])
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

  it('is told nothing of the policy, the wallet or the budget', async () => {
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

  it('gets a clear answer to anything else that is sent', async () => {
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

  it('gets 20 answers a minute, whatever they are', async () => {
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

describe('requests without a key', () => {
  it('are counted for each address and in all, and few run at once', async () => {
    const clock = { now: () => 30_500 }
    const limits = { perAddress: 3, inAll: 5, atOnce: 2 }
    const quick = async () => 'done'
    const counter = new VisitorCounter(clock, limits)
    for (let n = 0; n < 3; n++) expect(await counter.run('a', quick)).toEqual({ answer: 'done' })
    expect(await counter.run('a', quick)).toEqual({ wait: 30 })
    for (let n = 0; n < 2; n++) expect(await counter.run(`b${n}`, quick)).toEqual({ answer: 'done' })
    expect(await counter.run('c', quick)).toEqual({ wait: 30 })
    const busy = new VisitorCounter(clock, limits)
    let free = () => {}
    const held = new Promise<void>((resolve) => {
      free = resolve
    })
    const running = [busy.run('a', () => held), busy.run('b', () => held)]
    expect(await busy.run('c', quick)).toEqual({ wait: 1 })
    free()
    await Promise.all(running)
    const failing = async () => {
      throw new Error('x')
    }
    for (let n = 0; n < 2; n++) await expect(busy.run('d', failing)).rejects.toThrow('x')
    expect(await busy.run('e', quick)).toEqual({ answer: 'done' })
  })

  it('come from the connection, or from where the believed proxies say', () => {
    const of = (address: string, proxies: number, forwarded?: string) => {
      const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
      const request = new Request('http://svc.test/', { headers })
      noteClientAddress(request, address)
      return clientAddressOf(request, proxies)
    }
    expect(of('10.0.0.1', 0, '1.2.3.4')).toBe('10.0.0.1')
    expect(of('10.0.0.1', 1, '6.6.6.6, 1.2.3.4')).toBe('1.2.3.4')
    expect(of('10.0.0.1', 2, '6.6.6.6, 1.2.3.4, 5.6.7.8')).toBe('1.2.3.4')
    expect(of('10.0.0.1', 2, '1.2.3.4')).toBe('10.0.0.1')
    expect(of('10.0.0.1', 1)).toBe('10.0.0.1')
    expect(of('::ffff:1.2.3.4', 0)).toBe('1.2.3.4')
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
