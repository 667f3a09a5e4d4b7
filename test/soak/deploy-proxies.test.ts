/** The proxies of examples/deploy before a real daemon whose node is dead; each is skipped by name where it is not installed. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request as askPlainly } from 'node:http'
import { Agent, request as ask } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../tools/source.ts'
import { makeAuthority, withoutOpenssl } from '../support/certificates.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/ports.ts'
import { removeFolder, temporaryFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const sample = (name: string) => readFileSync(join(ROOT, 'examples/deploy', name), 'utf8')

interface Placed {
  /** The sample with the ports, files and the daemon of the test. */
  file: string
  text: string
  command: string[]
  /** Where the proxy listens, and whether with TLS. */
  port: number
  tls: boolean
}

type Place = (folder: string, daemon: string) => Promise<Placed>

/** Replaces each part of a sample, which must be in it. */
function adapted(text: string, parts: readonly [from: string, to: string][]): string {
  return parts.reduce((now, [from, to]) => {
    if (!now.includes(from)) throw new Error(`the sample has no ${from}`)
    return now.replaceAll(from, to)
  }, text)
}

const certificate = (folder: string) => makeAuthority(folder, 'authority').sign('proxy', 'IP:127.0.0.1')

const PROXIES: Record<string, Place> = {
  async nginx(folder, daemon) {
    const [plain, port] = [await freePort(), await freePort()]
    const { certFile, keyFile } = certificate(folder)
    const conf = adapted(sample('nginx/svc.conf'), [
      ['listen 80;', `listen 127.0.0.1:${plain};`],
      ['listen [::]:80;', ''],
      ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
      ['listen [::]:443 ssl;', ''],
      ['/etc/letsencrypt/live/svc.example.com/fullchain.pem', certFile],
      ['/etc/letsencrypt/live/svc.example.com/privkey.pem', keyFile],
      ['/var/log/nginx/svc.log', join(folder, 'access.log')],
      ['127.0.0.1:8787', daemon],
    ])
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (of) => `${of}_temp_path ${folder}/${of};`,
    )
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    return {
      file: 'nginx.conf',
      text: `${user} daemon off; pid ${folder}/pid; error_log stderr; events {} http { ${temporary.join(' ')}\n${conf} }`,
      command: ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')],
      port,
      tls: true,
    }
  },
  async caddy(folder, daemon) {
    const port = await freePort()
    const text = adapted(sample('caddy/Caddyfile'), [
      ['{\n\tservers {', '{\n\tadmin off\n\tauto_https off\n\tservers {'],
      ['{$DOMAIN:svc.example.com}', `http://127.0.0.1:${port}`],
      ['{$UPSTREAM:127.0.0.1:8787}', daemon],
    ])
    const command = ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
    return { file: 'Caddyfile', text, command, port, tls: false }
  },
  async haproxy(folder, daemon) {
    const [plain, port] = [await freePort(), await freePort()]
    const { cert, key } = certificate(folder)
    writeFileSync(join(folder, 'svc.pem'), cert + key)
    const text = adapted(sample('haproxy/haproxy.cfg'), [
      ['bind :::80 v4v6', `bind 127.0.0.1:${plain}`],
      ['bind :::443 v4v6', `bind 127.0.0.1:${port}`],
      ['/etc/haproxy/svc.pem', join(folder, 'svc.pem')],
      ['127.0.0.1:8787', daemon],
    ])
    return { file: 'haproxy.cfg', text, command: ['haproxy', '-f', join(folder, 'haproxy.cfg')], port, tls: true }
  },
}

const lacking = (name: string) =>
  spawnSync('which', [name]).status === 0 ? withoutOpenssl() : `${name} is not installed`

