/** `svc wallet send` on the embedded chain: SOL and tokens of both programs, all of them, and what is refused. */
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { someAddress } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
let daemon: Served
beforeAll(async () => {
  mkdirSync(cli.dataDir)
  daemon = await serveHere(cli.dataDir)
})
afterAll(() => daemon?.stop())

const json = (...argv: string[]) => cli.json(argv)

/** A wallet with 5 SOL, and how to send from it. */
async function funded(name: string) {
  const { file: keypair, address } = cli.keypair(name)
  const send = (...argv: string[]) => cli.svc(['wallet', 'send', ...argv, '-k', keypair])
  await json('localnet', 'airdrop', address, '5')
  return { keypair, address, send }
}

describe('svc wallet send', () => {
  it('sends SOL, also all of it, and nothing in a dry run', async () => {
    const { address, send } = await funded('sol.json')
    const recipient = someAddress()
    const lamports = async (wallet: string) => BigInt((await json('wallet', 'balance', wallet)).lamports)
    const dry = await send(recipient, '1.25', '--dry-run')
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('1.25')])
    expect(await lamports(recipient)).toBe(0n)
    const sent = await send(recipient, '1.25', '--yes', '--json')
    expect(sent.exitCode, sent.stderr).toBe(0)
    expect(JSON.parse(sent.stdout)).toMatchObject({
      recipient,
      lamports: '1250000000',
      lifecycle: expect.stringMatching(/^(confirmed|finalized)$/),
    })
    expect(await lamports(recipient)).toBe(1_250_000_000n)
    const all = await send(recipient, 'all', '--yes')
    expect(all.exitCode, all.stderr).toBe(0)
    expect(await lamports(address)).toBe(0n)
  })

  it('sends a token, also all of it, and opens the account of the recipient', async () => {
    const { address, keypair, send } = await funded('tokens.json')
    const token = ['--name', 'Own', '--symbol', 'OWN', '--uri', 'https://example.com/own.json', '--supply', '7']
    const program = ['--token-program', 'token2022', '--decimals', '3']
    const { mint } = await json('tokens', 'create', ...token, ...program, '-k', keypair, '--yes')
    const recipient = someAddress()
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

  it('takes the name of a wallet, and names the argument of every mistake, in SOL and with --debug in lamports', async () => {
    const { send, address } = await funded('mistakes.json')
    const cases = [
      [[someAddress(), '0'], 'AMOUNT must be more than 0'],
      [[someAddress(), '-1'], ''],
      [[someAddress(), 'some'], 'AMOUNT must be an amount like 1.5, not "some"'],
      [[someAddress(), '0.0000000001'], 'AMOUNT has more than 9 fractional digits'],
      [[someAddress(), '1', '--mint', 'x'], '--mint must be an address, and no pool here has the symbol x'],
      [[someAddress(), '1', '--accept-transfer-fee'], '--accept-transfer-fee needs --mint'],
      [['nobody', '1'], 'RECIPIENT is not an address, and there is no wallet nobody'],
      [[address, '1', '--yes'], 'is the sender itself'],
      [[someAddress(), '100', '--yes'], 'not enough for this transfer'],
    ] as const
    for (const [argv, message] of cases) {
      const { exitCode, stderr } = await send(...argv)
      expect([argv, exitCode === 0, stderr]).toEqual([argv, false, expect.stringContaining(message)])
      expect(stderr).not.toMatch(/\n\s+at /)
    }
    const { stderr } = await send(someAddress(), '100', '--yes', '--debug')
    expect(stderr).toMatch(/has [\d.]+ SOL, not enough .*\n(?:.*\n)* {2}details: \{"have":"\d+"/)
    const { file: other, address: named } = cli.keypair('other.json')
    const sent = await send(other, '0.5', '--yes', '--json')
    expect(JSON.parse(sent.stdout)).toMatchObject({ recipient: named })
  })
})
