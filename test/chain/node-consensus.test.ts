/** Which consensus a cluster has, as its nodes tell it, and what is asked of nodes on Alpenglow. */
import { SystemProgram } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { openServices, operatorKey } from '../../daemon/services.ts'
import { openChain } from '../../src/chain/connection.ts'
import { createConsensus } from '../../src/chain/nodes/consensus.ts'
import { NodeRefusal } from '../../src/chain/nodes/node-call.ts'
import { localFetch } from '../../src/localnet/fetch.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { databaseSettings } from '../support/database.ts'
import { openTestChain } from '../support/local-chain.ts'
import { requester } from '../support/request.ts'
import { ORIGIN, temporaryFolder } from '../support/service.ts'

const CERTIFICATE = { block: { slot: 77, blockId: [1] }, signature: { signature: [], bitmap: [] } }

/** Nodes with these answers, or errors, and how often each was asked. */
function nodesWith(...answers: unknown[]) {
  let now = 1_000
  const asked: string[] = []
  const nodes = answers.map((_, i) => ({
    call: async <T>(method: string): Promise<T> => {
      asked.push(`${i} ${method}`)
      const answer = answers[i]
      if (answer instanceof Error) throw answer
      return answer as T
    },
  }))
  const consensus = createConsensus(
    async () => nodes,
    () => now,
  )
  const advance = (milliseconds: number) => {
    now += milliseconds
  }
  return { consensus, answers, asked, advance }
}

const unknownMethod = new NodeRefusal(-32601, 'Method not found', undefined)
const MINUTE = 60_000

describe('the consensus of a cluster', () => {
  it.each<[string, unknown, string | null]>([
    ['a certificate', CERTIFICATE, 'alpenglow'],
    ['null', null, 'tower'],
    ['a node before Agave 4.3', unknownMethod, 'tower'],
    ['a provider that refuses the call', new NodeRefusal(-32000, 'not allowed', undefined), null],
    ['a node that does not answer', new Error('it answers HTTP 503'), null],
    ['something else', { block: { slot: 'soon' } }, null],
    ['a text', 'alpenglow', null],
  ])('is read from %s', async (_, answer, consensus) => {
    const { consensus: read } = nodesWith(answer)
    const alpenglowSlot = consensus === 'alpenglow' ? 77 : null
    expect(await read.read()).toEqual({ consensus, alpenglowSlot })
    expect(read.known()).toEqual({ consensus, alpenglowSlot })
  })

  it('is asked for once at the same time, again after minutes on Tower, and never again on Alpenglow', async () => {
    const { consensus, answers, asked, advance } = nodesWith(null)
    await Promise.all([consensus.read(), consensus.read()])
    advance(5 * MINUTE - 1)
    expect([(await consensus.read()).consensus, asked.length]).toEqual(['tower', 1])
    answers[0] = new Error('reset')
    advance(1)
    expect([(await consensus.read()).consensus, asked.length]).toEqual(['tower', 2])
    answers[0] = CERTIFICATE
    advance(5 * MINUTE)
    expect([(await consensus.read()).consensus, asked.length]).toEqual(['alpenglow', 3])
    answers[0] = null
    advance(1_000 * MINUTE)
    expect([(await consensus.read()).consensus, asked.length]).toEqual(['alpenglow', 3])
  })

  it('is Alpenglow once one of several endpoints has a certificate', async () => {
    const { consensus, answers, asked, advance } = nodesWith(null, unknownMethod, CERTIFICATE, new Error('reset'))
    expect((await consensus.read()).consensus).toBe('alpenglow')
    expect(asked.splice(0)).toEqual([0, 1, 2, 3].map((i) => `${i} getAgGenesisCert`))
    // No cluster goes back, so nobody is asked again.
    answers[2] = null
    advance(5 * MINUTE)
    expect(await consensus.read()).toEqual({ consensus: 'alpenglow', alpenglowSlot: 77 })
    expect(asked).toEqual([])
  })

  it('is not Alpenglow for the certificate of one endpoint that more others deny', async () => {
    const { consensus, answers, advance } = nodesWith(CERTIFICATE, null, null, unknownMethod)
    expect(await consensus.read()).toEqual({ consensus: 'tower', alpenglowSlot: null })
    answers[1] = CERTIFICATE
    advance(5 * MINUTE)
    expect((await consensus.read()).consensus).toBe('alpenglow')
  })
})

