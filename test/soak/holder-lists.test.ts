/** A list of 50,000 holders by the command, twice: the same bytes each time, from which svc merkle builds a tree. */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { openLocalChain } from '../../src/localnet/index.ts'
import { commandLine } from '../cli/command-line.ts'
import { keyOf, namedOwners, putHolders } from '../support/holders.ts'

const HOLDERS = 50_000
const TOTAL = 1_000_000_000_000_007n
const cli = commandLine()
const mint = keyOf('a mint of many')

describe('a list of 50,000 holders', () => {
  beforeAll(async () => {
    const chain = await openLocalChain({ dataDir: cli.dataDir, programsDir: '/nonexistent' })
    const [wallets, vaults] = [namedOwners('holder', HOLDERS), namedOwners('vault', 25, false)]
    const holders = [...wallets, ...vaults].map((owner, n) => ({ owner, amount: BigInt((n * 7_919) % 100_003) + 1n }))
    await putHolders(chain, { mint, holders })
    chain.close()
  })

  it('has the same bytes each time, and exactly the given total', { timeout: 240_000 }, async () => {
    const run = async (out: string) => {
      const ran = await cli.svc([
        'airdrops',
        'snapshot',
        mint,
        '--total',
        String(TOTAL),
        '--raw',
        '--out',
        out,
        '--json',
      ])
      expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: '' })
      return { bytes: readFileSync(`${cli.home}/${out}`), data: JSON.parse(ran.stdout) }
    }
    const [one, two] = [await run('one.csv'), await run('two.csv')]
    expect(two.bytes.equals(one.bytes)).toBe(true)
    expect(two.data.list).toEqual(one.data.list)
    expect(one.data.list).toMatchObject({ recipients: HOLDERS, total: String(TOTAL) })
    expect(one.data.left_out).toMatchObject({ count: 25, by_reason: [{ why: 'pda', count: 25 }] })
    const rows = one.bytes.toString().trimEnd().split('\n').slice(1)
    expect(rows.reduce((sum, row) => sum + BigInt(row.split(',')[1]!), 0n)).toBe(TOTAL)
    const built = await cli.svc(['merkle', 'build', 'one.csv', '--mint', mint, '--json'])
    expect(JSON.parse(built.stdout)).toMatchObject({ leaf_count: HOLDERS, total: String(TOTAL) })
  })
})
