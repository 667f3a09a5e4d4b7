/** `svc tx list` and `svc tx get`: stored transactions for a person, at 80 columns and for programs. */
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { transactionRows } from '../../commands/transactions/index.ts'
import { PLAIN } from '../../commands/ui/paint.ts'
import { render } from '../../commands/ui/render.ts'
import type { StoredTransaction } from '../../src/api/transactions.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const payer = cli.keypair('payer.json')
const to = Keypair.generate().publicKey.toBase58()
const TOKEN = ['--name', 'Coin', '--symbol', 'CN', '--uri', 'https://example.com/c.json', '--supply', '1']
let signature = ''
let mint = ''

beforeAll(async () => {
  await cli.json(['localnet', 'airdrop', payer.address, '10'])
  signature = (await cli.json(['wallet', 'send', to, '1', '-k', payer.file])).signature
  mint = (await cli.json(['tokens', 'create', ...TOKEN, '--token-program', 'token2022', '-k', payer.file])).mint
})

describe('svc tx list', () => {
  it('finds a transaction by its resource and its lifecycle', async () => {
    expect(await cli.json(['tx', 'list'])).toHaveLength(2)
    const [found, ...others] = await cli.json(['tx', 'list', '--resource-id', mint])
    expect([found.tracked_resource.resource_id, found.bytes_removed_at, others]).toEqual([mint, null, []])
    expect(await cli.json(['tx', 'list', '--lifecycle', found.lifecycle, '--resource-id', mint])).toEqual([found])
    expect(await cli.json(['tx', 'list', '--lifecycle', 'failed'])).toEqual([])
    expect(await cli.json(['tx', 'list', '--external-uid', 'no-order'])).toEqual([])
    expect(await cli.json(['tx', 'list', '--bundle-id', 'no-bundle'])).toEqual([])
    await cli.refused(['tx', 'list', '--lifecycle', 'unknown'], /--lifecycle/, 2)
  })

  it('fits 80 columns, each signature on a line of its own', async () => {
    const items: StoredTransaction[] = await cli.json(['tx', 'list'])
    const failed = { ...items[0]!, error: { program: null, name: 'x', message: 'too little '.repeat(20), hint: null } }
    const rows = transactionRows([...items, failed])
    const lines = (await render({ data: items, table: rows }, 'table', { paint: PLAIN, width: 80 })).split('\n')
    expect(lines[0]).toBe('SIGNATURE')
    expect(lines.filter((line) => line === signature)).toHaveLength(1)
    expect(lines.filter((line) => line.length > 80 && !/^\w{86,88}$/.test(line))).toEqual([])
  })
})

describe('svc tx get --content', () => {
  it('shows the status and every instruction', async () => {
    const { stdout } = await cli.svc(['tx', 'get', signature, '--content'])
    const shown = stdout.replaceAll(/ +/g, ' ')
    expect(shown).toMatch(/^LIFECYCLE (confirmed|finalized)$/m)
    expect(shown).toMatch(/^FEE 0\.0\d+ SOL$/m)
    expect(shown).toContain(`w- ${to} destination`)
    expect(shown).toContain('lamports 1 SOL')
  })

  it('answers with the bytes for programs, which `svc tx decode` explains alike', async () => {
    const { content } = await cli.json(['tx', 'get', signature, '--content'])
    const decoded = await cli.svc(['tx', 'decode', content.transaction, '--offline'])
    // The terminal names the own wallet too.
    const own = (line: string) => line.replaceAll(/ \(you\)$/g, '')
    const lines = decoded.stdout.split('\n').map(own)
    for (const line of content.plan) expect(lines).toContain(line)
  })
})
