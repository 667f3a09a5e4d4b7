/** `npm run demo`, as a newcomer runs it: every step of it checks itself. */
import { resolve } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { lacksDbc } from '../support/dbc.ts'
import { hasProgram } from '../support/programs.ts'

it('runs to its end, with the launch where the programs are in the cache', async () => {
  const root = resolve(import.meta.dirname, '../..')
  const { exitCode, stdout } = await execa('npm', ['run', 'demo'], { cwd: root, reject: false, env: { NO_COLOR: '1' } })
  expect(exitCode, stdout).toBe(0)
  expect(stdout).toMatch(/\d+ steps, \d+ checks, all passed/)
  const needed = [PROGRAMS.distributor, PROGRAMS.tokenMetadata, PROGRAMS.core, PROGRAMS.lock]
  if (needed.every(({ id }) => hasProgram(id))) {
    expect(stdout).toContain('what is left goes back after its time, and not before')
    expect(stdout).toContain('it is burned, and its life was told in events')
    expect(stdout).toContain('svc gold unlock returns tokens and rent')
  }
  expect(stdout).toContain(lacksDbc ? 'left out' : 'it trades on there, and its fees are claimed to the lamport')
}, 600_000)
