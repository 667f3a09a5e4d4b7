/** A run of the tests leaves no process and no folder behind, whatever ended it. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { processesNaming } from './support/leftovers.ts'
import { temporaryFolder } from './support/service.ts'

const VITEST = resolve(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
const CONFIG = resolve(import.meta.dirname, 'support/run-fixture/vitest.config.ts')

/** A run of the fixture whose temporary folders are made below `folder`. */
function run(folder: string, waits: boolean) {
  const file = join(folder, 'run-folder')
  const env = { TMPDIR: folder, RUN_FOLDER_FILE: file, WAITS: waits ? '1' : '0' }
  const child = execa(process.execPath, [VITEST, 'run', '--config', CONFIG], { env, reject: false, all: true })
  return { child, runFolder: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') }
}

describe('a run of the tests', () => {
  it('fails when a test left a process or a folder, names both, and takes them away', async () => {
    const folder = temporaryFolder()
    const dead = join(folder, 'svc-run-4194305-1-abcdef')
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

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('takes everything with it when %s ends it', async (signal) => {
    const { child, runFolder } = run(temporaryFolder(), true)
    await expect.poll(runFolder, { timeout: 60_000 }).not.toBe('')
    const folder = runFolder()
    expect(processesNaming(folder)).not.toEqual([])
    child.kill(signal)
    await child
    await expect.poll(() => [existsSync(folder), processesNaming(folder)], { timeout: 30_000 }).toEqual([false, []])
  })
})
