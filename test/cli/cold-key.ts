/** A key on a machine of its own: transactions are built here by address, signed there, refreshed, combined and sent. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, expect } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { hasProgram } from '../support/programs.ts'
import type { CommandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

export const lacksPrograms = [PROGRAMS.dbc, PROGRAMS.tokenMetadata, PROGRAMS.distributor].some(
  ({ id }) => !hasProgram(id),
)
/** More than the 150 blocks of a blockhash at 400 ms a slot. */
const EXPIRY_SECONDS = '120'

/** The homes of a cold key and of a second one, and a daemon whose platform wallet is the second. */
export function coldKey(cli: CommandLine) {
  const [cold, partner] = [Keypair.generate(), Keypair.generate()]
  const address = cold.publicKey.toBase58()
  let daemon: Served
  let files = 0
  let signings = 0

  const refused = async (args: string[]) => {
    const { exitCode, stdout, stderr } = await cli.svc([...args, '--json'])
    expect({ exitCode, stdout }).toMatchObject({ exitCode: expect.toSatisfy((code) => code !== 0), stdout: '' })
    return JSON.parse(stderr).error
  }
  const run = cli.json
  const saved = (content: unknown) => cli.file(`${files++}.json`, JSON.stringify(content))
  const expire = () => run(['localnet', 'advance', EXPIRY_SECONDS])
  /** Signs in a home that has the key: no daemon, no database, no chain. The first time in a process of its own. */
  const signedBy = async (owner: string, content: unknown): Promise<string> => {
    const home = join(cli.home, owner)
    const args = ['tx', 'sign', `@${saved(content)}`, '-k', join(home, 'id.json'), '--json']
    const sign = signings++ === 0 ? cli.spawned : cli.svc
    const options = { env: { HOME: home, SVC_DATA_DIR: join(home, 'data') }, cwd: home }
    const { exitCode, stdout, stderr } = await sign(args, options)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    return saved(JSON.parse(stdout))
  }
  const submissions = async () =>
    (await run(['events', 'list', '--type', 'transaction.submitted', '--limit', '100'])).length

  /** What a device's owner reads before signing: every instruction by name, in 80 columns, on a machine without a chain. */
  const reads = async (transaction: string) => {
    const { exitCode, stdout } = await cli.svc(['tx', 'decode', transaction, '--offline'])
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('does not know')
    expect(stdout).toContain(`missing   ${address}`)
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    const tried = await cli.svc(['tx', 'decode', transaction])
    expect(tried.stdout).toMatch(/^expires {3}it can land now, and for at most 150 blocks more(, \d+ seconds)?$/m)
    expect(tried.stdout).toMatch(/^simulation/m)
  }

  /** Built by address, expired at every step, and in the end sent once; returns what landed. */
  async function roundTrip(args: string[], owners: readonly string[]) {
    const before = await submissions()
    const built = await run([...args, '--build-only'])
    expect(JSON.stringify(built)).not.toContain('secret')
    for (const transaction of built.transactions ?? [built.transaction]) await reads(transaction)
    await expire()
    const first = await run(['tx', 'refresh', `@${saved(built)}`])
    expect(first.last_valid_block_height).toBeGreaterThan(built.last_valid_block_height)
    const late: string[] = []
    for (const owner of owners) late.push(await signedBy(owner, first))
    const lateFile = saved(await run(['tx', 'combine', ...late]))
    await expire()
    const expired = await refused(['tx', 'submit', `@${lateFile}`])
    expect(expired.message).toContain('blockhash')
    expect(await submissions()).toBe(before)
    expect((await refused(['tx', 'refresh', `@${lateFile}`])).message).toContain(`is signed by`)

    const second = await run(['tx', 'refresh', `@${saved(first)}`])
    const parts: string[] = []
    for (const owner of owners) parts.push(await signedBy(owner, second))
    expect((await refused(['tx', 'combine', late[0]!, parts[0]!])).message).toContain('one of them was refreshed')
    const whole = await run(['tx', 'combine', ...parts])
    expect(whole.missing_signers).toEqual([])
    const landed = await run(['tx', 'submit', `@${saved(whole)}`])
    const count = built.transactions?.length ?? 1
    expect(await submissions()).toBe(before + count)
    // Neither what expired nor what landed can be done once more.
    await refused(['tx', 'submit', `@${lateFile}`])
    for (const version of [built, first, second]) {
      const again = await refused(['tx', 'refresh', `@${saved(version)}`])
      expect(again.message).toContain('build it again to do the same once more')
    }
    await run(['tx', 'submit', `@${saved(whole)}`])
    expect(await submissions()).toBe(before + count)
    return { built, landed }
  }

  beforeAll(async () => {
    for (const [owner, { secretKey }] of [
      ['cold', cold],
      ['device', partner],
    ] as const) {
      mkdirSync(join(cli.home, owner), { mode: 0o700 })
      writeFileSync(join(cli.home, owner, 'id.json'), JSON.stringify([...secretKey]), { mode: 0o600 })
    }
    writeFileSync(join(cli.home, 'token.png'), png())
    await cli.svc(['localnet', 'status'])
    const device = join(cli.home, 'device', 'id.json')
    daemon = await serveHere(cli.dataDir, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: device })
    for (const { publicKey } of [cold, partner]) await run(['localnet', 'airdrop', publicKey.toBase58(), '100'])
  })
  afterAll(() => daemon?.stop())

  return { address, run, refused, saved, expire, signedBy, roundTrip, logo: join(cli.home, 'token.png') }
}
