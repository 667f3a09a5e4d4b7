/** The audit of `.ci/run` against registries that answer it and one that does not. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/service.ts'

const SCRIPT = resolve(import.meta.dirname, '../../tools/checks/audit.mjs')
const advisory = (severity: string) => ({
  hono: [{ id: 1, url: 'https://example.com/1', title: 'Everything burns', severity, vulnerable_versions: '*' }],
})

/** Runs it over a registry that answers with this. */
async function audit(status: number, body: unknown) {
  const server = createServer(({ method, url = '' }, response) => {
    const name = decodeURIComponent(url.slice(1))
    // What depends on a package is looked up by its document.
    const versions = { '1.0.0': { name, version: '1.0.0' } }
    const told = method === 'POST' ? body : { name, 'dist-tags': { latest: '1.0.0' }, versions }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const env = { npm_config_registry: registry, npm_config_cache: temporaryFolder(), npm_config_fetch_retries: '0' }
  const { exitCode, stdout } = await execa(SCRIPT, [], { env, reject: false })
  return { exitCode, stdout }
}

describe('tools/checks/audit.mjs', () => {
  it('fails on a critical vulnerability, and reports the others', async () => {
    expect(await audit(200, {})).toEqual({
      exitCode: 0,
      stdout: 'npm audit: 0 critical, 0 high, 0 moderate, 0 low, 0 for information',
    })
    const high = await audit(200, advisory('high'))
    expect(high).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('high hono: Everything burns') })
    const critical = await audit(200, advisory('critical'))
    expect(critical).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('critical hono: Everything burns') })
  })

  it('passes and says that nothing was checked if the registry does not support audits', async () => {
    const { exitCode, stdout } = await audit(405, { error: 'Method Not Allowed' })
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^npm audit: not run, because the registry does not answer \(405/),
    ])
  })
})
