/** Cold keys: built here by address, signed in a home that has the key and nothing else, refreshed, combined and sent. */
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { itInSoak } from '../support/runs.ts'
import { coldKey, lacksPrograms } from './cold-key.ts'
import { CONFIRMED, commandLine, onTerminal } from './command-line.ts'

const cli = commandLine()

describe.skipIf(lacksPrograms)('A key on another machine', () => {
  const { address, run, refused, saved, expire, signedBy, roundTrip, logo } = coldKey(cli)
  const key = join(cli.home, 'cold', 'id.json')

  it('creates a token', async () => {
    const token = ['tokens', 'create', '--name', 'Cold', '--symbol', 'CLD', '--uri', 'https://example.com/c.json']
    const { built, landed } = await roundTrip([...token, '--supply', '1000', '--payer', address], ['cold'])
    expect(landed).toMatchObject({ lifecycle: CONFIRMED, err: null })
    expect((await run(['tokens', 'get', built.mint])).raw).toMatchObject({
      supply: '1000000000',
      mint_authority: address,
    })
  })

  itInSoak('continues a launch of which one transaction was confirmed before its blockhash expired', async () => {
    const create = ['pools', 'create', '--name', 'Half Way', '--symbol', 'HALF', '--image', logo]
    const built = await run([...create, '--buy', '1', '--payer', address, '--build-only'])
    const [first] = (await run(['tx', 'combine', await signedBy('cold', built)])).transactions
    expect(await run(['tx', 'submit', first])).toMatchObject({ lifecycle: CONFIRMED })
    await expire()
    const { stdout, stderr } = await cli.svc(['tx', 'refresh', `@${saved(built)}`, '-o', 'json'])
    expect(stderr).toContain('has landed already, and is left out')
    const rest = JSON.parse(stdout)
    expect(rest.transactions).toHaveLength(built.transactions.length - 1)
    expect(await run(['tx', 'submit', `@${await signedBy('cold', rest)}`])).toMatchObject({ lifecycle: CONFIRMED })
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true })
  })

  it('sees how many seconds are left, and signs a build that has expired with a fresh blockhash', async () => {
    const token = ['tokens', 'create', '--name', 'Slow', '--symbol', 'SLW', '--uri', 'https://example.com/c.json']
    const built = await run([
      ...token,
      '--supply',
      '7',
      '--token-program',
      'token2022',
      '--payer',
      address,
      '--build-only',
    ])
    const seconds = (Date.parse(built.expires_at) - Date.now()) / 1_000
    expect(seconds).toBeGreaterThan(10)
    expect(seconds).toBeLessThanOrEqual(30)
    const shown = await cli.svc(['tx', 'decode', `@${saved(built)}`, '--offline'])
    expect(shown.stdout).toMatch(/^expires {3}in about \d+ seconds$/m)
    const asked = await onTerminal(
      cli,
      ['tx', 'sign', `@${saved(built)}`, '-k', key],
      [['Sign it (it can be sent', 'n']],
    )
    expect(asked.screen).toMatch(/Sign it \(it can be sent for about \d+ more seconds\)\?/)

    const late = { ...built, expires_at: new Date(Date.now() - 40_000).toISOString() }
    const cold = join(cli.home, 'cold')
    const inCold = { env: { HOME: cold, SVC_DATA_DIR: join(cold, 'data') }, cwd: cold }
    for (const [flags, reason] of [
      [['--offline'], '--offline makes no request'],
      [[], 'the API works on another chain than the build'],
    ] as const) {
      const { exitCode, stdout, stderr } = await cli.svc(['tx', 'sign', `@${saved(late)}`, '-k', key, ...flags], inCold)
      expect([exitCode === 0, stdout]).toEqual([false, ''])
      expect(stderr).toMatch(/the blockhash expired about 4\d seconds ago, and the build gets no fresh one/)
      expect(stderr).toContain(reason)
      expect(stderr).toContain('Nothing was signed')
    }
    const { stdout, stderr } = await cli.svc(['tx', 'sign', `@${saved(late)}`, '-k', key, '--json'])
    expect(stderr).toContain('the build has a fresh blockhash, and nothing else has changed')
    const signed = JSON.parse(stdout)
    expect(signed.missing_signers).toEqual([])
    expect(signed.last_valid_block_height).toBeGreaterThanOrEqual(built.last_valid_block_height)
    expect(Date.parse(signed.expires_at)).toBeGreaterThan(Date.now())
    expect(await run(['tx', 'submit', `@${saved(signed)}`])).toMatchObject({ lifecycle: CONFIRMED, err: null })
    expect((await run(['tokens', 'get', built.mint])).raw).toMatchObject({ supply: '7000000' })
  })

  it('is not needed by commands that only build, and every other command says that it is missing', async () => {
    const token = ['tokens', 'create', '--name', 'Cold', '--symbol', 'CLX', '--uri', 'https://example.com/c.json']
    const args = [...token, '--supply', '1', '--token-program', 'token2022', '--payer', address]
    expect(await run([...args, '--dry-run'])).toMatchObject({ signer: address, err: null })
    const { stderr: lacking } = await cli.svc(args)
    expect(lacking).toMatch(`the key of ${address} is not here: there is no keypair at`)
    expect(lacking).toContain('add --build-only')
    const built = cli.file('built.json', '{}')
    expect((await cli.svc(['tx', 'decode', built])).stderr).toContain(`give its content as @${built}`)
    const hot = cli.file('hot.json', JSON.stringify([...Keypair.generate().secretKey]), 0o600)
    const error = await refused([...args, '-k', hot])
    expect([error.param, error.message]).toEqual(['--payer', expect.stringContaining(address)])
  })
})
