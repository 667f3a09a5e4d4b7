/** Several RPC endpoints: which of them is asked, what counts as an answer, and what is left alone for how long. */
import { base58 } from '@scure/base'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inOrder, PoolEndpoint } from '../../src/chain/nodes/endpoint.ts'
import { bodyOf } from '../../src/chain/nodes/node-call.ts'
import { nodeLine } from '../../src/chain/nodes/node-line.ts'
import { MOST_LAG_SLOTS, SlotBook } from '../../src/chain/nodes/slot-book.ts'
import { shapeRedactor } from '../../src/settings/redaction.ts'
import type { Commitment } from '../../src/solana/constants.ts'
import { askedOf, type Call, hang, http, rpcError, scriptedNode, scriptedPool } from '../support/scripted-nodes.ts'

const only = (method: string, fault: (call: Call) => Response | Promise<Response>) => (call: Call) =>
  call.method === method ? fault(call) : undefined
/** Genesis hash of another chain. */
const FOREIGN = 'F'.repeat(32)
const three = () => [scriptedNode(), scriptedNode(), scriptedNode()]
const BALANCE = ['Addr', { commitment: 'processed' }]
/** The node that is asked first. */
const firstOf = async (
  nodes: ReturnType<typeof three>,
  ask: (method: string, params?: unknown[]) => Promise<unknown>,
) => {
  await ask('getBalance', BALANCE)
  return nodes.findIndex(({ asked }) => asked.some(({ method }) => method === 'getBalance'))
}

describe('a read from a pool of endpoints', () => {
  it.each([
    [
      'the connection breaks',
      () => Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })),
    ],
    ['HTTP 500', http(500)],
    ['HTTP 503 in HTML', http(503, '<html>')],
    ['HTTP 401, as of a key that is no longer valid', http(401, 'no')],
    ['HTTP 401 with a JSON-RPC error', http(401, '{"jsonrpc":"2.0","id":1,"error":{"code":-32401,"message":"no"}}')],
    ['HTTP 403 with a JSON-RPC error', http(403, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}')],
    ['HTTP 405, as of a plan without it', http(405, '{"id":1,"error":{"code":-32601,"message":"no"}}')],
    ['a body that ends too soon', http(200, '{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":1000},"val')],
    ['JSON that is not JSON-RPC', http(200, '{"ok":true}')],
    ['a result without its parts', http(200, '{"jsonrpc":"2.0","id":1,"result":null}')],
    ['429', http(429)],
    ['-32005, the node is behind', rpcError(-32005)],
    ['-32016, the node has not reached the slot', rpcError(-32016)],
    ['-32603, an internal error', rpcError(-32603)],
    ['-32601, a method that it does not have', rpcError(-32601)],
  ])('goes to the next endpoint at once after %s', async (_, fault) => {
    const nodes = three()
    const { ask, clock } = scriptedPool(nodes)
    const first = await firstOf(nodes, ask)
    nodes[first]!.fault = only('getBalance', fault)
    const before = clock.elapsed()
    expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { value: 7 } })
    expect([clock.elapsed() - before, askedOf(nodes, 'getBalance').reduce((a, b) => a + b)]).toEqual([0, 3])
  })

  it.each([
    ['getMultipleAccounts', [['A', 'B']], [null]],
    ['getSignatureStatuses', [['A']], []],
    ['getLatestBlockhash', [], {}],
    ['isBlockhashValid', ['A'], null],
    ['simulateTransaction', ['AA=='], { logs: [] }],
  ])('of %s goes to the next endpoint if an answer lacks a part', async (method, params, value) => {
    const nodes = three()
    for (const node of nodes) node.results[method] = () => ({ context: { slot: 1_000 }, value })
    const { ask } = scriptedPool(nodes)
    await expect(ask(method, params)).rejects.toThrow('its answer is incomplete')
    expect(Math.min(...askedOf(nodes, method))).toBeGreaterThan(0)
  })

  it.each([-32002, -32003, -32602, -32015, -32007, 42])(
    'treats JSON-RPC error %i as an answer about the request, and asks no other endpoint',
    async (code) => {
      const nodes = three()
      const { ask } = scriptedPool(nodes)
      for (const node of nodes) node.fault = only('getBalance', rpcError(code))
      expect(await ask('getBalance', BALANCE)).toMatchObject({ error: { code } })
      expect(askedOf(nodes, 'getBalance').reduce((a, b) => a + b)).toBe(1)
    },
  )

  it('treats a JSON-RPC error with HTTP 400 as an answer about the request', async () => {
    const nodes = three()
    const { ask } = scriptedPool(nodes)
    const refusal = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}'
    for (const node of nodes) node.fault = only('getBalance', http(400, refusal))
    expect(await ask('getBalance', BALANCE)).toMatchObject({ error: { code: -32602 } })
    expect(askedOf(nodes, 'getBalance').reduce((a, b) => a + b)).toBe(1)
  })

  it('passes a hanging endpoint after half to three quarters of a second, and counts it as failing', async () => {
    const nodes = three()
    const { ask, clock, idle, pool } = scriptedPool(nodes)
    const first = await firstOf(nodes, ask)
    nodes[first]!.fault = only('getBalance', hang)
    const answer = ask('getBalance', BALANCE)
    await idle()
    clock.advance(499)
    await idle()
    expect(askedOf(nodes, 'getBalance').reduce((a, b) => a + b)).toBe(2)
    clock.advance(251)
    expect(await answer).toMatchObject({ result: { value: 7 } })
    expect(pool.reports()[first]).toMatchObject({ lastError: 'no answer in time', state: 'ok' })
  })

  it('says why each endpoint fails, by host and position and without a key', async () => {
    const nodes = three()
    const { ask } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    for (const node of nodes) node.fault = http(502)
    const failure = await ask('getBalance', BALANCE).catch((error: Error) => error.message)
    expect(failure).toMatch(
      /^None of the 3 RPC endpoints of the test answers \(n0\.test#1: it answers HTTP 502; n1\.test#2: .+; n2\.test#3: .+\)$/,
    )
    expect(failure).not.toContain('TOPSECRET')
  })

  it('that every endpoint refuses equally ends with that refusal after one round', async () => {
    const nodes = three()
    for (const node of nodes) node.fault = only('getAsset', rpcError(-32601))
    const { ask, clock } = scriptedPool(nodes)
    const before = clock.elapsed()
    expect(await ask('getAsset')).toMatchObject({ error: { code: -32601 } })
    expect([clock.elapsed() - before, askedOf(nodes, 'getAsset')]).toEqual([0, [1, 1, 1]])
  })

  it('with a blockhash that one node has not seen runs at another', async () => {
    const nodes = three()
    const run = (err: unknown) => () => ({ context: { slot: 1_000 }, value: { err, logs: [] } })
    for (const node of nodes) node.results.simulateTransaction = run('BlockhashNotFound')
    const { ask } = scriptedPool(nodes)
    expect(await ask('simulateTransaction', ['AA=='])).toMatchObject({
      result: { value: { err: 'BlockhashNotFound' } },
    })
    nodes[1]!.results.simulateTransaction = run(null)
    expect(await ask('simulateTransaction', ['AA=='])).toMatchObject({ result: { value: { err: null } } })
  })
})

