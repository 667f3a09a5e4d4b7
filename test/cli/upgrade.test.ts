/** `svc upgrade`: asks npm's registry only with --check, and says plainly what it answered. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { VERSION } from '../../src/platform/version.ts'
import { freePort } from '../support/ports.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const asked: string[] = []
let answer: [status: number, body: unknown]
const registry = createServer(({ url = '' }, response) => {
  asked.push(url)
  const [status, body] = answer
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
const published = (version: string): [number, unknown] => [
  200,
  { name: '@svc-launch/cli', 'dist-tags': { latest: version }, versions: { [version]: { version } } },
]
const registryAt = (port: number) =>
  writeFileSync(join(cli.home, '.npmrc'), `registry=http://127.0.0.1:${port}/\nupdate-notifier=false\n`)
const check = (...args: string[]) =>
  cli.spawned(['upgrade', '--check', ...args], {
    env: { npm_config_userconfig: join(cli.home, '.npmrc'), npm_config_cache: join(cli.home, 'npm') },
  })

beforeAll(async () => {
  await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done))
  registryAt((registry.address() as AddressInfo).port)
})
afterAll(() => registry.close())

it('without --check asks nobody', async () => {
  const { exitCode, stdout } = await cli.svc(['upgrade'])
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('npm install --global @svc-launch/cli@latest')])
  expect(asked).toEqual([])
})

it('names a newer version with the command that installs it', async () => {
  answer = published('999.0.1')
  const { exitCode, stdout } = await check()
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('npm install --global @svc-launch/cli@999.0.1')])
  expect(asked.every((url) => url === '/@svc-launch%2fcli')).toBe(true)
})

it('says that the installed version is the newest', async () => {
  answer = published(VERSION)
  const { stdout } = await check('--json')
  expect(JSON.parse(stdout)).toEqual({ installed: VERSION, latest: VERSION, newer: false })
})

it('says in a sentence why there is no answer', async () => {
  answer = [404, { error: 'not found' }]
  expect(await check()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("npm's registry has no @svc-launch/cli"),
  })
  answer = published('1.0.0-rc.1')
  expect(await check()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('could not be asked (its answer is not a version)'),
  })
  registryAt(await freePort())
  const offline = await check()
  expect([offline.exitCode, offline.stderr]).toEqual([
    1,
    expect.stringMatching(/could not be asked \(ECONNREFUSED\)[\s\S]*try again with a network/),
  ])
})
