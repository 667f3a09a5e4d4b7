/** What a table costs against the same answer as JSON, and a "no" against a "yes": whole processes on 200,000 rows. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recipients } from './merkle/recipients.ts'
import { processTimes } from './merkle/timing.ts'

const ROWS = 200_000
const ROUNDS = 3
const SVC = join(import.meta.dirname, '..', 'dist', 'svc.js')
const MINT = 'So11111111111111111111111111111111111111112'

/** Needs a built dist/; about a minute. */
export async function tables(): Promise<{ name: string; ms: number; ratio: number; floor: string }[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-tables-'))
  try {
    const list = Array.from(recipients(ROWS))
    const file = (name: string, more: bigint) => {
      const path = join(folder, name)
      writeFileSync(path, list.map(([wallet, amount]) => `${wallet},${BigInt(amount) + more}\n`).join(''))
      return path
    }
    const [before, after] = [file('before.csv', 0n), file('after.csv', 1n)]
    const built = execFileSync(process.execPath, [SVC, 'merkle', 'build', before, '--mint', MINT, '--json'])
    const { root } = JSON.parse(built.toString()) as { root: string }
    const diff = [SVC, 'merkle', 'diff', before, after, '-o']
    const verify = [SVC, 'merkle', 'verify']
    const [json = 0, table = 0, yes = 0, no = 0] = processTimes(ROUNDS, [
      [...diff, 'json'],
      [...diff, 'table'],
      [...verify, before, '--root', root],
      ['-e', failing([...verify, after, '--root', root])],
    ])
    const rows = `${ROWS.toLocaleString('en')} rows`
    return [
      { name: `merkle diff of ${rows}, as a table`, ms: table, ratio: table / json, floor: 'the same as JSON' },
      { name: `merkle verify of ${rows} that fails`, ms: no, ratio: no / yes, floor: 'one that passes' },
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A command whose exit code is 1, measured as one that succeeds; the process around it counts to its disadvantage. */
const failing = (args: readonly string[]) =>
  `process.exit(require('node:child_process').spawnSync(process.execPath, ${JSON.stringify(args)}).status === 1 ? 0 : 1)`
