/** `svc nfts mint --from --squads`, killed again and again: each row has one open proposal in the end, and none is lost. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { hasProgram, PROGRAMS_DIR } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { soakRuns } from '../../support/runs.ts'
import { makeFolder, removeFolder } from '../../support/service.ts'
import { seedOr } from './harness.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.core].some(({ id }) => !hasProgram(id))
const [ROWS, KILLS] = [6, soakRuns(8, 20)]

describe.skipIf(lacks)('A list of proposals', () => {
  const home = makeFolder()
  afterAll(() => removeFolder(home))

  it('has each row once, however often its command is killed', { timeout: 600_000 }, async () => {
    const { next: random } = randomOf(seedOr(34))
    const env = {
      ...{ PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: join(home, 'data') },
      ...{ SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_PRIORITY_FEE: 'none' },
    }
    const options = { cwd: home, env, extendEnv: false } as const
    const svc = async (...args: string[]) =>
      JSON.parse((await execa(process.execPath, [PROGRAM, ...args, '--json'], options)).stdout)
    const keys = [Keypair.generate(), Keypair.generate()]
    const [ada, ben] = keys.map((key, i) => keypairFile(home, key, `${i}.json`)) as [string, string]
    const [proposer, voter] = keys.map(({ publicKey }) => publicKey.toBase58()) as [string, string]
    for (const address of [proposer, voter]) await svc('localnet', 'airdrop', address, '10')
    const members = `${proposer}:propose,${voter}`
    const made = await svc('multisig', 'create', '--member', members, '--threshold', '1', '-k', ada)
    await svc('localnet', 'airdrop', made.vault, '10')
    const by = ['--squads', made.multisig, '-k', ada]
    const { collection, proposal } = await svc(
      ...['collections', 'create', '--name', 'Apes', '--uri', 'https://example.com/c', ...by],
    )
    await svc('proposals', 'approve', proposal, '-k', ben)
    await svc('proposals', 'execute', proposal, '-k', ben)
    const names = Array.from({ length: ROWS }, (_, i) => `Ape ${i + 1}`)
    const rows = names.map((name, i) => `${name},https://example.com/${i}\n`)
    writeFileSync(join(home, 'apes.csv'), `name,uri\n${rows.join('')}`)
    const mint = ['nfts', 'mint', '--collection', collection, '--from', 'apes.csv', ...by]
    for (let i = 0; i < KILLS; i++) {
      const timeout = 500 + Math.floor(random() * 3_500)
      const killed = { ...options, reject: false, timeout, killSignal: 'SIGKILL' } as const
      await execa(process.execPath, [PROGRAM, ...mint, '--json'], killed)
    }
    const done = await svc(...mint)
    expect(done).toMatchObject({ total: ROWS, failed: 0, to_propose: 0 })
    const open: { id: string; what: string }[] = await svc('proposals', 'list', '--status', 'active', '--all')
    expect(open.map(({ what }) => what.replace('Mint the NFT ', '')).toSorted()).toEqual(names)
    const proposed = done.rows.flatMap((row: { proposals: string[] }) => row.proposals)
    expect(open.map(({ id }) => id).toSorted()).toEqual(proposed.toSorted())
    const { transaction_index } = await svc('multisig', 'show', made.multisig)
    expect(transaction_index).toBe(String(1 + ROWS))
  })
})
