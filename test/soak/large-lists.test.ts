/** Lists of more than the 50,000 rows of one tree, on the command line: built, stored, compared, and put on chain as several airdrops. */
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireNamedList, type StoredList } from '../../commands/airdrops/stored-list.ts'
import type { Session } from '../../commands/cli/session.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { commandLine, MINT } from '../cli/command-line.ts'
import { type Served, serveHere } from '../cli/served.ts'
import { naiveRoot, type Recipient, recipientsOf, walletOf } from '../merkle/reference.ts'
import { hasProgram } from '../support/programs.ts'

const cli = commandLine()
const { svc } = cli
const ok = cli.json
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const csvOf = (recipients: readonly Recipient[]) =>
  recipients.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')
const large = recipientsOf(50_001)
const rootOf50000 = naiveRoot(large.slice(0, 50_000))

describe('svc merkle', () => {
  it('build takes 50,000 rows from standard input to the naive root', async () => {
    const input = csvOf(large.slice(0, 50_000))
    expect((await cli.json(['merkle', 'build', '-', '--mint', MINT], { input })).root).toBe(rootOf50000)
  })

  it('build --persist needs --shard past 50,000 rows, and then writes consecutive trees', async () => {
    const file = cli.file('huge.csv', csvOf(large))
    await cli.refused(['merkle', 'build', file, '--mint', walletOf(77), '--persist'], 'add --shard')
    const args = ['--mint', walletOf(77), '--airdrop-count', '3', '--shard', '--persist', '--json']
    const sharded = await svc(['merkle', 'build', file, ...args])
    expect(sharded.exitCode, sharded.stderr).toBe(0)
    const [first, second] = JSON.parse(sharded.stdout)
    expect(first).toMatchObject({
      airdrop_count: 3,
      leaf_count: 50_000,
      root: rootOf50000,
      persisted: true,
    })
    expect(second).toMatchObject({
      airdrop_count: 4,
      leaf_count: 1,
      root: naiveRoot(large.slice(50_000)),
      persisted: true,
    })
  })
})

it('A list of more than 50,000 rows matches several airdrops in order, or any one of them', async () => {
  const file = cli.file('large.csv', csvOf(recipientsOf(50_003)))
  const { stdout } = await cli.svc(['merkle', 'build', file, '--mint', MINT, '--shard', '--json'])
  const [first, second] = JSON.parse(stdout) as [StoredList, StoredList]
  const ui = { progress: () => () => undefined, clear: () => undefined, note: () => undefined, warn: () => undefined }
  const meant = (stored: StoredList[]) =>
    requireNamedList({ ui } as unknown as Session, stored, {
      roots: [],
      list: file,
      decimals: undefined,
      duplicates: undefined,
    })
  for (const stored of [[first, second], [first], [second]]) await meant(stored)
  await expect(meant([second, first])).rejects.toThrow(`has the root ${second.root}`)
  await expect(meant([first, second, first])).rejects.toThrow('is the list of 2 airdrops, and 3 are named')
})

describe.skipIf(lacksPrograms)('svc airdrops launch', () => {
  const payer = cli.keypair('payer.json', Keypair.generate())
  const files = { payer: payer.file }
  let daemon: Served
  let mint = ''

  beforeAll(async () => {
    await svc(['localnet', 'status'])
    daemon = await serveHere(cli.dataDir)
    await ok(['localnet', 'airdrop', payer.address, '10'])
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000000']
    mint = (await ok(['tokens', 'create', ...token, '-k', files.payer, '--yes'])).mint
  })
  afterAll(() => daemon?.stop())

  it('splits more than 50,000 rows into several airdrops', async () => {
    const rows = recipientsOf(50_003).map(({ wallet }) => `${wallet},1`)
    const list = cli.file('large.csv', `${rows.join('\n')}\n`)
    const args = [
      'airdrops',
      'launch',
      list,
      '--mint',
      mint,
      '--airdrop-count',
      '5',
      '--raw',
      '-k',
      files.payer,
      '--yes',
    ]
    // Half of these 32-byte keys are on no curve.
    const parts = await ok([...args, '--allow-programs'])
    expect(
      parts.map(({ airdrop_count, leaf_count, funded }: Record<string, unknown>) => [
        airdrop_count,
        leaf_count,
        funded,
      ]),
    ).toEqual([
      [5, 50_000, true],
      [6, 3, true],
    ])
    for (const part of parts) {
      expect(await ok(['airdrops', 'get', part.id])).toMatchObject({
        status: 'initialized',
        vault_balance: part.total,
        on_chain_root: part.root,
      })
    }
  })
})
