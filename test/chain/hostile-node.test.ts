/** A node that hangs or asks to be left alone: no call waits longer than ten seconds, and Retry-After holds for all of them. */
import { Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Chain, openChain } from '../../src/chain/connection.ts'
import { createRetry, nodeTiming } from '../../src/chain/nodes/retry.ts'
import { rpcText } from '../../src/chain/program-cache/rpc.ts'
import { relayOf } from '../../src/chain/sending/relay.ts'
import { preflight } from '../../src/chain/sending/send.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { retryAfterMs } from '../../src/platform/timing.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { HANGS, type HostileNode, openHostileNode } from '../support/hostile-node.ts'
import { startService, temporaryFolder } from '../support/service.ts'

function chainAt(node: HostileNode, settings: Record<string, string> = {}, ending?: AbortSignal) {
  const dataDir = temporaryFolder()
  const config = loadConfig({ flags: { 'data-dir': dataDir, url: node.url, ...settings }, env: {}, cwd: dataDir })
  const chain = openChain(config, ending === undefined ? {} : { ending })
  onTestFinished(() => chain.close())
  return { chain, config }
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.unreachable('it succeeded'),
    (error: Error) => error,
  )
}

const slotOf = (chain: Chain) => chain.call('getSlot', [])

describe('a node that hangs', () => {
  it('after accept, after the headers or in the body fails a call with a clear message', async () => {
    const failures = await Promise.all(
      HANGS.map(async (where) => {
        const node = await openHostileNode({ kind: 'hangs', where })
        const { chain } = chainAt(node)
        const failure = await failureOf(slotOf(chain))
        return { where, message: failure.message, label: chain.cluster.label }
      }),
    )
    for (const { where, message, label } of failures) {
      expect(message, where).toContain(`The RPC node of ${label}, from `)
      expect(message, where).toContain(`, cannot be reached (no answer in time)`)
    }
  })

  it('fails its calls at once when the process ends, however it hangs', async () => {
    for (const where of HANGS) {
      const node = await openHostileNode({ kind: 'hangs', where })
      const ender = new AbortController()
      const { chain } = chainAt(node, {}, ender.signal)
      const failed = failureOf(slotOf(chain))
      await expect.poll(() => node.asked.length).toBe(1)
      ender.abort()
      expect((await failed).message).toMatch(/cannot be reached \(the service is shutting down\)$/)
      expect((await failureOf(slotOf(chain))).message).toContain('the service is shutting down')
      expect(node.asked).toHaveLength(1)
    }
  })
})

describe('a node that answers 429 with Retry-After', () => {
  it('gets no requests before that time: calls that cannot wait so long fail at once', async () => {
    const node = await openHostileNode({ kind: 'busy', retryAfter: '60' })
    const { chain } = chainAt(node)
    const said = /The RPC node of .+ asks to be left alone for another [56]\d s \(Retry-After\): try again then$/
    expect((await failureOf(slotOf(chain))).message).toMatch(said)
    const failures = await Promise.all(Array.from({ length: 10 }, () => failureOf(slotOf(chain))))
    // None of them waited: the minute has just begun for each.
    for (const { message } of failures) expect(message).toMatch(said)
    expect(node.asked).toHaveLength(1)
  })

  it('has its time passed on, by one node and by a pool of which every node asks for a pause', async () => {
    const [node, other] = [
      await openHostileNode({ kind: 'busy', retryAfter: '60' }),
      await openHostileNode({ kind: 'busy', retryAfter: '30' }),
    ]
    const alone = (await failureOf(slotOf(chainAt(node).chain))) as ApiError
    expect([59, 60]).toContain(alone.retryAfter)
    const { chain } = chainAt(node, { url: 'devnet', 'rpc-urls': `${node.url},${other.url}` })
    const together = (await failureOf(slotOf(chain))) as ApiError
    expect(together.message).toContain('None of the 2 RPC endpoints')
    expect([29, 30]).toContain(together.retryAfter)
  })

  it('has its time passed on after the last try too, and none that it did not ask for', async () => {
    let now = 0
    const wait = async (milliseconds: number) => {
      now += milliseconds
    }
    const busy = (headers: Record<string, string>) =>
      createRetry(
        'The node',
        nodeTiming({ elapsed: () => now, wait }),
      )(async () => new Response('', { status: 429, headers }))
    const asked = (await failureOf(busy({ 'retry-after': '2' }))) as ApiError
    expect([asked.retryAfter, now]).toEqual([2, 6_000])
    expect((await busy({})).status).toBe(429)
  })

  it('is answered by the service with Retry-After', async () => {
    const node = await openHostileNode({ kind: 'busy', retryAfter: '60' })
    const { request } = await startService({ settings: { url: node.url } })
    const { status, headers, json } = await request('GET', `/v2/accounts/${'1'.repeat(32)}`)
    expect([status, json.error.code]).toEqual([500, 'internal_error'])
    expect(['59', '60']).toContain(headers.get('retry-after'))
  })

  // A busy machine may make the other calls before the refusal has arrived.
  it('is asked again after that time, for all waiting calls', { retry: 2 }, async () => {
    const node = await openHostileNode({ kind: 'busy', retryAfter: '1' })
    const { chain } = chainAt(node)
    const first = slotOf(chain)
    await expect.poll(() => node.asked.length).toBe(1)
    node.behaviour = { kind: 'answers' }
    const others = Array.from({ length: 5 }, () => slotOf(chain))
    expect(await Promise.all([first, ...others])).toEqual(Array(6).fill(9))
    const [refused, ...later] = node.asked.map(({ at }) => at)
    expect(Math.min(...later) - refused!).toBeGreaterThanOrEqual(950)
  })

  it('is obeyed for five minutes at most, whatever it says', async () => {
    let now = 0
    const busy = async () => new Response(null, { status: 503, headers: { 'retry-after': '86400' } })
    const wait = async (milliseconds: number) => {
      now += milliseconds
    }
    const retry = createRetry('The node', nodeTiming({ elapsed: () => now, wait }))
    expect((await failureOf(retry(busy))).message).toContain('for another 300 s')
    now = 299_000
    // By then its time is near, and a call waits for the rest.
    expect((await failureOf(retry(busy))).message).toContain('for another 300 s')
  })

  it('may give the time as a date', () => {
    const now = Date.UTC(2026, 0, 1)
    const of = (text: string) => retryAfterMs(new Headers({ 'retry-after': text }), now)
    expect([of('3'), of(' 120 '), of('0')]).toEqual([3_000, 120_000, 0])
    expect([of(new Date(now + 7_000).toUTCString()), of(new Date(now - 7_000).toUTCString())]).toEqual([7_000, 0])
    expect([of('soon'), of('-5'), of(''), retryAfterMs(new Headers())]).toEqual([null, null, null, null])
  })
})

