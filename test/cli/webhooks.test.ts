/** `svc webhooks` of the built command: forwarding through crashes, signatures checked by others, and the examples that check them. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { webhookDeliveryWorker } from '../../daemon/workers/workers.ts'
import { freePort } from '../support/ports.ts'
import { type Delivered, startReceiver } from '../support/receiver.ts'
import { runs } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { makeEvents, started } from './following.ts'
import { newSecret, numbersOf, parsed, signatureOf } from './forwarded.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const { svc } = cli
let daemon: Served

beforeAll(async () => {
  mkdirSync(cli.dataDir, { recursive: true })
  daemon = await serveHere(cli.dataDir, { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' }, [webhookDeliveryWorker])
})
afterAll(() => daemon?.stop())

describe('A subscription that is switched off', () => {
  it('is shown with the command that switches it on again', async () => {
    const { id } = await cli.json(['webhooks', 'create', 'http://127.0.0.1:9/hooks', '--events', 'pool.live'])
    expect((await svc(['webhooks', 'get', id])).stderr).toBe('')
    await cli.json(['webhooks', 'update', id, '--active', 'false'])
    for (const read of [['get', id], ['list']])
      expect((await svc(['webhooks', ...read])).stderr).toContain(`\`svc webhooks update ${id} --active true\``)
    await cli.json(['webhooks', 'delete', id, '--yes'])
  })
})

describe('svc webhooks listen', () => {
  it('retries a delivery that fails, and reports one that failed four times before it continues', async () => {
    const tries = new Map<number, number>()
    const receiver = await startReceiver(({ sequence }) => {
      tries.set(sequence, (tries.get(sequence) ?? 0) + 1)
      if (sequence === 1) return tries.get(sequence) === 1 ? 500 : 204
      return sequence === 2 ? 302 : 200
    })
    const place = join(cli.home, 'place.json')
    const flags = ['--forward-to', receiver.url, '--state-file', place, '--from', 'start']
    const json = started(cli, ['webhooks', 'listen', ...flags, '--json'])
    await json.says('after sequence 0')
    await makeEvents(daemon, 0, 3)
    await json.hasLines(3)
    expect(await json.stopped('SIGINT')).toBe(130)
    expect(parsed(json.lines()).map(({ forward }) => forward)).toMatchObject([
      { delivered: true, attempts: 2, status: 204 },
      { delivered: false, attempts: 4, status: 302 },
      { delivered: true, attempts: 1, status: 200 },
    ])
    expect(numbersOf(receiver.all)).toEqual([1, 1, 2, 2, 2, 2, 3])
    expect(new Set(receiver.all.map(({ id }) => id)).size).toBe(3)
    expect(json.stderr()).toMatch(/^evt_\w+: HTTP 500; again in 0\.5 s$/m)
    expect(json.stderr()).toMatch(/^warning: event 2 \(evt_\w+\) was not accepted in 4 attempts: HTTP 302; going on$/m)

    receiver.answer = () => 200
    const typed = started(cli, ['webhooks', 'listen', ...flags, '--events', 'airdrop.tree_built'])
    await typed.hasLines(6)
    expect(typed.lines()[1]).toMatch(/^ {2}→ HTTP 200 in \d+ ms$/)
    const none = started(cli, ['webhooks', 'listen', '--from', 'start', '--events', 'pool.live,pool.migrated'])
    await none.says('after sequence 0')
    await none.stopped('SIGINT')
    expect(none.lines()).toEqual([])
  })

  it('sends the same body and headers as the daemon', async () => {
    const [subscribed, forwarded] = [await startReceiver(), await startReceiver()]
    const body = { url: subscribed.url, enabled_events: ['*'] }
    expect((await daemon.request('POST', '/v2/webhook-subscriptions', { body })).status).toBe(201)
    const args = ['webhooks', 'listen', '--forward-to', forwarded.url]
    const listen = started(cli, args)
    await listen.says('after sequence 3')
    await makeEvents(daemon, 3, 1)
    await vi.waitFor(() => expect([subscribed.all.length, forwarded.all.length]).toEqual([1, 1]), 20_000)
    const [delivery, forward] = [subscribed.all[0]!, forwarded.all[0]!]
    expect(forward.body).toBe(delivery.body)
    expect(forward.headers['content-type']).toBe(delivery.headers['content-type'])
    const signing = ({ headers }: Delivered) =>
      Object.keys(headers)
        .filter((name) => /^webhook-|signature/.test(name))
        .toSorted()
    expect(signing(forward)).toEqual(signing(delivery))
    expect(await listen.stopped('SIGINT')).toBe(130)
  })

  it.each([
    [['--from', 'soon'], '--from must be a sequence, now or start'],
    [['--forward-to', 'ftp://x'], '--forward-to must be an http or https URL'],
    [['--forward-to', 'http://a:b@x'], 'no user or password'],
    [['--events', 'pool.sunk'], 'there is no pool.sunk'],
    [['--secret-file', 'x'], '--secret-file needs --forward-to'],
    [['--forward-to', 'http://x', '--secret-file', 'absent'], 'there is no such file'],
  ])('refuses %j', async (args, message) => {
    await cli.refused(['webhooks', 'listen', ...args], message)
  })

  it('does not start silently beyond the last event of another database, nor from a damaged state file', async () => {
    const ahead = cli.file('ahead.json', '{"sequence":999}')
    await cli.refused(['webhooks', 'listen', '--state-file', ahead], 'another database', 1)
    const torn = cli.file('torn.json', '{"sequ')
    await cli.refused(['webhooks', 'listen', '--state-file', torn], 'does not say where to continue', 1)
    expect(readFileSync(ahead, 'utf8')).toBe('{"sequence":999}')
  })
})

describe('svc webhooks verify', () => {
  const [secret, other] = [newSecret(), newSecret()]
  const body = '{"id":"evt_1","type":"pool.live","name":"Ünïcode"}'
  const nowSeconds = () => Math.floor(Date.now() / 1000)
  const file = (name: string, ...secrets: string[]) => cli.file(name, `${secrets.join('\n')}\n`, 0o600)

  async function verify(args: string[], input: string | Buffer = body) {
    const { exitCode, stdout, stderr } = await svc(['webhooks', 'verify', '--json', ...args], { input })
    expect(stderr).toBe('')
    const { valid, reason } = JSON.parse(stdout)
    expect(valid).toBe(exitCode === 0)
    return { exitCode, reason }
  }
  const valid = { exitCode: 0, reason: null }
  const invalid = (reason: string) => ({ exitCode: 1, reason: expect.stringContaining(reason) })

  it('accepts a body that was signed with the secret, and says why it refuses any other', async () => {
    const known = ['--secret-file', file('known', secret)]
    const signed = ['--signature', signatureOf([secret], body)]
    expect(await verify([...known, ...signed])).toEqual(valid)
    expect(await verify([...known, ...signed], body.replace('live', 'lime'))).toEqual(invalid('the body was changed'))
    expect(await verify([...known, ...signed], `${body}\n`)).toEqual(invalid('a line break was added at its end'))
    const pretty = JSON.stringify(JSON.parse(body), null, 2)
    expect(await verify([...known, ...signed], pretty)).toEqual(invalid('it was parsed and written again'))
    expect(await verify(['--secret-file', file('other', other), ...signed])).toEqual(invalid('another secret'))
    const old = ['--signature', signatureOf([secret], body, nowSeconds() - 310)]
    expect(await verify([...known, ...old])).toEqual(invalid('seconds old, at most 300 are accepted'))
    const early = ['--signature', signatureOf([secret], body, nowSeconds() + 400)]
    expect(await verify([...known, ...early])).toEqual(invalid('seconds ahead'))
    expect(await verify([...known, '--signature', 'v1=00'])).toEqual(invalid('it is not t=<seconds>,v1=<hex>'))
  })

  it('accepts either secret during a rotation, on both sides', async () => {
    const both = ['--signature', signatureOf([other, secret], body)]
    expect(await verify(['--secret-file', file('one', secret), ...both])).toEqual(valid)
    expect(await verify(['--secret-file', file('two', other), ...both])).toEqual(valid)
    const single = ['--signature', signatureOf([secret], body)]
    expect(await verify(['--secret-file', file('pair', other, secret), ...single])).toEqual(valid)
  })

  it('reads headers from a file, and every signature among them must be valid', async () => {
    const now = nowSeconds()
    const standard = new Webhook(secret).sign('evt_1', new Date(now * 1000), body)
    const lines = (more: string[]) =>
      ['POST /hooks HTTP/1.1', 'Host: example.com', ...more, 'Webhook-Id: evt_1', `Webhook-Timestamp: ${now}`].join(
        '\r\n',
      )
    const known = ['--secret-file', file('known', secret)]
    const good = [`X-Service-Signature: ${signatureOf([secret], body)}`, `Webhook-Signature: ${standard}`]
    const from = (more: string[]) => [...known, '--headers-file', cli.file('headers', lines(more))]
    expect(await verify(from(good))).toEqual(valid)
    expect(await verify(from([good[0]!, `Webhook-Signature: v1,AAAA ${standard}`]))).toEqual(valid)
    expect(await verify(from([good[0]!, 'Webhook-Signature: v1,AAAA']))).toEqual(invalid('another secret'))
    expect(await verify([...from(good), '--webhook-id', 'evt_2'])).toEqual(invalid('another secret'))
    const flags = ['--webhook-signature', standard, '--webhook-timestamp', String(now)]
    expect(await verify([...known, ...flags, '--webhook-id', 'evt_1'])).toEqual(valid)
    expect(await verify([...known, ...flags])).toEqual(invalid('without webhook-id'))
    const shown = await svc(['webhooks', 'verify', ...from(good)], { input: body })
    expect(shown.stdout).toMatch(
      /^valid: x-service-signature, (?:1 second|(?!1 )\d+ seconds) old\nvalid: webhook-signature, (?:1 second|(?!1 )\d+ seconds) old\n$/,
    )
  })

  it('checks a body that is not text', async () => {
    const bytes = randomBytes(100_000)
    const known = ['--secret-file', file('known', secret)]
    const signed = ['--signature', signatureOf([secret], bytes)]
    expect(await verify([...known, ...signed], bytes)).toEqual(valid)
  })

  it('refuses a secret that others can read, an invalid secret, and a delivery without a signature', async () => {
    const options = { input: body }
    const checked = (...flags: string[]) => ['webhooks', 'verify', ...flags]
    const signed = (secretFile: string) => checked('--secret-file', secretFile, '--signature', 'x')
    await cli.refused(signed(cli.file('open', secret, 0o644)), 'chmod 600', 4, options)
    const unread = await cli.refused(signed(file('wrong', 'hunter2')), 'whsec_', 2, options)
    expect(unread).not.toContain('hunter2')
    await cli.refused(checked('--secret-file', file('known', secret)), 'there is no signature to check', 2, options)
  })
})

describe('The example in', () => {
  const examples = resolve(import.meta.dirname, '../../examples/webhooks')
  const [secret, other] = [newSecret(), newSecret()]
  const body = '{"id":"evt_1","name":"Ünïcode"}'
  const isThere = (command: string, ...args: string[]) => spawnSync(command, args).status === 0

  const sampled = { tags: 'sampled' }
  it.skipIf(!isThere('node', '--version'))('Node tells a delivery from a forgery', sampled, () =>
    expectJudge('node', 'verify.mjs'),
  )
  it.skipIf(!isThere('python3', '--version'))('Python tells a delivery from a forgery', sampled, () => {
    // Itself, as the command may be a script that chooses a version, slowly.
    const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' })
    expectJudge(stdout.trim(), 'verify.py')
  })
  it.skipIf(!isThere('go', 'version'))('Go tells a delivery from a forgery', sampled, () =>
    expectJudge('go', 'run', 'verify.go'),
  )

  function expectJudge(command: string, ...args: string[]) {
    const example = args.map((arg) => (existsSync(join(examples, arg)) ? join(examples, arg) : arg))
    const judge = (header: string, input: string) => {
      const env = { ...process.env, WEBHOOK_SECRET: secret }
      const { status, stdout } = spawnSync(command, [...example, header], { input, env, encoding: 'utf8' })
      return [status, stdout]
    }
    const now = Math.floor(Date.now() / 1000)
    const signed = signatureOf([secret], body)
    const cases: [header: string, input: string, isValid: boolean][] = [
      [signatureOf([other, secret], body), body, true],
      [signed, body.replace('1', '2'), false],
      [signatureOf([secret], body, now - 310), body, false],
      ['t=ü,v1=ü', body, false],
      [signed, body, true],
      [signatureOf([other], body), body, false],
      [signed.replace('t=', 't=1'), body, false],
      ['', body, false],
      ['v1=', body, false],
      [`t=${now}`, body, false],
      [`t=${now},v1=zz`, body, false],
    ]
    for (const [header, input, isValid] of cases.slice(0, runs(2, cases.length))) {
      expect(judge(header, input), header).toEqual(isValid ? [0, 'valid\n'] : [1, 'invalid\n'])
    }
  }
})

describe('svc webhooks create', () => {
  let url = ''
  beforeAll(async () => {
    url = `http://127.0.0.1:${await freePort()}/hooks`
  })

  it('takes the URL as an argument or a flag; replay takes events by id or since a time', async () => {
    const json = (...args: string[]) => cli.json(['webhooks', ...args])
    const created = await json('subscribe', url, '--events', 'pool.live,webhook.test_event')
    expect(created).toMatchObject({ url, enabled_events: ['pool.live', 'webhook.test_event'], active: true })
    expect(await json('subscribe', '--url', url, '--events', '*')).toMatchObject({ url, enabled_events: ['*'] })
    const { id } = await json('test', created.id)
    expect(await json('replay', created.id, '--events', id)).toEqual({ queued: 1 })
    expect(await json('replay', created.id, '--since', '2026-01-01T00:00:00Z')).toMatchObject({ queued: 1 })
  })

  it('takes a filter, shows an event that matches it, and delivers and lists by it', async () => {
    const json = (...args: string[]) => cli.json(['webhooks', ...args])
    const receiver = await startReceiver(() => 500)
    receiver.says = 'out of order'
    const filter = ['--filter', 'type=airdrop.*', '--filter', 'data.leaf_count=1|2', '--filter', 'external_uid=u']
    const created = await json('create', receiver.url, '--events', '*', ...filter)
    const fields = [
      { field: 'data.leaf_count', values: ['1', '2'] },
      { field: 'external_uid', values: ['u'] },
    ]
    expect(created).toMatchObject({
      filter: { types: ['airdrop.*'], fields },
      sample_event: { type: 'airdrop.tree_built', external_uid: 'u', data: { object: { leaf_count: 1 } } },
    })
    await cli.refused(
      ['webhooks', 'update', created.id, '--filter', 'data.symbo=A'],
      /--filter \(fields\.0\.field\): events of these types have no field data\.symbo; they have/,
    )
    const about = `resource=pool:${'1'.repeat(32)}`
    expect((await json('update', created.id, '--filter', about)).filter).toEqual({
      resources: [{ type: 'pool', id: '1'.repeat(32) }],
    })
    const shown = (await svc(['webhooks', 'list'])).stdout
    expect(shown).toContain(about)
    expect((await json('update', created.id, '--filter', 'none')).filter).toBeNull()
    await makeEvents(daemon, 10, 1)
    const failed = () => json('deliveries', created.id, '--status', 'failed')
    await expect.poll(failed, { timeout: 60_000 }).toHaveLength(1)
    const [attempt] = await failed()
    expect(await json('delivery', created.id, attempt.id)).toMatchObject({
      ...{ response_code: 500, response_body: 'out of order', request: { body: { id: attempt.event_id } } },
    })
    expect(await json('stats', created.id)).toMatchObject({ attempts: 1, failed: 1, success_percent: 0 })
    expect(await json('get', created.id)).toMatchObject({ last_status: 'failed', failing_since: attempt.created_at })
    receiver.answer = () => 200
    expect(await json('replay', created.id, '--events', attempt.event_id)).toEqual({ queued: 1 })
    await expect.poll(() => json('get', created.id), { timeout: 60_000 }).toMatchObject({ last_status: 'succeeded' })
    expect(new Set(receiver.all.map(({ id }) => id))).toEqual(new Set([attempt.event_id]))
  })

  it.each([
    [
      ['subscribe', 'https://example.com', '--events', '*', '--filter', 'pool.live'],
      '--filter takes NAME=VALUE, not pool.live',
    ],
    [
      ['subscribe', 'https://example.com', '--events', '*', '--filter', 'resource=pool'],
      '--filter resource= takes TYPE:ID, not pool',
    ],
    [['subscribe', '--events', '*'], 'missing --url'],
    [['subscribe', 'https://example.com'], 'missing --events'],
    [
      ['subscribe', 'https://example.com', '--url', 'https://example.com', '--events', '*'],
      '--url cannot be used with <receiver>',
    ],
    [['replay', 'whs_1'], 'missing --events or --since'],
    [['replay', 'whs_1', '--events', 'evt_1', '--since', '1'], '--events cannot be used with --since'],
  ])('is refused as %j', async (args, message) => {
    await cli.refused(['webhooks', ...args], message)
  })
})
