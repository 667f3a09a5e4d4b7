/** A clone that is rebuilt under a running daemon, as `npm ci` and `npm exec svc` do: the daemon goes on. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { expect, it, onTestFinished } from 'vitest'
import { copyClone } from '../support/clone.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { requester } from '../support/request.ts'
import { temporaryFolder } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CREATOR = '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS'
const MINT = 'So11111111111111111111111111111111111111112'
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

it('a daemon still loads its chunks after its clone was rebuilt', { timeout: 1_200_000 }, async () => {
  const [clone, home] = [join(temporaryFolder(), 'clone'), temporaryFolder()]
  mkdirSync(clone)
  copyClone(clone)
  cpSync(join(ROOT, 'dist'), join(clone, 'dist'), { recursive: true })
  const prepare = () => execa('npm', ['run', 'prepare'], { cwd: clone, env: { HOME: home } })
  const files = () =>
    readdirSync(join(clone, 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file !== '.inputs' && statSync(join(clone, 'dist', file)).isFile())
      .sort()

  const daemon = spawn(process.execPath, [join(clone, 'dist/svc.js'), 'serve', '--port', '0', '--rpc-port', '0'], {
    cwd: home,
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: join(home, 'data') },
      ...{ SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_PLATFORM_WALLET: CREATOR },
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(daemon, 'exit')
  onTestFinished(async () => {
    daemon.kill('SIGKILL')
    await ended
  })
  const [line] = (await once(createInterface(daemon.stdout), 'line')) as [string]
  const operator = readFileSync(join(home, 'data/operator.key'), 'utf8').trim()
  const request = requester(/http:\S+/.exec(line)![0], fetch, operator)

  // Nothing has changed, so nothing is written.
  const before = files()
  const made = statSync(join(clone, 'dist/svc.js')).mtimeMs
  await prepare()
  expect([files(), statSync(join(clone, 'dist/svc.js')).mtimeMs]).toEqual([before, made])

  // Almost every file of the program holds this one, or names one that does.
  const errors = join(clone, 'src/platform/errors.ts')
  writeFileSync(errors, readFileSync(errors, 'utf8').replace("'Something went wrong'", "'Something went quite wrong'"))
  await prepare()
  expect(files().length).toBeGreaterThan(before.length)
  expect(before.filter((file) => !files().includes(file))).toEqual([])

  const entries = [{ wallet: CREATOR, amount: '1' }]
  const tree = { mint: MINT, airdrop_count: 0, entries, persist: true }
  expect((await request('POST', '/v2/merkle-trees', { body: tree })).status).toBe(201)
  const token = { payer: CREATOR, name: 'One', symbol: 'ONE', uri: 'https://example.com/one.json', decimals: 6 }
  const built = await request('POST', '/v2/tokens', { body: { ...token, initial_supply: '1' } })
  expect([built.status, built.json.error]).toEqual([200, undefined])
  const pool = { creator: CREATOR, name: 'One', symbol: 'ONE', image: PIXEL }
  const launched = await request('POST', '/v2/pools', { body: pool })
  expect([launched.status, launched.json.error]).toEqual([201, undefined])
  expect((await fetch(`${/http:\S+/.exec(line)![0]}/v2/docs`)).status).toBe(200)
  const { stdout } = await execa(process.execPath, [join(clone, 'dist/svc.js'), 'doctor'], {
    ...{ cwd: home, env: { HOME: home, SVC_DATA_DIR: join(home, 'data') }, reject: false },
  })
  expect(stdout).toContain(`pid ${daemon.pid}`)
})