describe('an endpoint', () => {
  it('that asks for a pause gets no calls until then, and for five minutes at most', async () => {
    const nodes = [scriptedNode(), scriptedNode()]
    const { ask, clock, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[0]!.fault = http(429, '', { 'retry-after': '86400' })
    for (let i = 0; i < 40; i++) await ask('getBalance', BALANCE)
    await ask('getSlot', [{ commitment: 'processed' }])
    clock.advance(6_000)
    for (let i = 0; i < 5; i++) await ask('getBalance', BALANCE)
    await pool.settled()
    const asked = nodes[0]!.asked.length
    clock.advance(290_000)
    await ask('getBalance', BALANCE)
    await pool.settled()
    expect([nodes[0]!.asked.length, pool.reports()[0]?.state]).toEqual([asked, 'paused'])
    nodes[0]!.fault = undefined
    clock.advance(10_001)
    expect(pool.reports()[0]?.state).toBe('ok')
  })

  it('that fails three times in a row is paused, with pauses that double up to a minute', async () => {
    const nodes = three()
    const { ask, clock, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[1]!.fault = http(500)
    const tries: number[] = []
    let asked = nodes[1]!.asked.length
    for (let i = 0; i < 200_000; i += 250) {
      await ask('getBalance', BALANCE)
      await pool.settled()
      if (nodes[1]!.asked.length > asked && pool.reports()[1]?.state === 'down') tries.push(clock.elapsed())
      asked = nodes[1]!.asked.length
      clock.advance(250)
    }
    const pauses = tries.slice(1).map((at, i) => Math.round((at - tries[i]!) / 1_000))
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    nodes[1]!.fault = undefined
    clock.advance(60_000)
    await ask('getBalance', BALANCE)
    await pool.settled()
    expect(pool.reports()[1]).toMatchObject({ state: 'ok' })
  })

  it('is reported once when it fails and once when it returns', async () => {
    const nodes = three()
    const { ask, clock, pool, changes } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    await pool.settled()
    nodes[1]!.fault = http(500)
    for (let i = 0; i < 30; i++) {
      await ask('getBalance', BALANCE)
      clock.advance(1_000)
      await pool.settled()
    }
    nodes[1]!.fault = undefined
    clock.advance(60_000)
    await ask('getBalance', BALANCE)
    await pool.settled()
    const own = changes.filter(({ endpoint }) => endpoint === 'n1.test#2').map(({ state }) => state)
    expect(own).toEqual(['ok', 'down', 'ok'])
    expect(changes).toHaveLength(5)
  })

  it('of another chain is never used, is named, and is asked again for its chain', async () => {
    const nodes = [scriptedNode(), scriptedNode({ genesis: FOREIGN }), scriptedNode()]
    const { ask, clock, pool } = scriptedPool(nodes)
    for (let i = 0; i < 20; i++) {
      await ask('getBalance', BALANCE)
      clock.advance(10_000)
      await pool.settled()
    }
    expect(askedOf(nodes, 'getBalance')[1]).toBe(0)
    expect(pool.reports()[1]).toMatchObject({ endpoint: 'n1.test#2', state: 'wrong-chain', genesis: FOREIGN })
    expect(askedOf(nodes, 'getGenesisHash')[1]).toBeGreaterThan(2)
    nodes[1]!.genesis = nodes[0]!.genesis
    clock.advance(60_000)
    await ask('getBalance', BALANCE)
    await pool.settled()
    expect(pool.reports()[1]?.state).toBe('ok')
  })

  it('that returns with another chain is not used again', async () => {
    const nodes = three()
    const { ask, clock, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[2]!.fault = http(500)
    for (let i = 0; i < 20; i++) {
      await ask('getBalance', BALANCE)
      clock.advance(1_000)
      await pool.settled()
    }
    nodes[2]!.fault = undefined
    nodes[2]!.genesis = FOREIGN
    const before = askedOf(nodes, 'getBalance')[2]
    clock.advance(60_000)
    for (let i = 0; i < 20; i++) await ask('getBalance', BALANCE)
    await pool.settled()
    expect([askedOf(nodes, 'getBalance')[2], pool.reports()[2]?.state]).toEqual([before, 'wrong-chain'])
  })

  it('must belong to the public cluster of url, even if all others do not', async () => {
    const nodes = [
      scriptedNode({ genesis: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }),
      scriptedNode(),
      scriptedNode(),
    ]
    const { ask } = scriptedPool(nodes, { kind: 'devnet' })
    for (let i = 0; i < 10; i++) await ask('getBalance', BALANCE)
    expect(askedOf(nodes, 'getBalance')).toEqual([10, 0, 0])
    nodes[0]!.fault = http(500)
    await expect(ask('getBalance', BALANCE)).rejects.toThrow(/n1\.test#2: it is of another chain \(genesis HhNN/)
  })

  it('that passes a check is used at once by a request that finds no other', async () => {
    const nodes = three()
    const { ask, clock } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    for (const node of nodes) node.fault = http(500)
    await expect(ask('getBalance', BALANCE)).rejects.toThrow('it answers HTTP 500')
    clock.advance(10_000)
    for (const node of nodes) node.fault = undefined
    const before = clock.elapsed()
    expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { value: 7 } })
    expect(clock.elapsed()).toBe(before)
  })

  it('of another chain makes no other look late, though its slots are far ahead', async () => {
    const genesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
    const nodes = [scriptedNode({ genesis }), scriptedNode({ genesis, slot: 1_001 })]
    const { ask, clock, pool } = scriptedPool(nodes, { kind: 'devnet' })
    await ask('getBalance', BALANCE)
    nodes[1]!.fault = http(500)
    const rounds = async () => {
      for (let i = 0; i < 20; i++) {
        await ask('getBalance', BALANCE)
        clock.advance(4_000)
        await pool.settled()
      }
    }
    await rounds()
    // It returns as an endpoint of another chain.
    Object.assign(nodes[1]!, { fault: undefined, genesis: FOREIGN, slot: 9_000_000 })
    await rounds()
    expect(pool.reports().map(({ state }) => state)).toEqual(['ok', 'wrong-chain'])
  })

  it('is not chosen if two disagree about the chain and no setting says which is meant', async () => {
    const nodes = [scriptedNode(), scriptedNode({ genesis: FOREIGN })]
    const { ask } = scriptedPool(nodes)
    await expect(ask('getBalance', BALANCE)).rejects.toThrow(
      /must agree which chain.*n0\.test#1: genesis HhNN.*n1\.test#2: genesis F{32}\): set url to the name of the/,
    )
    expect(askedOf(nodes, 'getBalance')).toEqual([0, 0])
  })

  it.each(['', 'x'.repeat(100_000), `${FOREIGN}\u001b[31m`, `${FOREIGN}0`])(
    'whose genesis hash is not a hash is not used, and its text is not shown',
    async (genesis) => {
      const nodes = [scriptedNode({ genesis }), scriptedNode(), scriptedNode()]
      const { ask, pool } = scriptedPool(nodes)
      await ask('getBalance', BALANCE)
      await pool.settled()
      const lastError = 'it does not say which chain it is of'
      expect(pool.reports()[0]).toMatchObject({ state: 'down', genesis: null, lastError })
    },
  )

  it('that is the only one to answer is not trusted about the chain, unless url names it', async () => {
    const genesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
    const nodes = [scriptedNode({ genesis }), scriptedNode({ fault: http(500) }), scriptedNode({ fault: http(500) })]
    await expect(scriptedPool(nodes).ask('getBalance', BALANCE)).rejects.toThrow(/More than half .* must agree/)
    const { ask } = scriptedPool(nodes, { kind: 'devnet' })
    expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { value: 7 } })
  })

  it('that is further behind than others gets no calls, and its answers do not count', async () => {
    const nodes = three()
    const { ask, clock, pool } = scriptedPool(nodes)
    const late = await firstOf(nodes, ask)
    for (const [i, node] of nodes.entries()) if (i !== late) node.slot += 100
    // After a while without requests, no endpoint is trusted before the others were asked how far they are.
    clock.advance(15_000)
    for (let i = 0; i < 20; i++) {
      clock.advance(1_000)
      expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { context: { slot: 1_100 } } })
    }
    await pool.settled()
    expect(pool.reports()[late]).toMatchObject({ state: 'behind', slotLag: 100 })
    nodes[late]!.slot = 1_100 - MOST_LAG_SLOTS
    clock.advance(6_000)
    await ask('getBalance', BALANCE)
    await pool.settled()
    expect(pool.reports()[late]).toMatchObject({ state: 'ok', slotLag: MOST_LAG_SLOTS })
  })

  it('that is down and hangs holds up no request after a while without any', async () => {
    const nodes = [scriptedNode(), scriptedNode()]
    const { ask, clock, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[1]!.fault = http(500)
    for (let i = 0; i < 3; i++) await pool.witnesses(({ call }) => call('getBalance', BALANCE))
    expect(pool.reports()[1]?.state).toBe('down')
    nodes[1]!.fault = hang
    clock.advance(30_000)
    const answer = ask('getBalance', BALANCE)
    let isChecked = false
    const checked = pool.settled().then(() => {
      isChecked = true
    })
    expect([await answer, isChecked]).toMatchObject([{ result: { value: 7 } }, false])
    await checked
  })

  it('that is behind is not asked for what names no slot, while another is sound', async () => {
    const nodes = [scriptedNode(), scriptedNode({ slot: 900 })]
    const { ask, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    await pool.settled()
    const faults = [http(500), http(500)]
    nodes[0]!.fault = only('getTransaction', (call) => faults.pop()?.() ?? rpcError(-32602)(call))
    expect(await ask('getTransaction', ['Sig'])).toMatchObject({ error: { code: -32602 } })
    faults.push(http(500))
    const scan = bodyOf({ method: 'getTransaction', params: [] })
    await expect(pool.stream(scan, AbortSignal.timeout(60_000))).rejects.toThrow('it answers HTTP 500')
    expect(askedOf(nodes, 'getTransaction')).toEqual([4, 0])
  })

  it('that is behind is recognised at a commitment that was not asked before', async () => {
    const nodes = three()
    const { ask } = scriptedPool(nodes)
    const first = await firstOf(nodes, ask)
    nodes[first]!.slot = 900
    const read = await ask('getBalance', ['Addr', { commitment: 'confirmed' }])
    expect(read).toMatchObject({ result: { context: { slot: 1_000 } } })
  })

  it('that names an impossible slot does not make the others look late', async () => {
    const nodes = three()
    const { ask, clock, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[1]!.slot = 5_000_000
    for (let i = 0; i < 60; i++) {
      expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { context: { slot: 1_000 } } })
      clock.advance(300)
    }
    await pool.settled()
    expect(pool.reports().map(({ state }) => state)).toEqual(['ok', 'ok', 'ok'])
    // It may have come so far while the others lag: hours later they do not follow, and it is not trusted.
    expect(pool.reports()[1]?.lastError).toBe('it names a slot far beyond that of every other endpoint')
  })
})

