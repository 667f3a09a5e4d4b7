/** Whether dist/ counts as built: of the sources, the packages and the compiler's options that are there now. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/service.ts'

const MODULE = pathToFileURL(join(import.meta.dirname, '../.build/inputs.mjs')).href
const FILES = ['esbuild.config.mjs', 'package-lock.json', 'package.json', 'tsconfig.json', 'src/one.ts']

describe('dist/', () => {
  it('is built anew where a source, a package or an option has changed, or where the command is missing', () => {
    const cwd = temporaryFolder()
    for (const folder of ['.build', 'bin', 'commands', 'daemon', 'src', 'dist']) mkdirSync(join(cwd, folder))
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
})
