/** Keys that are made for one request. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { temporaryFolder } from '../support/service.ts'

const KEYS = 5_000
const SCRIPT = `
  import { freshKey } from '${resolve(import.meta.dirname, '../../src/solana/signatures.ts')}'
  const addresses = new Set(Array.from({ length: ${KEYS} }, () => freshKey().address))
  process.stdout.write(String(addresses.size))
`

it.each([5, 17, 97])('freshKey never blocks a process that collects garbage every %i allocations', async (often) => {
  const folder = temporaryFolder()
  const outfile = join(folder, 'keys.mjs')
  const script = join(folder, 'script.ts')
  writeFileSync(script, SCRIPT)
  await bundle(script, outfile)
  const args = [`--gc-interval=${often}`, outfile]
  const { stdout } = await execa(process.execPath, args, { timeout: 100_000, killSignal: 'SIGKILL' })
  expect(stdout).toBe(String(KEYS))
})