describe.each(Object.entries(PROXIES))('%s', (name, place) => {
  const reason = lacking(name)

  describe.skipIf(reason !== undefined)(`before a daemon${reason === undefined ? '' : ` (${reason})`}`, () => {
    const folder = makeSharedFolder('svc-')
    let daemon: Daemon
    beforeAll(async () => {
      const env = { SVC_TRUSTED_PROXIES: '1', SVC_CLAIM_PAGES: 'true', SVC_URL: 'http://127.0.0.1:1' }
      daemon = await startDaemon({ dataDir: folder, env })
    })
    afterAll(async () => {
      await daemon.stop()
      removeFolder(folder)
    })

    async function proxy() {
      const own = temporaryFolder()
      const { file, text, command, port, tls } = await place(own, new URL(daemon.url).host)
      writeFileSync(join(own, file), text)
      const [program = '', ...args] = command
      const running = spawn(program, args, { env: { ...process.env, HOME: own }, stdio: ['ignore', 'pipe', 'pipe'] })
      let log = ''
      for (const stream of [running.stdout, running.stderr])
        stream.setEncoding('utf8').on('data', (more) => {
          log += more
        })
      const ended = new Promise((settle) => running.once('close', settle))
      onTestFinished(async () => {
        running.kill('SIGTERM')
        await ended
      })
      const agent = new Agent({ rejectUnauthorized: false })
      onTestFinished(() => agent.destroy())
      const get = (path: string, from = '127.0.0.1', headers: Record<string, string> = {}, body?: string) =>
        new Promise<{ status: number; text: string }>((settle, fail) => {
          const options = { host: '127.0.0.1', port, path, localAddress: from, headers, method: body ? 'POST' : 'GET' }
          const onAnswer = (response: import('node:http').IncomingMessage) => {
            let text = ''
            response.setEncoding('utf8').on('data', (more) => {
              text += more
            })
            response.on('end', () => settle({ status: response.statusCode ?? 0, text }))
          }
          const sent = tls ? ask({ ...options, agent }, onAnswer) : askPlainly(options, onAnswer)
          sent.on('error', fail).end(body)
        })
      const health = () =>
        get('/v2/health').then(
          ({ status }) => status,
          () => log,
        )
      await expect.poll(health, { timeout: 30_000 }).toBe(200)
      return { get }
    }

    it('hands requests on while the node is dead, and refusals come from the daemon', async () => {
      const { get } = await proxy()
      const headers = { authorization: `Bearer ${daemon.operator}` }
      const probed = async () => {
        const { text } = await daemon.request('GET', '/metrics')
        return Number(/svc_http_requests_total\{method="GET",route="\/ready",status="200"\} (\d+)/.exec(text)?.[1] ?? 0)
      }
      // nginx asks for nothing by itself.
      if (name !== 'nginx') await expect.poll(probed, { timeout: 60_000 }).toBeGreaterThanOrEqual(2)
      expect((await daemon.request('GET', '/ready', { key: null })).status).toBe(503)
      expect((await get('/v2/pools', '127.0.0.1', headers)).status).toBe(200)
      for (const path of ['/ready', '/metrics']) expect((await get(path)).status).toBe(404)
      const json = { ...headers, 'content-type': 'application/json' }
      for (const [sent, status] of [
        [{ 'content-type': 'application/json' }, 401],
        [json, 400],
      ] as const) {
        const refused = await get('/v2/api-keys', '127.0.0.1', sent, `{"name":"${'x'.repeat(200_000)}"}`)
        expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([
          status,
          status === 401 ? 'unauthorized' : 'bad_request',
        ])
      }
    })

    it('answers no POST with 502, however long the connections behind it were idle', async () => {
      const headers = { authorization: `Bearer ${daemon.operator}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ args: { user: '1'.repeat(32) } })
      const together = <T>(ask: () => Promise<T>) => Promise.all(Array.from({ length: 40 }, ask))
      // The daemon closed after 6.0 s once; the samples close after 60 s.
      const waits = [5_900, 5_960, 6_000, 6_040, 6_100, 59_900, 60_000, 60_100, 61_000]
      const statuses = await Promise.all(
        waits.map(async (ms) => {
          const { get } = await proxy()
          await together(() => get('/v2/health'))
          await delay(ms)
          const answers = await together(() => get('/v2/pdas/gold_lock', '127.0.0.1', headers, body))
          return [ms, [...new Set(answers.map(({ status }) => status))]]
        }),
      )
      expect(statuses).toEqual(waits.map((ms) => [ms, [200]]))
    })

    it('has each visitor counted by its own address, whatever the visitor says of it', async () => {
      const { get } = await proxy()
      const path = `/claim/${'A'.repeat(46)}/sponsorship`
      let admitted = 0
      const limited = async () => {
        const { status } = await get(path, '127.0.0.2', { 'x-forwarded-for': `9.9.9.${admitted}` })
        if (status !== 429) admitted++
        return status
      }
      await expect.poll(limited, { timeout: 60_000, interval: 1 }).toBe(429)
      expect(admitted).toBeGreaterThanOrEqual(20)
      expect((await get(path, '127.0.0.3')).status).not.toBe(429)
    })
  })
})