/** The app over a node that refuses `confirmed` wherever it is asked for, as a later release may. */
async function startWithoutConfirmed(consensus: 'alpenglow' | 'tower') {
  const test = await openTestChain({ consensus })
  const asked: { method: string; commitment: unknown }[] = []
  const answer = localFetch(createRpc(test.chain))
  const send: typeof fetch = async (url, init) => {
    const { id, method, params } = JSON.parse(String(init?.body))
    for (const param of params) {
      if (typeof param?.commitment === 'string') asked.push({ method, commitment: param.commitment })
    }
    if (!String(init?.body).includes('"confirmed"')) return answer(url, init)
    const error = { code: -32602, message: 'Invalid params: unknown variant `confirmed`.' }
    return Response.json({ jsonrpc: '2.0', id, error })
  }
  const dataDir = temporaryFolder()
  const flags = { 'data-dir': dataDir, url: 'http://node.test', ...(await databaseSettings(dataDir)) }
  const config = loadConfig({ flags, env: {}, cwd: dataDir })
  const opened = await openServices(config)
  const chain = openChain(config, { around: () => send })
  const clock = { now: () => test.wall.ms }
  const services = { ...opened, clock, chain }
  const app = await createApp(services)
  onTestFinished(async () => {
    await app.close()
    await chain.close()
    await opened.close()
  })
  const request = requester(ORIGIN, app.fetch, await operatorKey(services))
  return { ...test, asked, request, services }
}

describe('a node that answers `confirmed` with an error', () => {
  it('changes nothing on Alpenglow: what asks for it asks for `finalized`', async () => {
    const { chain, wall, wallet, sign, request, services, asked } = await startWithoutConfirmed('alpenglow')
    const payer = wallet()
    const address = payer.publicKey.toBase58()
    wall.ms += 10_000
    const body = { payer: address, name: 'Token', symbol: 'T', uri: 'https://example.com/t.json', initial_supply: '1' }
    const built = await request('POST', '/v2/tokens', { body: { ...body, token_program: 'token2022' } })
    expect(built.status, built.text).toBe(200)
    const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 })
    const transaction = Buffer.from(sign([transfer], [payer])).toString('base64')
    const { status, json } = await request('POST', '/v2/transactions', { body: { transaction } })
    expect(status).toBe(200)
    wall.ms += 10_000
    await followTransactions(services)
    const { signature } = json.data
    expect((await request('GET', `/v2/transactions/${signature}`)).json.data.lifecycle).toBe('finalized')
    const events = (await request('GET', `/v2/events?order=asc&resource_id=${signature}`)).json.data
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.finalized',
    ])
    expect((await request('GET', '/v2/cluster')).json.data).toMatchObject({
      consensus: 'alpenglow',
      alpenglow_slot: chain.alpenglowSlot(),
    })
    expect((await request('GET', `/v2/accounts/${address}`)).status).toBe(200)
    // Only what was asked before the certificate had come asks for it, and is asked again.
    const last = asked.findLastIndex(({ commitment }) => commitment === 'confirmed')
    expect(asked.slice(last + 1).length).toBeGreaterThan(5)
    expect(last).toBeLessThan(8)
  })

  it('is an error of that node on Tower, where `confirmed` has a meaning of its own', async () => {
    const { request } = await startWithoutConfirmed('tower')
    const { status, json } = await request('GET', '/v2/accounts/11111111111111111111111111111111')
    expect([status, json.error.code]).toEqual([500, 'internal_error'])
    expect(json.error.message).toContain('unknown variant')
  })
})
