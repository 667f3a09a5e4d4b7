/** `svc webhooks` of the built command: forwarding through crashes, signatures checked by others, and the examples that check them. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/ports.ts'
import { type Delivered, startReceiver } from '../support/receiver.ts'
import { commandLine, onTerminal } from './command-line.ts'
import { makeEvents, started } from './following.ts'
import { newSecret, numbersOf, parsed, signatureOf } from './forwarded.ts'

const cli = commandLine()
const { svc } = cli

describe('webhooks listen', () => {
  it('repeats what fails, and reports what fails four times before it goes on', async () => {
    mkdirSync(cli.dataDir, { recursive: true })
    const daemon = await startDaemon({ dataDir: cli.dataDir, flags: ['--rpc-port', '0'] })
    onTestFinished(() => daemon.stop())
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

  it('sends the body and the headers that the daemon delivers', async () => {
    const dataDir = join(cli.home, 'compared')
    mkdirSync(dataDir)
    const daemon = await startDaemon({
      dataDir,
      flags: ['--rpc-port', '0'],
      env: { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' },
    })
    onTestFinished(() => daemon.stop())
    const [subscribed, forwarded] = [await startReceiver(), await startReceiver()]
    const body = { url: subscribed.url, enabled_events: ['*'] }
    expect((await daemon.request('POST', '/v2/webhook-subscriptions', { body })).status).toBe(201)
    const args = ['webhooks', 'listen', '--forward-to', forwarded.url]
    const listen = started(cli, args, { SVC_DATA_DIR: dataDir })
    await listen.says('after sequence 0')
    await makeEvents(daemon, 0, 1)
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
    [['--from', 'soon'], 2, '--from must be a sequence, now or start'],
    [['--forward-to', 'ftp://x'], 2, '--forward-to must be an http or https URL'],
    [['--forward-to', 'http://a:b@x'], 2, 'no user or password'],
    [['--events', 'pool.sunk'], 2, 'there is no pool.sunk'],
    [['--secret-file', 'x'], 2, '--secret-file signs what --forward-to sends'],
    [['--forward-to', 'http://x', '--secret-file', 'absent'], 2, 'there is no such file'],
  ])('refuses %j', async (args, exitCode, message) => {
    const ran = await svc(['webhooks', 'listen', ...args])
    expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) })
  })

  it('does not start silently behind the end of another database, or where its file tells nothing', async () => {
    const ahead = cli.file('ahead.json', '{"sequence":999}')
    const refused = await svc(['webhooks', 'listen', '--state-file', ahead])
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('another database') })
    const torn = cli.file('torn.json', '{"sequ')
    const unread = await svc(['webhooks', 'listen', '--state-file', torn])
    expect(unread).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('does not say where to continue') })
    expect(readFileSync(ahead, 'utf8')).toBe('{"sequence":999}')
  })
})

describe('webhooks verify', () => {
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

  it('accepts what was signed with the secret, by either scheme, and says why not otherwise', async () => {
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

  it('reads headers from a file, and every signature among them must be right', async () => {
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
      /^valid: x-service-signature, \d+ seconds old\nvalid: webhook-signature, \d+ seconds old\n$/,
    )
  })

  it('checks bytes that are no text', async () => {
    const bytes = randomBytes(100_000)
    const known = ['--secret-file', file('known', secret)]
    const signed = ['--signature', signatureOf([secret], bytes)]
    expect(await verify([...known, ...signed], bytes)).toEqual(valid)
  })

  it('refuses a secret that others can read, or that is none, and a delivery without a signature', async () => {
    const open = cli.file('open', secret, 0o644)
    const refused = await svc(['webhooks', 'verify', '--secret-file', open, '--signature', 'x'], { input: body })
    expect(refused).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining('chmod 600') })
    const wrong = ['--secret-file', file('wrong', 'hunter2'), '--signature', 'x']
    const unread = await svc(['webhooks', 'verify', ...wrong], { input: body })
    expect(unread).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('whsec_') })
    expect(unread.stderr).not.toContain('hunter2')
    const none = await svc(['webhooks', 'verify', '--secret-file', file('known', secret)], { input: body })
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no signature to check') })
  })
})

describe('the example in', () => {
  const examples = resolve(import.meta.dirname, '../../examples/webhooks')
  const [secret, other] = [newSecret(), newSecret()]
  const body = '{"id":"evt_1","name":"Ünïcode"}'
  const runs = (command: string, ...args: string[]) => spawnSync(command, args).status === 0

  it.skipIf(!runs('node', '--version'))('Node tells a delivery from a forgery', () => expectJudge('node', 'verify.mjs'))
  it.skipIf(!runs('python3', '--version'))('Python tells a delivery from a forgery', () =>
    expectJudge('python3', 'verify.py'),
  )
  it.skipIf(!runs('go', 'version'))('Go tells a delivery from a forgery', () => expectJudge('go', 'run', 'verify.go'))

  function expectJudge(command: string, ...args: string[]) {
    const example = args.map((arg) => (existsSync(join(examples, arg)) ? join(examples, arg) : arg))
    const judge = (header: string, input: string = body) => {
      const env = { ...process.env, WEBHOOK_SECRET: secret }
      const { status, stdout } = spawnSync(command, [...example, header], { input, env, encoding: 'utf8' })
      return [status, stdout]
    }
    const now = Math.floor(Date.now() / 1000)
    const [yes, no] = [
      [0, 'valid\n'],
      [1, 'invalid\n'],
    ]
    expect(judge(signatureOf([secret], body))).toEqual(yes)
    expect(judge(signatureOf([other, secret], body))).toEqual(yes)
    expect(judge(signatureOf([secret], body), body.replace('1', '2'))).toEqual(no)
    expect(judge(signatureOf([other], body))).toEqual(no)
    expect(judge(signatureOf([secret], body, now - 310))).toEqual(no)
    expect(judge(signatureOf([secret], body).replace('t=', 't=1'))).toEqual(no)
    for (const header of ['', 'v1=', `t=${now}`, `t=${now},v1=zz`, 't=ü,v1=ü']) expect(judge(header)).toEqual(no)
  }
})

describe('webhooks create', () => {
  const env = { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' }
  let url = ''
  beforeAll(async () => {
    url = `http://127.0.0.1:${await freePort()}/hooks`
  })

  it('takes the URL as an argument or as a flag, and replay the events by id or since a moment', async () => {
    const json = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await svc(['webhooks', ...args, '--json'], { env })
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
      return JSON.parse(stdout)
    }
    const created = await json('subscribe', url, '--events', 'pool.live,webhook.test_event')
    expect(created).toMatchObject({ url, enabled_events: ['pool.live', 'webhook.test_event'], active: true })
    expect(await json('subscribe', '--url', url, '--events', '*')).toMatchObject({ url, enabled_events: ['*'] })
    const { id } = await json('test', created.id)
    expect(await json('replay', created.id, '--events', id)).toEqual({ queued: 1 })
    expect(await json('replay', created.id, '--since', '2026-01-01T00:00:00Z')).toMatchObject({ queued: 1 })
  })

  it('asks a person for what is missing', async () => {
    const terminal = { ...cli, env: { ...cli.env, ...env, NO_COLOR: '1' } }
    const { exitCode, screen } = await onTerminal(
      terminal,
      ['webhooks', 'create', '--yes'],
      [
        ['Where events are posted', `${url}\r`],
        ['Event types, or *', 'pool.live, pool.failed\r'],
      ],
    )
    expect(exitCode, screen).toBe(0)
    expect(screen).toMatch(/ENABLED EVENTS +pool\.live, pool\.failed/)
  })

  it.each([
    [['subscribe', '--events', '*'], 'missing --url'],
    [['subscribe', 'https://example.com'], 'missing --events'],
    [['subscribe', 'https://example.com', '--url', 'https://example.com', '--events', '*'], 'give the URL once'],
    [['replay', 'whs_1'], 'give either --events or --since'],
    [['replay', 'whs_1', '--events', 'evt_1', '--since', '1'], 'give either --events or --since'],
  ])('%j is refused', async (args, message) => {
    const refused = await svc(['webhooks', ...args], { env })
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) })
  })
})