it('an endpoint that claims more with every answer does not push the others out of the pool', async () => {
  const nodes = three()
  const { ask, clock, pool } = scriptedPool(nodes)
  await ask('getBalance', BALANCE)
  for (let i = 0; i < 400; i++) {
    nodes[1]!.slot += 140
    await pool.settled()
    for (const honest of [nodes[0]!, nodes[2]!]) honest.slot += i % 4 === 0 ? 1 : 0
    await ask('getBalance', BALANCE)
    clock.advance(100)
  }
  // It is gone, and what it claimed does not outlive it.
  nodes[1]!.fault = http(500)
  for (let i = 0; i < 3; i++) {
    clock.advance(6_000)
    await ask('getBalance', BALANCE)
    await pool.settled()
  }
  expect(pool.reports().map(({ state }) => state)).toEqual(['ok', 'down', 'ok'])
})

it.each([200, 19_000])('an endpoint that alone has been %i slots ahead is trusted from then on', (lead) => {
  const book = new SlotBook()
  const start = 1_000
  for (const by of ['a', 'b', 'c']) book.note(by, 'processed', start, { marks: book.marks(), now: 0 })
  const fits: string[] = []
  for (let now = 5_500; now < 60_000; now += 500) {
    const told = (by: string, slot: number) => book.note(by, 'processed', slot, { marks: book.marks(), now })
    for (const by of ['a', 'b']) told(by, start)
    fits.push(told('c', start + lead + now / 250))
  }
  expect([...new Set(fits)]).toEqual(['incredible', 'current'])
  expect(fits.lastIndexOf('incredible')).toBe(3)
})

