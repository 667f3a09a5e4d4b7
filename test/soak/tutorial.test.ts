/** docs/tutorial.md, played as tools/record-tutorial.ts records it: in a terminal of 80 columns, with an empty home. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { commandsOf, play, shownBy, tutorialBlocks } from '../../tools/record-tutorial.ts'
import { lacksDistributor } from '../support/airdrops.ts'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { lacksDbc } from '../support/dbc.ts'
import { freePort } from '../support/ports.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const home = makeSharedFolder('svc-tutorial-')
/** Another embedded chain, which serves the programs as a cluster does. */
let cluster: ChainProcess
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))

/** Lines with several words that a terminal of 80 columns would break. */
const tooWide = (screen: string) =>
  screen.split(/[\r\n]/).filter((line) => line.length > 80 && line.trim().includes(' '))

describe.skipIf(lacksDbc || lacksDistributor)('the tutorial', () => {
  beforeAll(async () => {
    cluster = await startChain(makeSharedFolder('svc-cluster-'), { SVC_PROGRAMS_DIR: PROGRAMS_DIR })
  })
  afterAll(() => cluster.stop())

  it('leads from an empty home without programs to a migrated pool, claimed fees, and a claimed airdrop with its page', async () => {
    const blocks = tutorialBlocks()
    expect(blocks.length).toBeGreaterThan(8)
    const port = String(await freePort())
    const commands = [
      ...blocks.slice(0, -1).flatMap(commandsOf),
      `curl -sf localhost:${port}/claim/$id/ > claim.html`,
      ...commandsOf(blocks.at(-1)!),
    ].map((command) =>
      command
        .replaceAll('localhost:8787', `localhost:${port}`)
        .replace(/^svc localnet pull$/, `svc localnet pull --url ${cluster.url}`)
        // On a busy machine the ledger is later.
        .replace('sleep 20', 'until svc ledger verify >/dev/null 2>&1; do sleep 2; done'),
    )
    const stdout = shownBy(await play({ home, commands, env: { SVC_PORT: port } }))
    expect(readdirSync(join(home, '.cache/svc/programs'))).toContain(`${PROGRAMS.dbc.id}.so`)
    expect(tooWide(stdout)).toEqual([])
    expect(stdout).toMatch(/^\s+dbc +FIRST +migrated +100 %/m)
    expect(stdout).toMatch(/^partner +dbc +SOL +0\.69\d+ +0 +0\.69\d+$/m)
    expect(stdout).toContain(`http://localhost:${port}/claim/`)
    expect(readFileSync(join(home, 'claim.html'), 'utf8')).toContain('claim.js')
    expect(existsSync(join(home, 'page/index.html'))).toBe(true)
    expect(stdout).toMatch(/STATUS +claiming/)
    expect(stdout).toMatch(/Compared [1-9]\d* transactions with \d+ entries: all equal/)
  }, 360_000)
})
