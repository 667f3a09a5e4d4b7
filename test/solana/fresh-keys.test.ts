/** Keys that are made for one request. */
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/service.ts'

const SCRIPT = `
  import { freshKey } from './signatures.ts'
  const addresses = new Set(Array.from({ length: 5_000 }, () => freshKey().address))
  process.stdout.write(String(addresses.size))
`

it.each([5, 17, 97])(
  'making a key never blocks a process that collects garbage every %i allocations',
  async (often) => {
    const outfile = join(temporaryFolder(), 'keys.mjs')
    const stdin = { contents: SCRIPT, resolveDir: resolve(import.meta.dirname, '../../src/solana') }
    buildSync({ stdin, outfile, bundle: true, platform: 'node', format: 'esm' })
    const args = [`--gc-interval=${often}`, outfile]
    const { stdout } = await execa(process.execPath, args, { timeout: 100_000, killSignal: 'SIGKILL' })
    expect(stdout).toBe('5000')
  },
)
