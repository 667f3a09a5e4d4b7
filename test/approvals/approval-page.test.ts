/** The page of a proposal: its link is the only way in, its script checks the hash, and a wallet's signature is recorded. */
import { createHash } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, vi } from 'vitest'
import { keyPairOf } from '../../src/solana/signatures.ts'
import { approversOf, decide, person } from '../support/approvers.ts'
import { type PlatformService, startPlatform, submitMemo } from '../support/platform-wallet.ts'

// biome-ignore lint/suspicious/noExplicitAny: the data of answers
type Data = any

async function waiting(): Promise<{ service: PlatformService; proposal: Data; key: ReturnType<typeof keyPairOf> }> {
  const service = await startPlatform({ lamports_per_transaction: '0', lamports_per_day: '0' })
  const key = keyPairOf(Keypair.generate().secretKey.subarray(0, 32))
  await service.request('POST', '/v2/approvers', { body: { address: key.address, name: '<b>Ada</b>' } })
  await approversOf(service, 1, { lamports_per_transaction: '1000000', lamports_per_day: '1000000' })
  const { json, text } = await submitMemo(service)
  expect(json.data?.mode, text).toBe('proposed')
  return { service, proposal: json.data.proposal, key }
}

const fetched = ({ app }: PlatformService, path: string, init: RequestInit = {}) =>
  app.fetch(new Request(`http://svc.test${path}`, init))

/** Runs the page's script with a wallet of the wallet standard, and resolves with what the page shows. */
async function opened(
  service: PlatformService,
  path: string,
  key: ReturnType<typeof keyPairOf>,
  change = (html: string) => html,
) {
  const html = change(await (await fetched(service, path)).text())
  const [, data = ''] = /id="data">(.*?)<\/script>/s.exec(html) ?? []
  const [, script = ''] = /<script>(.*?)<\/script>/s.exec(html) ?? []
  const clicks = new Map<string, () => void>()
  const elements = new Map<string, Data>()
  const element = (id: string) => {
    const made = elements.get(id) ?? {
      textContent: id === 'data' ? data : '',
      children: [],
      append() {},
      replaceChildren() {},
    }
    elements.set(id, made)
    return made
  }
  const createElement = () => {
    const button = {
      textContent: '',
      addEventListener: (_: string, act: () => void) => clicks.set(button.textContent, act),
    }
    return button
  }
  const account = { address: key.address }
  const wallet = {
    name: 'Phone',
    features: {
      'standard:connect': { connect: async () => ({ accounts: [account] }) },
      'solana:signMessage': {
        signMessage: async ({ message }: { message: Uint8Array }) => [
          { signature: key.sign(Uint8Array.from(message)) },
        ],
      },
    },
  }
  runInNewContext(script, {
    document: { getElementById: element, createElement },
    addEventListener: () => undefined,
    dispatchEvent: ({ detail }: Data) => detail.register(wallet),
    CustomEvent: class {
      detail: unknown
      constructor(_: string, { detail }: { detail: unknown }) {
        this.detail = detail
      }
    },
    setTimeout: () => undefined,
    crypto,
    atob,
    TextEncoder,
    location: { href: path },
    fetch: (at: string, init: RequestInit) => fetched(service, at, init),
  })
  await vi.waitFor(() => expect(element('check').textContent).not.toBe(''))
  return { clicks, shown: (id: string): string => element(id).textContent, html }
}

describe('the page of a proposal', () => {
  it('checks the hash of the transaction, lets a wallet sign the text, and executes the act', async () => {
    const { service, proposal, key } = await waiting()
    const { page } = proposal.approver
    const answer = await fetched(service, page)
    expect(answer.status).toBe(200)
    const html = await answer.text()
    expect(html).not.toContain('<b>Ada</b>')
    const [, plan = ''] = /<pre>(.*?)<\/pre>/s.exec(html) ?? []
    expect(plan.split('\n')).toEqual(proposal.plan)
    // What the chain holds comes first.
    expect(plan).toMatch(/^fails as a whole unless\n( {2}.*\n)+instruction 0: .* \(\w+\)\n/)
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(html) ?? []
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    expect(policy).toContain("default-src 'none'")
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')

    const { clicks, shown } = await opened(service, page, key)
    expect(shown('check')).toBe('Checked here: the hash is that of the transaction.')
    clicks.get('Approve with Phone')?.()
    await vi.waitFor(() => expect(shown('state')).toBe('Recorded. The act is executed.'), { timeout: 20_000 })
    const done = (await service.request('GET', `/v2/proposals/${proposal.id}`)).json.data
    expect(done).toMatchObject({ status: 'executed', decisions: [{ approver: key.address, decision: 'approved' }] })
  })

  it('answers 429 with Retry-After to an address that asks more than 30 times a minute', async () => {
    const { service, proposal } = await waiting()
    service.clock.advance(60_000 - (service.clock.now() % 60_000))
    const { page } = proposal.approver
    for (let n = 0; n < 30; n++) expect((await fetched(service, page)).status).toBe(200)
    const refused = await fetched(service, page)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
    service.clock.advance(60_000)
    expect((await fetched(service, page)).status).toBe(200)
  })

  it('offers no button if its transaction is not the one with the hash', async () => {
    const { service, proposal, key } = await waiting()
    const other = (html: string) => html.replace(proposal.message_sha256.slice(0, 8), '00000000')
    const swapped = (html: string) => html.replace(/"message_sha256":"[0-9a-f]{8}/, '"message_sha256":"00000000')
    for (const change of [swapped, (html: string) => other(swapped(html))]) {
      const { clicks, shown } = await opened(service, proposal.approver.page, key, change)
      expect(shown('check')).toContain('Do not sign')
      expect(clicks.size).toBe(0)
    }
  })

  it('is found only with its token, and takes only signatures of approvers', async () => {
    const { service, proposal } = await waiting()
    const { page } = proposal.approver
    const [path = '', token = ''] = page.split('?token=')
    for (const link of [path, `${path}?token=${'a'.repeat(32)}`, `${path}?token=${token.slice(1)}`, `${path}?token=`]) {
      expect([400, 404]).toContain((await fetched(service, link)).status)
      expect([400, 404]).toContain((await fetched(service, link, { method: 'POST', body: '{}' })).status)
    }
    const headers = { 'content-type': 'application/json' }
    const post = (body: object) => fetched(service, page, { method: 'POST', headers, body: JSON.stringify(body) })
    const eve = person()
    expect((await post({ approver: eve.address, signature: eve.sign('x'), decision: 'approved' })).status).toBe(400)
    expect((await post({ approver: eve.address, signature: 'x'.repeat(5_000), decision: 'approved' })).status).toBe(400)
    expect((await post({ approver: eve.address, signature: eve.sign('x'), decision: 'cancelled' })).status).toBe(400)
    const statuses: number[] = []
    for (let i = 0; i < 40; i++) statuses.push((await fetched(service, page)).status)
    expect(statuses).toContain(429)
    expect(await (await decide(service, proposal, eve)).status).toBe(400)
  })
})
