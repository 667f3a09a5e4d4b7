/** Whether dist/ counts as built: of the sources, the packages and the compiler's options that are there now. */
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { usesDist } from './support/build.ts'
import { temporaryFolder } from './support/service.ts'

const moduleOf = (name: string) => import(pathToFileURL(join(import.meta.dirname, '../tools/build', name)).href)
const { inputsHash, isBuilt } = await moduleOf('inputs.mjs')
const { keepEarlierFiles } = await moduleOf('earlier-files.mjs')
const FILES = [
  'examples/ci/check-airdrops.sh',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
  'src/one.ts',
  'tools/build.mjs',
]

/** A folder of the test, which a build is called in; one worker runs one file at a time. */
function workingFolder(): string {
  const before = process.cwd()
  const cwd = temporaryFolder()
  process.chdir(cwd)
  onTestFinished(() => process.chdir(before))
  return cwd
}

describe('dist/', () => {
  it.each([
    ['slopes', false],
    ['merkle/csv', false],
    ['cli/first-hour', true],
    ['merkle/engine', true],
    ['pools', true],
  ])('is built for a run of %s.test.ts only if that starts or reads something of it', (name, isUsed) => {
    expect(usesDist([join(import.meta.dirname, `${name}.test.ts`)])).toBe(isUsed)
  })

  it('is rebuilt if a source, a package or an option has changed, or if the command is missing', () => {
    const cwd = workingFolder()
    for (const folder of ['bin', 'commands', 'daemon', 'src', 'tools', 'dist', 'examples/ci'])
      mkdirSync(join(cwd, folder), { recursive: true })
    for (const file of [...FILES, 'dist/svc.js']) writeFileSync(join(cwd, file), '')
    expect(isBuilt()).toBe(false)
    writeFileSync(join(cwd, 'dist/.inputs'), inputsHash())
    expect(isBuilt()).toBe(true)
    for (const file of FILES) {
      writeFileSync(join(cwd, file), 'changed')
      expect([file, isBuilt()]).toEqual([file, false])
      writeFileSync(join(cwd, file), '')
    }
    rmSync(join(cwd, 'dist/svc.js'))
    expect(isBuilt()).toBe(false)
  })

  it('keeps the files of earlier builds for a month, and lists them for npm to leave out', async () => {
    const cwd = workingFolder()
    mkdirSync(join(cwd, 'dist/help'), { recursive: true })
    const path = (name: string) => join(cwd, 'dist', name)
    for (const name of ['svc.js', 'one.js', 'help/two.json', '.inputs']) writeFileSync(path(name), name)
    const daysAgo = (name: string, days: number) => utimesSync(path(name), 0, Date.now() / 1000 - days * 86_400)
    const built = async (...written: string[]) => {
      const put = async (path: string, text: string) => writeFileSync(path, text)
      await keepEarlierFiles(new Set(written.map((name) => `dist/${name}`)), put)
      return readFileSync(path('.npmignore'), 'utf8').split('\n').filter(Boolean)
    }
    // It is old, and yet what runs may have been started from it a moment ago.
    daysAgo('one.js', 400)
    expect(await built('svc.js', 'help/two.json')).toEqual(['/one.js'])
    expect(existsSync(path('one.js'))).toBe(true)
    daysAgo('one.js', 29)
    expect(await built('svc.js')).toEqual(['/help/two.json', '/one.js'])
    daysAgo('one.js', 31)
    expect(await built('svc.js')).toEqual(['/help/two.json'])
    expect([existsSync(path('one.js')), existsSync(path('help/two.json'))]).toEqual([false, true])
    // One that a build has put there again is of this build.
    expect(await built('svc.js', 'help/two.json')).toEqual([])
  })
})