it('a bank of a later commitment moves the tip too, because the newest one is never behind it', () => {
  const book = new SlotBook()
  const told = (commitment: 'processed' | 'finalized', slot: number) =>
    book.note('a', commitment, slot, { marks: book.marks(), now: 0 })
  expect([told('processed', 1_000), told('finalized', 968), book.tip]).toEqual(['current', 'current', 1_000])
  expect([told('finalized', 1_040), book.tip]).toEqual(['current', 1_040])
})

/** A book, and what it says of the slot that an endpoint tells at a time. */
function bookWith() {
  const book = new SlotBook()
  const told = (by: string, slot: number, now: number, commitment: Commitment = 'processed') =>
    book.note(by, commitment, slot, { marks: book.marks(), now })
  return { book, told }
}

it('an endpoint of two that is too far ahead is not trusted while the other answers', () => {
  const book = new SlotBook()
  const told = (by: string, slot: number, now: number) => book.note(by, 'processed', slot, { marks: book.marks(), now })
  told('a', 1_000, 0)
  told('b', 1_000, 0)
  const fits = Array.from({ length: 60 }, (_, i) => {
    const now = 5_000 + 500 * i
    return [told('b', 90_000 + i, now), told('a', 1_020 + i, now)]
  })
  expect(new Set(fits.map(String))).toEqual(new Set(['incredible,current']))
  expect(book.tip).toBe(1_079)
})

