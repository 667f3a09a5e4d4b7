/** `svc wallet reclaim` on the embedded chain: a dry run says to the lamport what a run returns, and what stays and why. */
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ledgerWorker } from '../../daemon/workers/workers.ts'
import { EmbeddedChain } from '../../src/localnet/local-chain.ts'
import { openParts } from '../../src/localnet/opening.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { EXCESS, oldAccounts } from '../support/old-accounts.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { itInSoak, runs } from '../support/runs.ts'
import { SOL } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

/** Accounts of the wallet, and how many one transaction has room for, by its version. */
/** How many fit of those that are guarded, and of those that are closed. */
const [ROWS, FIT, FIT_CLOSED, FIT_V1] = [runs(60, 1_000), 8, 20, 55]
const cli = commandLine()
const [own, platform, other] = ['own.json', 'platform.json', 'other.json'].map((name) => () => cli.keypair(name))
let daemon: Served
let wallets: Record<'own' | 'platform' | 'other', { file: string; address: string }>
beforeAll(async () => {
  mkdirSync(cli.dataDir)
  wallets = { own: own!(), platform: platform!(), other: other!() }
  const chain = new EmbeddedChain(
    await openParts({ dataDir: cli.dataDir, programsDir: quickProgramsDir(), now: () => Date.now() }),
  )
  await chain.together(() => {
    for (const { address } of Object.values(wallets)) chain.airdrop(address, SOL)
    const old = oldAccounts(chain, wallets.own.address)
    for (let n = 0; n < ROWS; n++) {
      const program = n % 3 === 0 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM
      old.token({ program, amount: n % 2 === 0 ? 0n : 1n, excess: EXCESS + BigInt(n) })
    }
    const ofPlatform = oldAccounts(chain, wallets.platform.address)
    for (let n = 0; n < 30; n++) ofPlatform.token({ amount: 1n })
    ofPlatform.ownMint(TOKEN_PROGRAM)
    const ofOther = oldAccounts(chain, wallets.other.address)
    ofOther.token({ frozen: true, excess: 0n })
    ofOther.token({ excess: 0n, isAssociated: false })
  })
  chain.close()
  daemon = await serveHere(cli.dataDir, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: wallets.platform.file }, [
    ledgerWorker,
  ])
})
afterAll(() => daemon?.stop())

const lamportsOf = async (wallet: string) => BigInt((await cli.json(['wallet', 'balance', wallet])).lamports)
const reclaim = (...argv: string[]) => cli.json(['wallet', 'reclaim', ...argv])

describe('svc wallet reclaim', () => {
  it('returns what its dry run says, to the lamport, then closes the empty ones', { tags: 'sampled' }, async () => {
    const { file, address } = wallets.own
    const transactions = Math.ceil(ROWS / FIT)
    const excess = BigInt(ROWS) * EXCESS + BigInt((ROWS * (ROWS - 1)) / 2)
    const shown = await cli.svc(['wallet', 'reclaim', '--dry-run', '-k', file])
    expect([shown.exitCode, shown.stdout]).toEqual([0, expect.stringContaining(`${ROWS} accounts of`)])
    expect(shown.stdout).toMatch(/stays +[\d.]+ SOL in each account, today's minimum/)
    const dry = await reclaim('--dry-run', '-k', file)
    expect(dry).toMatchObject({ wallet: address, accounts: ROWS, transactions, left_out: [], mints_listed: true })
    expect(BigInt(dry.lamports)).toBe(excess)
    const before = await lamportsOf(address)
    const done = await reclaim('-k', file, '--yes')
    expect(done).toMatchObject({ accounts: ROWS, lamports: dry.lamports, fee: dry.fee, transactions })
    expect(new Set(done.signatures).size).toBe(transactions)
    expect((await lamportsOf(address)) - before).toBe(BigInt(dry.lamports) - BigInt(dry.fee))
    expect(await reclaim('-k', file)).toMatchObject({ accounts: 0, lamports: '0', signatures: [] })

    const closing = await reclaim('--dry-run', '--close-empty', '-k', file)
    expect(closing).toMatchObject({ accounts: ROWS / 2, transactions: Math.ceil(ROWS / 2 / FIT_CLOSED) })
    const closed = await reclaim('--close-empty', '--tx-version', '1', '-k', file, '--yes')
    expect(closed).toMatchObject({
      accounts: ROWS / 2,
      lamports: closing.lamports,
      transactions: Math.ceil(ROWS / 2 / FIT_V1),
    })
    const gained = BigInt(dry.lamports) - BigInt(dry.fee) + BigInt(closed.lamports) - BigInt(closed.fee)
    expect((await lamportsOf(address)) - before).toBe(gained)
    const { empty_accounts } = await cli.json(['wallet', 'balance', address])
    expect(empty_accounts).toBe(0)
  })

  it('with --build-only prints one transaction for a wallet whose key is elsewhere', async () => {
    const { address } = wallets.platform
    const built = await reclaim('--build-only', '--payer', address)
    expect(built).toMatchObject({ accounts: 8, remaining_accounts: 23, missing_signers: [address] })
    const { instructions } = await cli.json(['tx', 'decode', built.transaction])
    const names = instructions.map(({ instruction }: { instruction: string }) => instruction)
    expect(names.filter((name: string) => name === 'withdrawExcessLamports')).toHaveLength(8)
  })

  itInSoak('with --signed reclaims the rent of the platform wallet, within its policy and in the ledger', async () => {
    const { address } = wallets.platform
    const refused = await cli.svc(['wallet', 'reclaim', '--signed', '--yes'])
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining('Refused by the rule lamports_per_transaction'),
    ])
    await cli.json(['signer', 'policy', '--per-transaction', '0.00001', '--per-day', '0.00002', '--yes'])
    const before = await lamportsOf(address)
    const done = await reclaim('--signed', '--yes')
    expect(done).toMatchObject({ accounts: 31, transactions: 4, fee: '20000' })
    expect((await lamportsOf(address)) - before).toBe(BigInt(done.lamports) - 20_000n)
    await cli.json(['localnet', 'advance', '30'])
    const sum = async () => {
      const rows = await cli.json(['ledger', 'list', '--kind', 'rent_returned', '--party', 'platform', '--all'])
      return rows.filter(({ account }: { account: string }) => account === address)
    }
    await expect.poll(async () => (await sum()).length).toBe(31)
    const returned = (await sum()).reduce((total: bigint, { amount }: { amount: string }) => total + BigInt(amount), 0n)
    expect(returned).toBe(BigInt(done.lamports))
  })

  it('says what stays, and why', async () => {
    const { file } = wallets.other
    const { exitCode, stdout, stderr } = await cli.svc(['wallet', 'reclaim', '--close-empty', '-k', file])
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('holds lamports that can return now')])
    expect(stderr).toMatch(/SOL stay in 1 account: frozen by the freeze authority/)
    expect(stderr).toMatch(/SOL stay in 1 account: cannot be opened again at their address/)
  })

  it.each([
    [['--wait', 'none'], '--wait none'],
    [['--dry-run', '--build-only'], '--build-only cannot be used with --dry-run'],
    [['--idempotency-key', 'k'], '--idempotency-key needs --signed'],
    [['--signed', '-k', 'x.json'], '--keypair cannot be used with --signed'],
    [['--signed', '--payer', '11111111111111111111111111111112'], '--payer cannot be used with --signed'],
  ])('refuses %j', async (argv, message) => {
    await cli.refused(['wallet', 'reclaim', ...argv], message, 2)
  })
})
