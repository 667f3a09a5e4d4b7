/** `svc fees claim --all --squads`: the fees of several pools, proposed by one command and claimed by a vault. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { hasProgram } from '../support/programs.ts'
import { commandLine } from './command-line.ts'
import { vaultOf } from './vault.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.tokenMetadata, PROGRAMS.dbc].some(({ id }) => !hasProgram(id))
const cli = commandLine()
const vault = vaultOf(cli)
const { ben, carryOut } = vault
const creator = cli.keypair('creator.json')
const ok = (args: readonly string[]) => cli.json([...args])

describe.skipIf(lacks)('The fees of three pools of a vault', () => {
  const pools: string[] = []
  const claim = (...more: string[]) => ['fees', 'claim', '--all', ...vault.by(), ...more]
  const lamportsOf = async (address: string) => BigInt((await ok(['accounts', 'get', address])).lamports)
  const owed = async (pool: string) => BigInt((await ok(['fees', 'metrics', pool])).partner_quote_fee)

  beforeAll(async () => {
    await vault.open()
    await vault.fund(creator.address)
    const image = join(cli.home, 'token.png')
    writeFileSync(image, png())
    // The pools belong to different partners: those of the vault, and one of somebody else.
    for (const [symbol, partner] of [
      ['ONE', vault.address],
      ['TWO', vault.address],
      ['SIX', ben.address],
    ] as const) {
      cli.env.SVC_PLATFORM_WALLET = partner
      const create = ['pools', 'create', '--name', symbol, '--symbol', symbol, '--image', image, '--buy', '2']
      pools.push((await ok([...create, '-k', creator.file])).address)
    }
    await vault.serve({ SVC_PLATFORM_WALLET: ben.address })
  })

  it('are shown first, without a trace, and those of another partner are left out', async () => {
    const ran = await cli.svc([...claim('--dry-run'), '--json'])
    expect(ran.stderr).toContain('1 pool pays another partner than the vault')
    const { claims } = JSON.parse(ran.stdout)
    expect(claims.map(({ status }: { status: string }) => status)).toEqual(['to claim', 'to claim'])
    expect(await ok(['proposals', 'list'])).toEqual([])
  })

  it('become one proposal for each pool, which a second run leaves alone', async () => {
    const { claims } = await ok(claim())
    expect(claims).toHaveLength(2)
    expect(claims).toMatchObject([
      { status: 'proposed', signature: null },
      { status: 'proposed', signature: null },
    ])
    const again = await cli.svc([...claim(), '--json'])
    expect(again.exitCode, again.stderr).toBe(0)
    expect(again.stderr).toContain('2 in an open proposal')
    const proposals = claims.map(({ proposal }: { proposal: string }) => proposal)
    expect(JSON.parse(again.stdout).claims.map(({ proposal }: { proposal: string }) => proposal)).toEqual(proposals)
    expect(await ok(['proposals', 'list'])).toHaveLength(2)
  })

  it('are paid to the vault to the lamport, and are proposed again only once they were claimed', async () => {
    const [first, second] = (await ok(claim())).claims as { proposal: string; pool_address: string }[]
    const [fee, before] = [await owed(first!.pool_address), await lamportsOf(vault.address)]
    expect(fee).toBeGreaterThan(0n)
    await carryOut(first!.proposal)
    expect((await lamportsOf(vault.address)) - before).toBe(fee)
    await ok(['pools', 'swap', first!.pool_address, '--buy', '3', '-k', creator.file])
    const { claims } = await ok(claim())
    const byPool = new Map(claims.map((row: { pool_address: string }) => [row.pool_address, row]))
    expect(byPool.get(first!.pool_address)).toMatchObject({ status: 'proposed' })
    expect(byPool.get(second!.pool_address)).toMatchObject({ status: 'waits', proposal: second!.proposal })
  })
})
