/** `svc tx` with transactions of version 1: decoded, simulated, signed, submitted, watched and told. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { unsignedV1 } from '../support/version1.ts'
import { CONFIRMED, commandLine } from './command-line.ts'

const cli = commandLine()
const payer = Keypair.generate()
const address = payer.publicKey.toBase58()
const ok = (args: string[], input = '') => cli.json(args, { input })

beforeAll(async () => {
  mkdirSync(join(cli.home, '.config/solana'), { recursive: true })
  cli.file('.config/solana/id.json', JSON.stringify([...payer.secretKey]), 0o600)
  await ok(['localnet', 'airdrop', address, '10'])
})

describe('A transaction of version 1', () => {
  it('is decoded, simulated, signed, submitted and watched, with the fee of its message', async () => {
    const named = ['--name', 'T', '--symbol', 'T', '--uri', 'https://example.com/t', '--supply', '1']
    const { transaction } = await ok(['tokens', 'create', ...named, '--token-program', 'token2022', '--build-only'])
    const { recent_blockhash: blockhash } = await ok(['tx', 'decode', transaction])
    const receivers = Array.from({ length: 50 }, () => Keypair.generate().publicKey)
    const instructions = receivers.map((toPubkey) =>
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 1_000_000 }),
    )
    const raw = unsignedV1({
      payer: new PublicKey(address),
      blockhash,
      instructions,
      config: { priorityFeeLamports: 7_000n },
    })
    expect(raw.length).toBeGreaterThan(2_000)
    const file = cli.file('v1.txt', Buffer.from(raw).toString('base64'))

    expect(await ok(['tx', 'decode', `@${file}`])).toMatchObject({
      version: 1,
      size: raw.length,
      signature: null,
      config: { priority_fee: '7000', compute_unit_limit: 1_400_000 },
    })
    const simulated = await cli.svc(['tx', 'simulate', `@${file}`])
    expect(simulated.stdout).toMatch(/^It would succeed, with \d+ compute units\.$/m)
    expect(simulated.stdout).toMatch(/^ {2}fee +0\.000012 SOL$/m)
    expect(simulated.stdout.match(/, new {2}\+0\.001 SOL/g)).toHaveLength(50)

    const signed = await ok(['tx', 'sign', `@${file}`])
    expect(signed.missing_signers).toEqual([])
    const landed = await ok(['tx', 'submit', '-'], JSON.stringify(signed))
    expect(landed).toMatchObject({ signature: signed.signature, lifecycle: CONFIRMED, err: null })
    await ok(['localnet', 'advance', '60'])
    expect(await ok(['tx', 'watch', signed.signature])).toMatchObject({ lifecycle: 'finalized', err: null })
    expect(await ok(['tx', 'get', signed.signature])).toMatchObject({ lifecycle: 'finalized', err: null })
    const told = await ok(['events', 'list', '--order', 'asc', '--resource-id', signed.signature])
    expect(told.map(({ type }: { type: string }) => type)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.finalized',
    ])
    const { lamports } = await ok(['accounts', 'get', address])
    expect(lamports).toBe(String(10_000_000_000n - 50n * 1_000_000n - 12_000n))
  })

  it('is refused with the reason if it is too large or cut short', async () => {
    await cli.refused(['tx', 'submit', Buffer.alloc(4_099, 0x81).toString('base64')], 'at most 4,096 bytes')
    await cli.refused(['tx', 'decode', Buffer.alloc(40, 0x81).toString('base64')], 'it ends before its signatures')
  })
})
