/** A given operator's key: the same for every daemon of a database, and where commands find it. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandLine } from '../cli/command-line.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { startDaemon } from '../support/daemon.ts'
import { temporaryFolder } from '../support/service.ts'

const GIVEN = `svc_live_${'g'.repeat(32)}`
const cli = commandLine()
const started = await startPostgres()
const server = started as PostgresServer

const file = (text: string) => {
  const path = join(temporaryFolder(), 'secret')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

describe.skipIf('missing' in started)('daemons that share a PostgreSQL database and a given operator key', () => {
  it('start together, accept the key, and store it once', async () => {
    const env = {
      SVC_DATABASE_URL_FILE: file(`${await server.createMigratedDatabase()}\n`),
      SVC_ENCRYPTION_KEY_FILE: file('ab'.repeat(32)),
      SVC_OPERATOR_KEY_FILE: file(`${GIVEN}\n`),
    }
    const start = () => startDaemon({ dataDir: temporaryFolder(), flags: ['--rpc-port', '0'], env })
    const daemons = await Promise.all([start(), start()])
    onTestFinished(async () => void (await Promise.all(daemons.map((daemon) => daemon.stop()))))
    for (const { request, operator } of daemons) {
      expect(operator).toBe(GIVEN)
      const { status, json } = await request('GET', '/v2/api-keys')
      expect([status, json.data.map(({ name }: { name: string }) => name)]).toEqual([200, ['local operator']])
    }
  })
})

describe('the setting operator-key', () => {
  it('replaces a generated key, in a file that is private', async () => {
    const dataDir = temporaryFolder()
    const env = { SVC_DATA_DIR: dataDir }
    expect((await cli.svc(['keys', 'list'], { env })).exitCode).toBe(0)
    const made = readFileSync(join(dataDir, 'operator.key'), 'utf8').trim()
    expect(made).not.toBe(GIVEN)
    const given = { ...env, SVC_OPERATOR_KEY: GIVEN }
    expect((await cli.svc(['keys', 'list'], { env: given })).stdout).toContain('gggg')
    expect(readFileSync(join(dataDir, 'operator.key'), 'utf8')).toBe(`${GIVEN}\n`)
    expect(statSync(join(dataDir, 'operator.key')).mode & 0o777).toBe(0o600)
    const kept = await cli.svc(['keys', 'list', '--json'], { env })
    expect(JSON.parse(kept.stdout)).toHaveLength(2)
  })

  it('must be a key, and an invalid one is not repeated', async () => {
    mkdirSync(join(cli.home, 'none'), { recursive: true })
    const env = { SVC_DATA_DIR: join(cli.home, 'none'), SVC_OPERATOR_KEY: 'swordfish' }
    const refused = await cli.svc(['keys', 'list'], { env })
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('operator-key (SVC_OPERATOR_KEY) must be svc_live_ and 32 letters or digits'),
    })
    expect(refused.stderr).not.toContain('swordfish')
  })

  it('stops the start if its key was revoked, with the way to continue', async () => {
    const env = { SVC_DATA_DIR: temporaryFolder(), SVC_OPERATOR_KEY: GIVEN }
    const [{ id }] = JSON.parse((await cli.svc(['keys', 'list', '--json'], { env })).stdout)
    expect((await cli.svc(['keys', 'delete', id, '--yes'], { env })).exitCode).toBe(0)
    const refused = await cli.svc(['keys', 'list'], { env })
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('set operator-key to another') })
  })
})
