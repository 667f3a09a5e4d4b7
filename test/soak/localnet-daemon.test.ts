/** Chains and daemons as processes of their own: killed, on another cluster, on a port that is taken, and one with the other. */
import { existsSync, mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine } from '../cli/command-line.ts'
import { fileOf, rpc, startLocalnet } from '../cli/localnet-process.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'

const cli = commandLine()
const { svc, spawned, json } = cli
const WALLET = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'

const folder = (name: string) => {
  const path = join(cli.home, name)
  mkdirSync(path, { recursive: true })
  return path
}
const daemonOf = async (dataDir: string, flags: string[] = [], env: Record<string, string> = {}): Promise<Daemon> => {
  const daemon = await startDaemon({ dataDir, flags, env })
  onTestFinished(() => daemon.stop())
  return daemon
}

describe('svc localnet with a daemon', () => {
  it('keeps every reported balance if the daemon is killed, and continues without it', async () => {
    const dataDir = folder('killed')
    const daemon = await daemonOf(dataDir)
    const { balance } = await json(['localnet', 'airdrop', WALLET, '7', '--data-dir', dataDir])
    await daemon.stop('SIGKILL')
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(true)
    const next = await json(['localnet', 'airdrop', WALLET, '1', '--data-dir', dataDir])
    expect(BigInt(next.balance)).toBe(BigInt(balance) + 1_000_000_000n)
  })

  it('serves no chain if the daemon works on a cluster, which is asked at most once a second and shown by host', async () => {
    let answers = true
    const asked: string[] = []
    const node = await listening((request, response) => {
      text(request).then((body) => {
        asked.push(JSON.parse(body).method)
        response.writeHead(answers ? 200 : 500, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":"1","result":9}')
      })
    })
    const dataDir = folder('remote')
    const began = performance.now()
    const url = `http://127.0.0.1:${node.port}/hush-path?api-key=hush-query`
    const daemon = await daemonOf(dataDir, [], { SVC_URL: url, SVC_LOG_LEVEL: 'debug' })
    let log = ''
    daemon.process.stderr!.on('data', (text) => {
      log += text
    })
    const label = `127.0.0.1:${node.port}`
    expect(fileOf(dataDir, 'daemon.json')).toEqual({
      ...{ pid: daemon.process.pid, database: expect.any(String), url: daemon.url, role: 'all', cluster: label },
      cluster_unchosen: null,
      reload_signal: 'SIGUSR2',
    })
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    const ready = () => daemon.request('GET', '/ready', { key: null })
    const all = await Promise.all([ready(), ready(), ready(), ready()])
    expect(all.map(({ status, json }) => [status, json.data.checks.rpc])).toEqual(Array(4).fill([200, 'ok']))
    const slots = asked.filter((method) => method === 'getSlot').length
    expect(slots).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - began) / 1000))
    // What the cluster is, and the time of a block for the list of what needs a person.
    const others = asked.filter((method) => method !== 'getSlot')
    expect(others.length, `each once: ${asked}`).toBe(new Set(others).size)
    expect(others.length).toBeLessThanOrEqual(3)

    const env = { SVC_URL: url }
    const shown = await Promise.all([
      svc(['status', '--data-dir', dataDir], { env }),
      svc(['doctor', '--data-dir', dataDir], { env }),
      svc(['config', 'list', '--data-dir', dataDir], { env }),
      svc(['config', 'get', 'url', '--json'], { env }),
    ])
    expect(shown[0]).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`Cluster: ${label}`) })
    expect(shown[1].stdout).toMatch(new RegExp(`^ok +cluster +${label} \\(SVC_URL\\)$`, 'm'))
    expect(shown[1].stdout).toMatch(new RegExp(`^ok +rpc +${label} answers, slot 9, consensus unknown$`, 'm'))
    expect(JSON.parse(shown[3].stdout)).toMatchObject({ value: label, origin: 'environment' })

    answers = false
    await expect.poll(async () => (await ready()).status).toBe(503)
    expect((await ready()).json.data).toEqual({
      ...{ ready: false, role: 'all', checks: { database: 'ok', rpc: 'failing', workers: 'ok' } },
      reasons: { rpc: 'the chain does not answer' },
    })
    const unwell = await svc(['doctor', '--data-dir', dataDir], { env })
    expect(unwell).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('the RPC node answers 500') })
    await daemon.stop()
    expect(log).toContain(label)
    for (const { stdout, stderr } of [...shown, unwell]) log += stdout + stderr
    expect(log).not.toContain('hush')
  })

  it('takes another port if the default one is in use, and refuses a requested one that is', async () => {
    // Another run's test lets go of the port soon; whoever has it for longer takes it from this test as well.
    let outcome: string | undefined
    const take = async () => {
      await listening((_, response) => response.end(), 8899).then(
        () => (outcome = 'taken'),
        (error: NodeJS.ErrnoException) => (outcome = error.code),
      )
      return outcome
    }
    await expect
      .poll(take, { timeout: 60_000, interval: 200 })
      .toBe('taken')
      .catch(() => expect(outcome).toBe('EADDRINUSE'))
    const dataDir = folder('ports')
    const { rpc_url, stderr, stop } = await startLocalnet(cli, dataDir, [])
    await expect.poll(stderr).toContain(`Port 8899 of 127.0.0.1 is taken: the embedded chain is at ${rpc_url}`)
    expect(rpc_url).not.toMatch(/:8899$/)
    expect(await rpc(rpc_url, 'getHealth')).toBe('ok')
    expect(await stop()).toBe(0)
    const refused = await spawned(['localnet', 'start', '--rpc-port', '8899', '--data-dir', dataDir])
    expect(refused).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Port 8899 of 127.0.0.1 is taken; choose another with --rpc-port'),
    })
    const serve = await spawned(['serve', '--port', '0', '--rpc-port', '8899', '--data-dir', dataDir])
    expect(serve).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('Port 8899') })
    expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false)
  })
})

describe('A chain of svc localnet start', () => {
  it('is used by a daemon of its data folder, and stays when that one stops', async () => {
    const dataDir = folder('start')
    const at = ['--data-dir', dataDir]
    const { pid, rpc_url, stop } = await startLocalnet(cli, dataDir, ['--rpc-port', '0'])
    expect((await json(['localnet', 'airdrop', WALLET, '3', ...at])).balance).toBe('3000000000')
    const daemon = await daemonOf(dataDir)
    expect(fileOf(dataDir, 'daemon.json').rpc_url).toBe(rpc_url)
    expect((await daemon.request('GET', '/ready', { key: null })).json.data.checks.rpc).toBe('ok')
    await daemon.stop()
    expect(fileOf(dataDir, 'localnet.json').pid).toBe(pid)

    expect(await stop()).toBe(0)
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    expect((await json(['localnet', 'status', ...at])).transactions).toBe(1)
  })
})

/** A server for one test; `port` 0 takes any. */
async function listening(
  answer: Parameters<typeof createServer>[1] & object,
  port = 0,
): Promise<{ server: Server; port: number }> {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}