it('an endpoint of two that is too far ahead is not trusted while the other answers what is final', () => {
  const { book, told } = bookWith()
  for (const by of ['a', 'b']) told(by, 1_000, 0)
  expect(told('b', 90_000, 5_000)).toBe('incredible')
  expect(told('a', 980, 6_000, 'finalized')).toBe('current')
  expect([told('b', 90_010, 8_000), book.tip]).toEqual(['incredible', 1_000])
})

it('an endpoint of two that is hours behind from the start does not hold the other up', () => {
  const book = new SlotBook()
  const told = (by: string, slot: number, now: number) => book.note(by, 'processed', slot, { marks: book.marks(), now })
  told('a', 1_000, 0)
  told('b', 90_000, 1)
  const fits = Array.from({ length: 60 }, (_, i) => [told('b', 90_010 + i, 500 * i), told('a', 1_010 + i, 500 * i)])
  expect(new Set(fits.map(String))).toEqual(new Set(['current,behind']))
})

it('an endpoint of two that falls hours behind, or comes hours late, does not stop the other', () => {
  const { told } = bookWith()
  told('a', 50_000, 0)
  const fits = Array.from({ length: 300 }, (_, i) => {
    const now = 5_000 + 1_000 * i
    const slots = { a: 50_010 + 3 * i, b: i > 100 && i < 200 ? 50_010 + 3 * i : 1 }
    return [told('b', slots.b, now), told('a', slots.a, now + 1)]
  })
  expect(new Set(fits.map(([, a]) => a))).toEqual(new Set(['current']))
  expect(new Set(fits.slice(200).map(([b]) => b))).toEqual(new Set(['behind']))
})