it('a relay that answers 429 with Retry-After gets no bundles before that time', async () => {
  const relay = await openHostileNode({ kind: 'busy', retryAfter: '60' })
  const { chain, config } = chainAt(await openHostileNode({ kind: 'answers' }), { 'relay-url': relay.url })
  const send = () => failureOf(relayOf(config, chain).send([new Uint8Array(64)]))
  for (const _ of [1, 2, 3]) expect((await send()).message).toContain('The relay asks to be left alone for another')
  expect(relay.asked).toHaveLength(1)
})

describe('a transaction whose blockhash the node does not know', () => {
  const trying = async (newest: { blockhash: string; lastValidBlockHeight: number }, height: number) => {
    const payer = Keypair.generate()
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: OWN, instructions: [] })
    const built = new VersionedTransaction(message.compileToV0Message())
    built.sign([payer])
    const answers: Record<string, unknown> = {
      simulateTransaction: { context: { slot: 9 }, value: { err: 'BlockhashNotFound', logs: [] } },
      getSignatureStatuses: { context: { slot: 9 }, value: [null] },
      getLatestBlockhash: { context: { slot: 9 }, value: newest },
      getBlockHeight: height,
    }
    const call = async (method: string) => answers[method] as never
    const node = { call, cluster: { label: 'node.example.com' } }
    return (await failureOf(preflight(node, decodeWireTransaction(built.serialize()), 'transaction'))) as ApiError
  }
  const OWN = '9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY'
  const OTHER = 'CK3KxN1GyAdrcC5RQHmyBXUkg4qn3pPHp6GHrtM4RAK4'

  it('blames the node that hands out that blockhash, or one that is over', async () => {
    for (const [newest, height] of [
      [{ blockhash: OWN, lastValidBlockHeight: 150 }, 10],
      [{ blockhash: OTHER, lastValidBlockHeight: 150 }, 151],
    ] as const) {
      const { code, message } = await trying(newest, height)
      expect(code).toBe('internal_error')
      expect(message).toMatch(
        /^The RPC node of node\.example\.com does not accept the newest blockhash .* stuck or behind/,
      )
    }
  })

  it('has expired if the node has a newer one', async () => {
    const { code, message } = await trying({ blockhash: OTHER, lastValidBlockHeight: 150 }, 150)
    expect([code, message]).toEqual(['bad_request', expect.stringContaining('has expired or is of another cluster')])
  })
})

describe('a node that redirects', () => {
  it('is not followed, so that headers of the endpoint reach no other host', async () => {
    const other = await openHostileNode({ kind: 'answers' })
    const node = await openHostileNode({ kind: 'redirects', to: other.url })
    const dataDir = temporaryFolder()
    const endpoints = JSON.stringify([{ url: node.url, headers: { 'x-api-key': 's3cret' } }])
    const config = loadConfig({ flags: { 'data-dir': dataDir }, env: { SVC_RPC_URLS: endpoints }, cwd: dataDir })
    const chain = openChain(config)
    onTestFinished(() => chain.close())
    expect((await failureOf(slotOf(chain))).message).toMatch(/answers HTTP 307/)
    const probe = await rpcText(node.url, 'getSlot', [], { headers: { 'x-api-key': 's3cret' } })
    expect(probe).toMatchObject({ fault: 'the RPC node answers 307' })
    expect([node.asked.length, other.asked.length]).toEqual([2, 0])
  })
})
