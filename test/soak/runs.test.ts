/** A run of the tests leaves no process and no folder behind, however it ends. */
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { PID_NAMESPACE, processesNaming } from '../support/leftovers.ts'
import { temporaryFolder } from '../support/service.ts'

const VITEST = resolve(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
const CONFIG = resolve(import.meta.dirname, '../support/run-fixture/vitest.config.ts')

/** Processes are known by what the system tells of them here. */
const lacksProc = !existsSync('/proc/self/stat')

/** A run of one fixture whose temporary folders are made below `folder`. */
function run(folder: string, waits: boolean, fixture = 'leaving') {
  const file = join(folder, 'run-folder')
  const env = { TMPDIR: folder, RUN_FOLDER_FILE: file, WAITS: waits ? '1' : '0', SVC_TEST_END_MS: '2000' }
  const child = execa(process.execPath, [VITEST, 'run', '--config', CONFIG, fixture], { env, reject: false, all: true })
  return { child, runFolder: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') }
}

describe('a run of the tests', () => {
  it.skipIf(lacksProc)('fails if a test left a process or a folder, names both, and removes them', async () => {
    const folder = temporaryFolder()
    const dead = join(folder, `svc-run-4194305-1-${PID_NAMESPACE}-abcdef`)
    mkdirSync(dead)
    const { child, runFolder } = run(folder, false)
    const { exitCode, all } = await child
    expect(all).toMatch(/the test run left behind: process \d+ \(.*forgotten-.*\), forgotten-/)
    expect(all).toContain('1 passed')
    expect(exitCode).toBe(1)
    expect(runFolder()).toContain(join(folder, 'svc-run-'))
    expect([existsSync(runFolder()), processesNaming(runFolder())]).toEqual([false, []])
    // Of a run that ended without its reaper.
    expect(existsSync(dead)).toBe(false)
  })

  it.skipIf(lacksProc).each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'removes its processes and its folder when %s ends it',
    async (signal) => {
      const { child, runFolder } = run(temporaryFolder(), true)
      await expect.poll(runFolder, { timeout: 60_000 }).not.toBe('')
      const folder = runFolder()
      expect(processesNaming(folder)).not.toEqual([])
      child.kill(signal)
      await child
      await expect.poll(() => [existsSync(folder), processesNaming(folder)], { timeout: 30_000 }).toEqual([false, []])
    },
  )

  it('succeeds if all tests of a file are skipped, whatever the file made while it was loaded', async () => {
    const folder = temporaryFolder()
    const { exitCode, all } = await run(folder, false, 'skipped').child
    expect(all).toContain('1 skipped')
    expect([exitCode, readdirSync(folder)], all).toEqual([0, []])
  })

  it('keeps folders of another user and of another container', async () => {
    const folder = temporaryFolder()
    const names = ['svc-run-4194305-1-1-abcdef']
    // Only root can give a folder away.
    if (process.getuid?.() === 0) names.push(`svc-run-4194305-1-${PID_NAMESPACE}-abcdef`)
    for (const name of names) mkdirSync(join(folder, name))
    if (names[1] !== undefined) chownSync(join(folder, names[1]), 65_534, 65_534)
    expect(await run(folder, false, 'skipped').child).toMatchObject({ exitCode: 0 })
    expect(readdirSync(folder).toSorted()).toEqual(names.toSorted())
  })
})