it('an endpoint that comes hours late does not stop the last of two that is left', () => {
  const { told } = bookWith()
  for (const by of ['a', 'b']) told(by, 50_000, 0)
  const fits = Array.from({ length: 300 }, (_, i) => {
    told('c', 1, 20_000 + 1_000 * i)
    return told('a', 50_060 + 3 * i, 20_001 + 1_000 * i)
  })
  expect(new Set(fits)).toEqual(new Set(['current']))
})

it('an endpoint that is ahead from the start stays ahead', () => {
  const { book, told } = bookWith()
  for (const [by, slot] of [
    ['c', 1_500],
    ['a', 1_000],
    ['b', 1_000],
  ] as const)
    told(by, slot, 0)
  for (let now = 5_000; now < 60_000; now += 5_000) {
    const [a, b, c] = [1_000, 1_000, 1_500].map((slot) => slot + now / 250)
    expect([told('a', a!, now), told('b', b!, now), told('c', c!, now)]).toEqual(['behind', 'behind', 'current'])
    expect(book.tip).toBe(c)
  }
})

it('the slot of the only endpoint that has answered is right, as after a sleep of the machine', () => {
  const { told } = bookWith()
  expect([told('a', 1_000, 0), told('a', 1_010, 4_000), told('a', 9_000, 5_000)]).toEqual(Array(3).fill('current'))
})

it('two endpoints that lag do not lower the tip before the third could answer', () => {
  const { book, told } = bookWith()
  for (const by of ['a', 'b', 'c']) told(by, 1_000, 0)
  const late = [told('a', 800, 30_000), told('b', 800, 30_001)]
  expect([...late, told('c', 1_090, 30_500), book.tip]).toEqual(['behind', 'behind', 'current', 1_090])
  const silent = [60_000, 61_000, 62_001].map((now) => [told('a', 900, now), told('b', 900, now)])
  expect([silent.flat().at(-1), book.tip]).toEqual(['current', 900])
})

it('what an endpoint claims with a false tip does not outlive that tip', () => {
  const { book, told } = bookWith()
  told('a', 90_000, 0)
  expect(told('a', 90_000, 0, 'finalized')).toBe('current')
  book.report(90_000, 'confirmed')
  told('b', 1_000, 0)
  told('c', 1_000, 0)
  expect([told('b', 968, 1, 'finalized'), book.tip]).toEqual(['current', 1_000])
  // A slot that is reported then is never gone behind.
  book.report(999, 'confirmed')
  expect([told('b', 998, 2, 'confirmed'), told('c', 999, 2, 'confirmed')]).toEqual(['early', 'current'])
})

it('an endpoint that was trusted alone, and is too far ahead, is outvoted by two', () => {
  const book = new SlotBook()
  const told = (by: string, slot: number, now: number) => {
    return book.note(by, 'processed', slot, { marks: book.marks(), now })
  }
  told('a', 1_000, 0)
  told('a', 1_000, 5_000)
  expect([told('b', 90_000, 5_010), told('b', 90_001, 8_000)]).toEqual(['incredible', 'current'])
  expect([told('a', 1_010, 9_000), told('c', 1_011, 9_001), book.tip]).toEqual(['behind', 'current', 1_011])
  expect([told('a', 1_011, 9_100), told('b', 90_005, 9_100), book.tip]).toEqual(['current', 'incredible', 1_011])
})

