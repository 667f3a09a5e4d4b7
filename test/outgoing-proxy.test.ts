/** The HTTP proxy that the environment names, and a database URL whose password ends it too early. */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { outgoingProxy, useOutgoingProxy } from '../src/platform/outgoing-proxy.ts'
import { requirePostgresUrl } from '../src/store/postgres/settings.ts'
import { commandLine } from './cli/command-line.ts'

const cli = commandLine()

describe('the HTTP proxy of the environment', () => {
  it('is used by every fetch to another machine, except those in NO_PROXY', async () => {
    const seen: string[] = []
    const target = createServer((request, response) => void response.end(`hello ${request.headers.host}`))
    const proxy = createServer()
    proxy.on('connect', ({ url }, socket, head) => {
      seen.push(url ?? '')
      const onward = connect((target.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.write(head)
        onward.pipe(socket).pipe(onward)
      })
    })
    for (const server of [target, proxy]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const before = getGlobalDispatcher()
    const { HTTP_PROXY } = process.env
    onTestFinished(() => {
      setGlobalDispatcher(before)
      if (HTTP_PROXY === undefined) delete process.env.HTTP_PROXY
      else process.env.HTTP_PROXY = HTTP_PROXY
      for (const server of [target, proxy]) server.closeAllConnections()
      for (const server of [target, proxy]) server.close()
    })
    process.env.HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    await useOutgoingProxy({ ...process.env, NO_PROXY: 'skipped.invalid' })
    const asked = await fetch('http://node.invalid/', { method: 'POST', body: '{}' })
    expect([await asked.text(), seen]).toEqual(['hello node.invalid', ['node.invalid:80']])
    const own = await fetch(`http://127.0.0.1:${(target.address() as AddressInfo).port}/`)
    expect([own.status, seen.length]).toEqual([200, 1])
    await expect(fetch('http://skipped.invalid/')).rejects.toThrow()
    expect(seen).toHaveLength(1)
  })

  it('is named by `svc doctor`, without its credentials', async () => {
    const doctor = (env: Record<string, string>) => cli.spawned(['doctor', '-o', 'plain'], { env })
    const { stdout } = await doctor({ HTTPS_PROXY: 'http://user:hidden@127.0.0.1:1' })
    expect(stdout).toMatch(/^ok\tproxy\trequests to nodes and providers go through HTTPS_PROXY; webhooks never do$/m)
    expect(stdout).not.toContain('hidden')
    expect((await doctor({})).stdout).not.toMatch(/^ok\tproxy/m)
  })

  it('is absent without a variable that names it', () => {
    expect(outgoingProxy({ HTTPS_PROXY: '' })).toBeNull()
    expect(outgoingProxy({ https_proxy: 'http://proxy:1' })?.variables).toEqual(['https_proxy'])
  })
})

describe('a database URL with a password that ends its host', () => {
  it('is refused with the advice to percent-encode, without any part of the password', () => {
    for (const text of ['pa#sswd', 'pa/sswd', 'pa?sswd']) {
      const url = `postgres://user:${text}@host/db`
      expect(() => requirePostgresUrl(url)).toThrow('percent-encoded')
      expect(() => requirePostgresUrl(url)).not.toThrow('sswd')
    }
    for (const url of ['postgres://user:pa%23sswd@host/db', 'postgres://host/db', 'postgres://u:p@h/db?x=a@b'])
      expect(() => requirePostgresUrl(url)).not.toThrow()
  })
})
