/** Lists with --squads, killed again and again: each row has one open proposal in the end, and each wallet is paid once. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../../src/solana/programs.ts'
import { PROGRAM } from '../../cli/command-line.ts'
import { keypairFile } from '../../support/platform-wallet.ts'
import { hasProgram, quickProgramsDir } from '../../support/programs.ts'
import { randomOf } from '../../support/random.ts'
import { soakRuns } from '../../support/runs.ts'
import { makeFolder, removeFolder } from '../../support/service.ts'
import { seedOr } from './harness.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.core].some(({ id }) => !hasProgram(id))
const [ROWS, KILLS] = [6, soakRuns(8, 20)]
/** Wallets of a list whose transactions pay several of them. */
const WALLETS = 24

describe.skipIf(lacks)('A list of proposals', () => {
  const home = makeFolder()
  afterAll(() => removeFolder(home))
  const env = {
    ...{ PATH: process.env.PATH ?? '', HOME: home, SVC_DATA_DIR: join(home, 'data') },
    ...{ SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' },
  }
  const options = { cwd: home, env, extendEnv: false } as const
  const svc = async (...args: string[]) =>
    JSON.parse((await execa(process.execPath, [PROGRAM, ...args, '--json'], options)).stdout)
  const keys = [Keypair.generate(), Keypair.generate()]
  const [ada, ben] = keys.map((key, i) => keypairFile(home, key, `${i}.json`)) as [string, string]
  const [proposer, voter] = keys.map(({ publicKey }) => publicKey.toBase58()) as [string, string]
  const { next: random } = randomOf(seedOr(34))
  let multisig = ''
  let vault = ''
  const by = () => ['--squads', multisig, '-k', ada]
  const carryOut = async (id: string) => {
    for (const verb of ['approve', 'execute']) await svc('proposals', verb, id, '-k', ben)
  }
  const opened = (): Promise<{ id: string; what: string }[]> => svc('proposals', 'list', '--status', 'active', '--all')

  /** Kills the command again and again, and then lets it end. */
  async function killedOften(command: readonly string[]) {
    for (let i = 0; i < KILLS; i++) {
      const timeout = 500 + Math.floor(random() * 3_500)
      const killed = { ...options, reject: false, timeout, killSignal: 'SIGKILL' } as const
      await execa(process.execPath, [PROGRAM, ...command, '--json'], killed)
    }
    return svc(...command)
  }

  beforeAll(async () => {
    for (const address of [proposer, voter]) await svc('localnet', 'airdrop', address, '10')
    const members = `${proposer}:propose,${voter}`
    const made = await svc('multisig', 'create', '--member', members, '--threshold', '1', '-k', ada)
    ;({ multisig, vault } = made)
    await svc('localnet', 'airdrop', vault, '10')
  })

  it('has each row once, however often its command is killed', { timeout: 600_000 }, async () => {
    const { collection, proposal } = await svc(
      ...['collections', 'create', '--name', 'Apes', '--uri', 'https://example.com/c', ...by()],
    )
    await carryOut(proposal)
    const { transaction_index: before } = await svc('multisig', 'show', multisig)
    const names = Array.from({ length: ROWS }, (_, i) => `Ape ${i + 1}`)
    const rows = names.map((name, i) => `${name},https://example.com/${i}\n`)
    writeFileSync(join(home, 'apes.csv'), `name,uri\n${rows.join('')}`)
    const done = await killedOften(['nfts', 'mint', '--collection', collection, '--from', 'apes.csv', ...by()])
    expect(done).toMatchObject({ total: ROWS, failed: 0, to_propose: 0 })
    const open = await opened()
    expect(open.map(({ what }) => what.replace('Mint the NFT ', '')).toSorted()).toEqual(names)
    const proposed = done.rows.flatMap((row: { proposals: string[] }) => row.proposals)
    expect(open.map(({ id }) => id).toSorted()).toEqual(proposed.toSorted())
    expect((await svc('multisig', 'show', multisig)).transaction_index).toBe(String(Number(before) + ROWS))
    for (const { id } of open) await svc('proposals', 'reject', id, '-k', ben)
  })

  it.each([
    ['airdrops send', (mint: string, list: string) => ['airdrops', 'send', list, '--mint', mint, '--raw']],
    ['tokens mint', (mint: string, list: string) => ['tokens', 'mint', mint, '--from', list, '--raw']],
  ])('of svc %s pays each wallet once, however often it is killed', { timeout: 600_000 }, async (name, commandOf) => {
    const texts = ['--name', 'Pay', '--symbol', 'PAY', '--uri', 'https://example.com/p.json']
    const { mint } = await svc('tokens', 'create', ...texts, '--initial-supply', '1000000', '-k', ada)
    await svc('wallet', 'send', vault, '1', '--mint', mint, '--allow-programs', '-k', ada)
    await svc('tokens', 'set-authority', mint, 'mint', vault, '--allow-programs', '-k', ada)
    const wallets = Array.from({ length: WALLETS }, () => Keypair.generate().publicKey.toBase58())
    const list = `${name.replace(' ', '-')}.csv`
    writeFileSync(join(home, list), ['wallet,amount', ...wallets.map((each, i) => `${each},${i + 1}`), ''].join('\n'))
    const command = [...commandOf(mint, list), ...by()]
    const done = await killedOften(command)
    expect(done).toMatchObject({ failed: 0, to_propose: 0 })
    const open = await opened()
    expect(open).toHaveLength(done.rows.length)
    for (const { id } of open) await carryOut(id)
    for (const [i, owner] of wallets.entries()) {
      const { address } = await svc('pdas', 'derive', 'ata', `owner=${owner}`, `mint=${mint}`)
      const { data } = await svc('accounts', 'get', address)
      expect([owner, Buffer.from(data, 'base64').readBigUInt64LE(64)]).toEqual([owner, BigInt(i + 1)])
    }
    expect((await svc(...command)).rows.every(({ status }: { status: string }) => status === 'executed')).toBe(true)
  })
})
