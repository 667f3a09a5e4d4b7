/** Random and mutated transactions of version 1: the runtime would abort on bytes that the decoder lets through. */
import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'

const TRANSACTIONS = 4_000
const SEEDS = [1, 2].map((n) => Math.floor(Date.now() / 1_000) * 10 + n)

it.each(SEEDS)(
  `the embedded chain survives ${TRANSACTIONS} random transactions of version 1 (seed %i)`,
  async (seed) => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'test/soak/v1-fuzz-child.ts', `${seed}`, `${TRANSACTIONS}`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    const end = await new Promise((resolve) => child.once('close', (code, signal) => resolve([code, signal])))
    expect(end).toEqual([0, null])
    const outcomes = Object.values(JSON.parse(stdout) as Record<string, number>)
    // Each is simulated and sent.
    expect(outcomes.reduce((sum, count) => sum + count)).toBe(2 * TRANSACTIONS)
    expect(Math.min(...outcomes)).toBeGreaterThan(TRANSACTIONS / 40)
  },
)
