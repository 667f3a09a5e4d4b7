/** `svc tokens inspect`: the report of a token in a terminal, as JSON, as fields, and as a picture. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { beforeAll, describe, expect, it } from 'vitest'
import { distributionSvg } from '../../commands/tokens/distribution-picture.ts'
import { reportText } from '../../commands/tokens/report-text.ts'
import { TOKEN_RISKS, type TokenReport } from '../../src/api/token-report.ts'
import { DAMM_V2_POOL_AUTHORITY } from '../../src/solana/programs.ts'
import { keyOf, namedOwners, putHolders } from '../support/holders.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const mint = keyOf('inspected mint')
const wallets = namedOwners('inspected wallet', 14)

describe('svc tokens inspect', () => {
  let daemon: Served
  beforeAll(async () => {
    daemon = await serveHere(cli.dataDir)
    const vault = { owner: base58.decode(DAMM_V2_POOL_AUTHORITY), amount: 600_000_000n }
    const holders = wallets.map((owner, i) => ({ owner, amount: 20_000_000n + BigInt(i) }))
    await putHolders(await daemon.local(), { mint, holders: [vault, ...holders] })
    return () => daemon.stop()
  })

  it('shows facts, who holds the supply, and one verdict on each risk', async () => {
    const { stdout, exitCode } = await cli.svc(['tokens', 'inspect', mint])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`^mint +${mint}$`, 'm'))
    expect(stdout).toMatch(/^supply +880\.000091, 6 decimals, SPL Token$/m)
    expect(stdout).toMatch(/^holders +14 holders at slot \d+; the 10 largest have 22\.72 %$/m)
    expect(stdout).toMatch(/^pools of DAMM v2 +68\.18 % {2}[█#]{20}$/m)
    expect(stdout).toMatch(/^4 other holders +9\.09 % {2}[█#]+$/m)
    expect(stdout).toMatch(/^ok +mint authority +Nobody can mint more\.$/m)
    expect(stdout).toMatch(/^unknown +unlocked liquidity\n {9}Neither Meteora DBC nor DAMM v2 has a pool of it/m)
    for (const line of stdout.split('\n')) if (!/\.$/.test(line)) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('gives the whole answer as JSON, and the verdicts as tab-separated fields', async () => {
    const json: TokenReport = JSON.parse((await cli.svc(['tokens', 'inspect', mint, '--json'])).stdout)
    expect(json).toMatchObject({ mint, supply: '880000091', holders: { holders: 14 }, gaps: [] })
    const { stdout } = await cli.svc(['tokens', 'inspect', mint, '--holder-limit', '1', '-o', 'plain'])
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    expect(rows.map(([risk]) => risk)).toEqual(TOKEN_RISKS)
    expect(rows.find(([risk]) => risk === 'large_holder')!.slice(1)).toEqual([
      'warning',
      expect.stringMatching(/ holds 2\.27 % of the supply\.$/),
      'It locks its tokens, or spreads them.',
    ])
  })

  it('writes the same picture of the same report, which loads nothing', async () => {
    const file = join(cli.home, 'holders.svg')
    const { exitCode, stderr } = await cli.svc(['tokens', 'inspect', mint, '--svg', file])
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(file)])
    const svg = readFileSync(file, 'utf8')
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    expect(svg.replace(/xmlns="[^"]*"/, '')).not.toMatch(/https?:|@import|url\(|<script|<image/)
    expect(svg.match(/<rect x="412"/g)).toHaveLength(12)
    await cli.refused(['tokens', 'inspect', mint, '--svg', join(cli.home, 'none/a.svg')], 'cannot be written')
  })

  it('refuses a limit that is not a percentage, and an address without a mint', async () => {
    await cli.refused(['tokens', 'inspect', mint, '--holder-limit', '0'], '--holder-limit must be a whole number')
    const { exitCode, stderr } = await cli.svc(['tokens', 'inspect', keyOf('no mint')])
    expect([exitCode, stderr]).toEqual([3, expect.stringMatching(/no token mint at/)])
  })

  it('shows a stranger’s texts of a foreign server clean, in the terminal and in the picture', async () => {
    const report: TokenReport = JSON.parse((await cli.svc(['tokens', 'inspect', mint, '--json'])).stdout)
    const evil = { ...report, metadata: { name: 'a\u001b[2Jb', symbol: '<script>&', uri: null, source: 'metaplex' } }
    expect(reportText(evil as never).split('\n').length).toBe(reportText(report).split('\n').length + 1)
    expect(distributionSvg(evil as never)).toContain('&lt;script&gt;&amp;: who holds the supply')
  })
})
