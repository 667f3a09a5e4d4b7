/** Whether dist/ counts as built: of the sources, the packages and the compiler's options that are there now. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/service.ts'

const MODULE = pathToFileURL(join(import.meta.dirname, '../tools/build/inputs.mjs')).href
const EARLIER = pathToFileURL(join(import.meta.dirname, '../tools/build/earlier-files.mjs')).href
const FILES = ['package-lock.json', 'package.json', 'tsconfig.json', 'src/one.ts', 'tools/build.mjs']

describe('dist/', () => {
  it('is built anew where a source, a package or an option has changed, or where the command is missing', () => {
    const cwd = temporaryFolder()
    for (const folder of ['bin', 'commands', 'daemon', 'src', 'tools', 'dist']) mkdirSync(join(cwd, folder))
    for (const file of [...FILES, 'dist/svc.js']) writeFileSync(join(cwd, file), '')
    const run = (expression: string) => {
      const script = `import { inputsHash, isBuilt } from '${MODULE}'; process.stdout.write(String(${expression}))`
      return execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' })
    }
    expect(run('isBuilt()')).toBe('false')
    writeFileSync(join(cwd, 'dist/.inputs'), run('inputsHash()'))
    expect(run('isBuilt()')).toBe('true')
    for (const file of FILES) {
      writeFileSync(join(cwd, file), 'changed')
      expect([file, run('isBuilt()')]).toEqual([file, 'false'])
      writeFileSync(join(cwd, file), '')
    }
    rmSync(join(cwd, 'dist/svc.js'))
    expect(run('isBuilt()')).toBe('false')
  })

  it('keeps the files of earlier builds for a month after they were replaced, and names them for npm', () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'dist/help'), { recursive: true })
    const path = (name: string) => join(cwd, 'dist', name)
    for (const name of ['svc.js', 'one.js', 'help/two.json', '.inputs']) writeFileSync(path(name), name)
    const daysAgo = (name: string, days: number) => utimesSync(path(name), 0, Date.now() / 1000 - days * 86_400)
    const built = (...written: string[]) => {
      const files = JSON.stringify(written.map((name) => `dist/${name}`))
      const put = 'async (path, text) => writeFileSync(path, text)'
      const script = `import { keepEarlierFiles } from '${EARLIER}'; import { writeFileSync } from 'node:fs'
        await keepEarlierFiles(new Set(${files}), ${put})`
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd })
      return readFileSync(path('.npmignore'), 'utf8').split('\n').filter(Boolean)
    }
    // It is old, and yet what runs may have been started from it a moment ago.
    daysAgo('one.js', 400)
    expect(built('svc.js', 'help/two.json')).toEqual(['/one.js'])
    expect(existsSync(path('one.js'))).toBe(true)
    daysAgo('one.js', 29)
    expect(built('svc.js')).toEqual(['/help/two.json', '/one.js'])
    daysAgo('one.js', 31)
    expect(built('svc.js')).toEqual(['/help/two.json'])
    expect([existsSync(path('one.js')), existsSync(path('help/two.json'))]).toEqual([false, true])
    // One that a build has put there again is of this build.
    expect(built('svc.js', 'help/two.json')).toEqual([])
  })
})
