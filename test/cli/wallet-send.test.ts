/** `svc wallet send` on the embedded chain: SOL and tokens of both programs, all of them, and what is refused. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { commandLine } from './command-line.ts'

const someone = () => Keypair.generate().publicKey.toBase58()

async function funded() {
  const cli = commandLine()
  const payer = Keypair.generate()
  const keypair = cli.file('payer.json', JSON.stringify([...payer.secretKey]), 0o600)
  const address = payer.publicKey.toBase58()
  const json = async (...argv: string[]) => {
    const { stdout, stderr, exitCode } = await cli.svc([...argv, '--json'])
    expect(exitCode, `${argv.join(' ')}: ${stderr}`).toBe(0)
    return JSON.parse(stdout)
  }
  const send = (...argv: string[]) => cli.svc(['wallet', 'send', ...argv, '-k', keypair])
  await json('localnet', 'airdrop', address, '5')
  return { cli, keypair, address, json, send }
}

describe('svc wallet send', () => {
  it('sends SOL, all of it too, and nothing in a dry run', async () => {
    const { address, json, send } = await funded()
    const recipient = someone()
    const lamports = async (wallet: string) => BigInt((await json('wallet', 'balance', wallet)).lamports)
    const dry = await send(recipient, '1.25', '--dry-run')
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('1.25')])
    expect(await lamports(recipient)).toBe(0n)
    const sent = await send(recipient, '1.25', '--yes', '--json')
    expect(sent.exitCode, sent.stderr).toBe(0)
    expect(JSON.parse(sent.stdout)).toMatchObject({ recipient, lamports: '1250000000', lifecycle: 'confirmed' })
    expect(await lamports(recipient)).toBe(1_250_000_000n)
    const all = await send(recipient, 'all', '--yes')
    expect(all.exitCode, all.stderr).toBe(0)
    expect(await lamports(address)).toBe(0n)
  })

  it('sends a token, opens the account of the recipient, and sends all', async () => {
    const { address, keypair, json, send } = await funded()
    const token = ['--name', 'Own', '--symbol', 'OWN', '--uri', 'https://example.com/own.json', '--supply', '7']
    const create = [
      'tokens',
      'create',
      ...token,
      '--token-program',
      'token2022',
      '--decimals',
      '3',
      '-k',
      keypair,
      '--yes',
    ]
    const { mint } = await json(...create)
    const recipient = someone()
    const held = async (wallet: string) =>
      (await json('wallet', 'balance', wallet, '--mint', mint)).tokens[0]?.amount ?? '0'
    const first = await send(recipient, '2.5', '--mint', mint, '--yes')
    expect(first.exitCode, first.stderr).toBe(0)
    expect(first.stderr).toContain("Opens the recipient's token account")
    expect([await held(address), await held(recipient)]).toEqual(['4500', '2500'])
    const rest = await send(recipient, 'all', '--mint', mint, '--yes', '--json')
    expect(JSON.parse(rest.stdout)).toMatchObject({ recipient, mint, amount: '4500' })
    expect([await held(address), await held(recipient)]).toEqual(['0', '7000'])
    const none = await send(recipient, 'all', '--mint', mint, '--yes')
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining(`has nothing of the token ${mint}`)])
  })

  it('takes the name of a wallet, and tells of every mistake by its argument', async () => {
    const { cli, json, send, address } = await funded()
    const cases = [
      [[someone(), '0'], 'AMOUNT must be more than 0'],
      [[someone(), '-1'], ''],
      [[someone(), 'some'], 'AMOUNT must be an amount like 1.5, not "some"'],
      [[someone(), '0.0000000001'], 'AMOUNT has more than 9 fractional digits'],
      [[someone(), '1', '--mint', 'x'], '--mint must be the address of a mint'],
      [[someone(), '1', '--accept-transfer-fee'], '--accept-transfer-fee needs --mint'],
      [['nobody', '1'], 'RECIPIENT is not an address, and there is no wallet nobody'],
      [[address, '1', '--yes'], 'is the sender itself'],
      [[someone(), '100', '--yes'], 'not enough for this transfer'],
    ] as const
    for (const [argv, message] of cases) {
      const { exitCode, stderr } = await send(...argv)
      expect([argv, exitCode === 0, stderr]).toEqual([argv, false, expect.stringContaining(message)])
      expect(stderr).not.toMatch(/\n\s+at /)
    }
    const other = cli.file('other.json', JSON.stringify([...Keypair.generate().secretKey]), 0o600)
    const { address: named } = await json('wallet', 'address', other)
    const sent = await send(other, '0.5', '--yes', '--json')
    expect(JSON.parse(sent.stdout)).toMatchObject({ recipient: named })
  })
})
