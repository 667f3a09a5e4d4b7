/** A transaction that its guards stop: what is shown before it is signed, refused before it is sent, and said after it failed. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { withGuards } from '../../src/solana/guards.ts'
import { SYSTEM } from '../../src/solana/programs/system.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { plainTransaction } from '../support/guarded-transactions.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { SOL } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const payer = Keypair.generate()
const [address, other] = [payer, Keypair.generate()].map(({ publicKey }) => publicKey.toBase58()) as [string, string]
const ok = (args: string[], input = '') => cli.json(args, { input })
const OVER = 'the act is over, and at most its fee was spent: make it again, which shows what it takes now'

describe.skipIf(!hasProgram(PROGRAMS.lighthouse.id))('a transaction that would take more than its guards allow', () => {
  beforeAll(async () => {
    Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir() })
    mkdirSync(join(cli.home, '.config/solana'), { recursive: true })
    cli.file('.config/solana/id.json', JSON.stringify([...payer.secretKey]), 0o600)
    await ok(['localnet', 'airdrop', address, '10'])
  })

  /** Pays 1.2 SOL, and may pay 1 SOL. */
  async function built() {
    const { transaction } = await ok(['wallet', 'send', other, '1', '--build-only'])
    const { recent_blockhash: recentBlockhash } = await ok(['tx', 'decode', transaction])
    const pay = SYSTEM.instruction('transfer', { source: address, destination: other }, { lamports: (SOL * 6n) / 5n })
    const plain = plainTransaction({ payer: address, recentBlockhash }, [pay])
    const guarded = withGuards(plain, [{ kind: 'wallet', address, change: -SOL }])
    return { plain, guarded: Buffer.from(guarded).toString('base64') }
  }

  it('shows what has to hold, and one without guards that it has none', async () => {
    const { plain, guarded } = await built()
    const shown = (await cli.svc(['tx', 'decode', guarded, '--offline'])).stdout
    expect(shown.replaceAll(/\s+/g, ' ')).toContain(
      `fails as a whole unless 2: ${address} loses at most 1 SOL 3: ${address} stays a wallet of the System program without data`,
    )
    expect(shown).not.toMatch(/^guards/m)
    const bare = Buffer.from(plain).toString('base64')
    expect((await cli.svc(['tx', 'decode', bare, '--offline'])).stdout).toMatch(
      /^guards +none: it may take more when it lands$/m,
    )
    const { transaction } = await ok(['tx', 'sign', bare])
    expect((await cli.svc(['tx', 'decode', transaction, '--offline'])).stdout).toMatch(
      /^guards +none, and adding some would void its signatures$/m,
    )
  })

  it('is not sent, and says which guard stopped it and why', async () => {
    const { transaction } = await ok(['tx', 'sign', (await built()).guarded])
    const { stderr } = await cli.svc(['tx', 'submit', transaction])
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      `the guard of ${address} stopped it: 1.2 SOL would have left, at most 1 SOL may; ${OVER}`,
    )
  })

  it('that is sent all the same fails, and its record says the same from its bytes', async () => {
    const { transaction, signature } = await ok(['tx', 'sign', (await built()).guarded])
    const { stderr } = await cli.svc(['tx', 'submit', transaction, '--skip-preflight'])
    const error = {
      program: 'Lighthouse',
      name: 'AssertionFailed',
      message: `the guard of ${address} stopped it: more than 1 SOL would have left`,
      hint: OVER,
    }
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(error.message)
    expect(await ok(['tx', 'get', signature])).toMatchObject({ lifecycle: 'failed', error })
    const watched = await cli.svc(['tx', 'watch', signature])
    expect(`${watched.stdout}${watched.stderr}`.replaceAll(/\s+/g, ' ')).toContain(error.message)
  })
})
