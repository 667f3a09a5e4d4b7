/** The cost of a table: linear in its rows, and little more than that of JSON. */
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../tools/source.ts'
import { commandLine } from '../cli/command-line.ts'
import { walletOf } from '../merkle/reference.ts'

const cli = commandLine()

describe('the cost of a table', () => {
  it('grows linearly with the number of its rows', async () => {
    // In a process of its own, where no heap of other tests is collected beside it, and with room for a whole table.
    const flags = ['--expose-gc', '--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=64']
    const script = join(ROOT, 'test/cli/table-cost.ts')
    for (const width of [80, Number.POSITIVE_INFINITY]) {
      const args = [...flags, '--import', 'tsx', script, String(width), '6']
      const { stdout } = await execa(process.execPath, args, { cwd: ROOT })
      // Four times the rows cost four times as much, a square sixteen times.
      expect(Number(stdout)).toBeGreaterThan(0)
      expect(Number(stdout)).toBeLessThan(6)
    }
  })

  it('is within three times that of JSON for 20,000 changed rows of svc merkle diff', async () => {
    const csv = (name: string, more: number) =>
      cli.file(name, Array.from({ length: 20_000 }, (_, i) => `${walletOf(i)},${i + more}\n`).join(''))
    const [before, after] = [csv('before.csv', 1), csv('after.csv', 2)]
    const timed = async (format: string) => {
      const start = performance.now()
      const { exitCode, stdout } = await cli.svc(['merkle', 'diff', before, after, '-o', format])
      expect(exitCode).toBe(0)
      return { took: performance.now() - start, stdout }
    }
    const times: Record<'json' | 'table', number[]> = { json: [], table: [] }
    for (let round = 0; round < 3; round++) {
      times.json.push((await timed('json')).took)
      const shown = await timed('table')
      expect(shown.stdout.split('\n').length).toBe(20_002)
      times.table.push(shown.took)
    }
    expect(Math.min(...times.table) / Math.min(...times.json)).toBeLessThan(3)
  })
})