it.each([
  ['a late one that answers first', [500, 1_000, 1_000]],
  ['two late ones and one that is right', [800, 800, 1_000]],
  ['one that names a slot from another world', [5_000_000, 1_000, 1_000]],
])('the right endpoints are used if they differ from the start, with %s', async (_, slots) => {
  const nodes = slots.map((slot) => scriptedNode({ slot }))
  const { ask, pool, clock } = scriptedPool(nodes)
  for (let i = 0; i < 30; i++) {
    expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { context: { slot: 1_000 } } })
    clock.advance(500)
  }
  await pool.settled()
})

it('the one of two endpoints that is ahead is right, and is trusted after a while if it is added later', async () => {
  const genesis = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
  const nodes = [scriptedNode({ genesis, slot: 800 }), scriptedNode({ genesis, fault: http(500) })]
  const { ask, pool, clock } = scriptedPool(nodes, { kind: 'devnet' })
  expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { context: { slot: 800 } } })
  nodes[1]!.fault = undefined
  for (let i = 0; i < 20; i++) {
    await ask('getBalance', BALANCE)
    await pool.settled()
    clock.advance(1_000)
  }
  expect(await ask('getBalance', BALANCE)).toMatchObject({ result: { context: { slot: 1_000 } } })
  expect(pool.reports().map(({ state }) => state)).toEqual(['behind', 'ok'])
})

it('data reported as confirmed is in the next read, from any endpoint', async () => {
  const nodes = three()
  const { ask, pool } = scriptedPool(nodes)
  await ask('getBalance', BALANCE)
  const status = { slot: 1_010, confirmations: 1, err: null, confirmationStatus: 'confirmed' }
  nodes[0]!.slot = 1_011
  for (const node of nodes) {
    node.results.getSignatureStatuses = () => ({ context: { slot: 1_011 }, value: [status] })
  }
  await ask('getSignatureStatuses', [['Sig']])
  for (let i = 0; i < 20; i++) {
    const read = await ask('getBalance', ['Addr', { commitment: 'confirmed' }])
    expect(read).toMatchObject({ result: { context: { slot: 1_011 } } })
  }
  // They are late by a few slots alone, which is no fault.
  expect(pool.reports().map(({ state }) => state)).toEqual(['ok', 'ok', 'ok'])
})

it('a read asks for the lowest slot if an answer does not name its own', async () => {
  const nodes = three()
  for (const node of nodes) node.results.getBlockHeight = () => 900
  const { ask } = scriptedPool(nodes)
  await ask('getBalance', BALANCE)
  expect(await ask('getBlockHeight', [{ commitment: 'processed' }])).toMatchObject({ result: 900 })
  const sent = nodes.flatMap(({ asked }) => asked.filter(({ method }) => method === 'getBlockHeight'))
  expect(sent.map(({ params }) => params)).toEqual([
    [{ commitment: 'processed', minContextSlot: 1_000 - MOST_LAG_SLOTS }],
  ])
})

describe('the absence or the end of something', () => {
  const read = async ({ call }: { call: (method: string, params: unknown[]) => Promise<unknown> }) =>
    ((await call('getBalance', BALANCE)) as { context: { slot: number } }).context.slot

  it('needs two endpoints as proof, with each reading from one of them', async () => {
    const nodes = three()
    const { pool } = scriptedPool(nodes)
    expect(await pool.witnesses(read)).toEqual([1_000, 1_000])
    expect(askedOf(nodes, 'getBalance').toSorted()).toEqual([0, 1, 1])
  })

  it('is not proven if one endpoint answers, or if the second is behind', async () => {
    const nodes = three()
    const { pool, ask } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[0]!.fault = http(500)
    nodes[1]!.slot = 900
    expect(await pool.witnesses(read)).toEqual([])
    nodes[1]!.slot = 1_000
    expect(await pool.witnesses(read)).toEqual([1_000, 1_000])
  })
})

describe('a signed transaction', () => {
  const transaction = () => {
    const payer = Keypair.generate()
    const instructions = [
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 }),
    ]
    const recentBlockhash = payer.publicKey.toBase58()
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
    const signed = new VersionedTransaction(message.compileToV0Message())
    signed.sign([payer])
    const bytes = Buffer.from(signed.serialize()).toString('base64')
    return { bytes, signature: base58.encode(signed.signatures[0]!) }
  }
  const taking = (signature: string) => {
    const nodes = three()
    for (const node of nodes) node.results.sendTransaction = () => signature
    return nodes
  }
  const sentTo = (nodes: ReturnType<typeof three>) =>
    nodes.map(({ asked }) => asked.filter(({ method }) => method === 'sendTransaction').map(({ params }) => params))
  const SEND = { encoding: 'base64', skipPreflight: true, maxRetries: 3 }

  it('goes to all endpoints as the same bytes, and is answered as soon as one accepts it', async () => {
    const { bytes, signature } = transaction()
    const nodes = taking(signature)
    const { ask, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    nodes[0]!.fault = only('sendTransaction', hang)
    nodes[1]!.fault = only('sendTransaction', http(503))
    expect(await ask('sendTransaction', [bytes, SEND])).toMatchObject({ result: signature })
    await pool.settled()
    expect(sentTo(nodes)).toEqual([[[bytes, SEND]], [[bytes, SEND]], [[bytes, SEND]]])
  })

  it('goes to an endpoint that is behind too, but not to a paused one or one of another chain', async () => {
    const { bytes, signature } = transaction()
    const nodes = [...taking(signature), scriptedNode({ genesis: FOREIGN })]
    nodes[0]!.slot = 500
    const { ask, pool } = scriptedPool(nodes)
    await ask('getBalance', BALANCE)
    await pool.settled()
    nodes[1]!.fault = only('getBalance', http(429, '', { 'retry-after': '30' }))
    for (let i = 0; i < 3; i++) await pool.witnesses(({ call }) => call('getBalance', BALANCE))
    expect(pool.reports().map(({ state }) => state)).toEqual(['behind', 'paused', 'ok', 'wrong-chain'])
    await ask('sendTransaction', [bytes, SEND])
    expect(sentTo(nodes).map(({ length }) => length)).toEqual([1, 0, 1, 0])
  })

  it('that has landed already counts as sent', async () => {
    const { bytes, signature } = transaction()
    const nodes = three()
    const refused = rpcError(-32002, 'Transaction simulation failed: This transaction has already been processed', {
      err: 'AlreadyProcessed',
    })
    for (const node of nodes) node.fault = only('sendTransaction', refused)
    const { ask } = scriptedPool(nodes)
    for (const config of [SEND, { encoding: 'base64' }]) {
      expect(await ask('sendTransaction', [bytes, config])).toMatchObject({ result: signature })
    }
  })

  it('is accepted if one endpoint accepts it and all others refuse it', async () => {
    const { bytes, signature } = transaction()
    const nodes = taking(signature)
    for (const node of nodes.slice(1)) node.fault = only('sendTransaction', rpcError(-32602, 'no such option'))
    const { ask } = scriptedPool(nodes)
    expect(await ask('sendTransaction', [bytes, SEND])).toMatchObject({ result: signature })
    nodes[0]!.fault = only('sendTransaction', rpcError(-32602, 'no such option'))
    expect(await ask('sendTransaction', [bytes, SEND])).toMatchObject({ error: { code: -32602 } })
  })

  it('is not counted as sent if an endpoint answers with another signature', async () => {
    const { bytes } = transaction()
    const nodes = taking(transaction().signature)
    const { ask } = scriptedPool(nodes)
    await expect(ask('sendTransaction', [bytes, SEND])).rejects.toThrow(/None of the 3 RPC endpoints/)
  })
})

it('requests of one kind are distributed by weight, and related ones go to one endpoint', () => {
  const line = nodeLine({ url: 'https://n.test' }, shapeRedactor)
  const endpoints = [1, 2, 5].map((weight, i) => new PoolEndpoint({ label: `n${i}`, weight, line }, () => 0))
  const counts = [0, 0, 0]
  for (let i = 0; i < 8_000; i++) counts[endpoints.indexOf(inOrder(endpoints, `trace ${i}`)[0]!)]!++
  for (const [i, share] of [1 / 8, 2 / 8, 5 / 8].entries()) expect(counts[i]! / 8_000).toBeCloseTo(share, 1)
  fc.assert(
    fc.property(fc.string(), fc.nat(2), (key, gone) => {
      const order = inOrder(endpoints, key)
      expect(inOrder(endpoints, key)).toEqual(order)
      // What one endpoint loses is taken over by the others, whose order stays.
      const left = endpoints.filter((_, i) => i !== gone)
      expect(inOrder(left, key)).toEqual(order.filter((each) => left.includes(each)))
    }),
  )
})
