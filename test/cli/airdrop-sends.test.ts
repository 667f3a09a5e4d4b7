/** Lists that are sent: everybody once, whoever cannot receive is named, and nobody is paid again by an oversight. */
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey, Transaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { solOf } from '../../commands/cli/amounts.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { TOKEN_2022_ACCOUNT_RENT } from '../support/rent.ts'
import { itInSoak } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'
import { commandLine, MINT } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const payer = Keypair.generate()
const platform = Keypair.generate()
const keypair = join(cli.home, 'payer.json')
const env: Record<string, string> = { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_SIGNER: 'keypair' }
const strangers = (count: number) => Array.from({ length: count }, () => addressOf(Keypair.generate()))
let mint = ''
let daemon: Served

const run = (args: string[]) => cli.svc(args, { env })
async function json(args: string[], exitCode = 0) {
  const { stdout, stderr, exitCode: code } = await run([...args, '--json'])
  expect([code, code === exitCode ? '' : stderr], args.join(' ')).toEqual([exitCode, ''])
  return JSON.parse(stdout)
}

beforeAll(async () => {
  writeFileSync(keypair, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
  writeFileSync(join(cli.home, 'platform.json'), JSON.stringify([...platform.secretKey]), { mode: 0o600 })
  env.SVC_SIGNER_KEYPAIR = join(cli.home, 'platform.json')
  mkdirSync(cli.dataDir)
  daemon = await serveHere(cli.dataDir, env)
  for (const key of [payer, platform]) await json(['localnet', 'airdrop', addressOf(key), '100'])
  const texts = ['--name', 'Sent', '--symbol', 'SNT', '--uri', 'https://example.com/s.json', '--decimals', '6']
  const owned = ['--supply', '1000', '--token-program', 'token2022', '-k', keypair]
  const made = await json(['tokens', 'create', ...texts, ...owned])
  mint = made.mint
})
afterAll(() => daemon?.stop())

const list = (name: string, rows: readonly string[]) => {
  const file = join(cli.home, name)
  writeFileSync(file, `wallet,amount\n${rows.join('\n')}\n`)
  return file
}
const send = (file: string, ...more: string[]) => {
  const args = ['airdrops', 'send', file, '--mint', mint, '--decimals', '6', '-k', keypair]
  return [...args, ...more]
}
const held = async (wallet: string) => {
  const account = spl
    .getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true, spl.TOKEN_2022_PROGRAM_ID)
    .toBase58()
  const { stdout, exitCode } = await run(['accounts', 'get', account, '--json'])
  return exitCode === 0 ? Buffer.from(JSON.parse(stdout).data, 'base64').readBigUInt64LE(64) : null
}

describe('svc airdrops send', () => {
  it('pays everybody once; its dry run shows the cost and writes nothing', async () => {
    const wallets = strangers(25)
    const file = list(
      'all.csv',
      wallets.map((wallet, i) => `${wallet},${i + 1}.5`),
    )
    const dry = await run(send(file, '--dry-run'))
    expect(dry.exitCode).toBe(0)
    expect(dry.stderr).toContain('337.5, of 1,000 in the wallet')
    expect(dry.stderr).toContain(`${solOf(25n * TOKEN_2022_ACCOUNT_RENT)} SOL for 25 token accounts`)
    expect(dry.stderr).toContain('4 transactions, each of at most 14 wallets, or 7 without')
    expect(dry.stderr).toMatch(
      /guard +each transaction has its own, the first:\n +at most 0\.\d+ SOL can leave your wallet/,
    )
    expect([existsSync(`${file}.send.jsonl`), await held(wallets[0]!)]).toEqual([false, null])

    const out = join(cli.home, 'paid.csv')
    const first = await json(send(file, '--out', out))
    expect(first).toMatchObject({ total: 25, sent: 25, to_send: 0, failed: 0, amount: '337500000' })
    const [head, ...lines] = readFileSync(out, 'utf8').trim().split('\r\n')
    expect(head).toBe('wallet,amount,status,signature,note')
    expect(lines.map((line) => line.split(',').slice(0, 3).join())).toEqual(
      wallets.map((wallet, i) => `${wallet},${i + 1}.5,sent`),
    )
    expect(new Set(first.recipients.map(({ signature }: { signature: string }) => signature)).size).toBe(4)
    expect(await Promise.all([0, 24].map((i) => held(wallets[i]!)))).toEqual([1_500_000n, 25_500_000n])

    const again = await json(send(file))
    expect(again).toMatchObject({ sent: 0, sent_already: 25 })
    expect(await held(wallets[0]!)).toBe(1_500_000n)
  })

  itInSoak('that has paid a part is named by svc status in its folder, until all is paid', async () => {
    const [first, second] = strangers(2) as [string, string]
    const file = list('part.csv', [`${first},1`])
    const stopped = async () => (await json(['status'])).stopped_lists
    await json(send(file))
    expect(await stopped()).toEqual([])
    appendFileSync(file, `${second},2\n`)
    expect(await stopped()).toEqual([{ file: 'part.csv', rows: 2, paid: 1, open: 0 }])
    expect((await run(['status'])).stderr).toContain(
      'The list part.csv was sent in part, 1 of 2 rows are paid. Run its command again: it goes on.',
    )
    // As a kill leaves it before the end of the transaction is known.
    const journal = `${file}.send.jsonl`
    writeFileSync(journal, readFileSync(journal, 'utf8').replace(',"end":"confirmed"', ''))
    expect(await stopped()).toEqual([{ file: 'part.csv', rows: 2, paid: 0, open: 1 }])
    await json(send(file))
    expect(await stopped()).toEqual([])
    expect([await held(first), await held(second)]).toEqual([1_000_000n, 2_000_000n])
    // A file that is no journal is none.
    writeFileSync(join(cli.home, 'other.csv.send.jsonl'), '{"kind":"else"}\n')
    expect(await stopped()).toEqual([])
    rmSync(join(cli.home, 'other.csv.send.jsonl'))
  })

  itInSoak('refuses its own receipt, and pays with --unpaid-only nobody that it calls paid', async () => {
    const [paid, late] = strangers(2) as [string, string]
    const out = join(cli.home, 'receipt.csv')
    await json(send(list('first.csv', [`${paid},2.5`]), '--out', out))
    appendFileSync(out, `${late},1.5,to send,,\r\n`)
    const fed = await run(send(out, '--yes', '--quiet'))
    expect([fed.exitCode, fed.stderr]).toEqual([
      2,
      expect.stringMatching(/1 of 2 rows is paid\. --unpaid-only takes only the others/),
    ])
    expect(await held(paid)).toBe(2_500_000n)
    const { stdout, exitCode } = await run(send(out, '--unpaid-only', '--json'))
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ sent: 1, total: 1, paid_rows: 1, amount: '1500000' }),
    ])
    expect([await held(paid), await held(late)]).toEqual([2_500_000n, 1_500_000n])
    const raw = join(cli.home, 'raw.csv')
    const args = [
      'airdrops',
      'send',
      list('raw-list.csv', [`${strangers(1)[0]},7`]),
      '--mint',
      mint,
      '--raw',
      '-k',
      keypair,
    ]
    await json([...args, '--out', raw])
    expect(readFileSync(raw, 'utf8')).toMatch(/^wallet,amount_raw,status,signature,note\r\n\w+,7,sent,/)
  })

  itInSoak('refuses a file that was overwritten by a new list before it pays anybody', async () => {
    const [kept, gone, added] = strangers(3) as [string, string, string]
    const file = list('monthly.csv', [`${kept},1`, `${gone},1`])
    await json(send(file))
    list('monthly.csv', [`${kept},1`, `${added},1`])
    const { exitCode, stderr } = await run(send(file))
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/1 wallet of it was paid earlier, and 1 paid wallet is gone.*--journal FILE/s),
    ])
    expect(await held(added)).toBe(null)
  })

  itInSoak('pays rows that were added, and refuses another amount for a wallet that was paid', async () => {
    const [one, two] = strangers(2) as [string, string]
    const file = list('more.csv', [`${one},1`])
    await json(send(file))
    list('more.csv', [`${one},1`, `${two},2`])
    expect(await json(send(file))).toMatchObject({ sent: 1, sent_already: 1 })
    list('more.csv', [`${one},3`, `${two},2`])
    const changed = await run(send(file))
    expect(changed.exitCode).toBe(2)
    expect(changed.stderr).toContain(`${one} was sent 1000000 raw units in an earlier run`)
    expect(changed.stderr).toContain('the list has 3000000 for it now')
  })

  it('names and leaves out wallets that cannot receive, pays the others, and exits 1', async () => {
    const [fine] = strangers(1) as [string]
    const file = list('faults.csv', [`${mint},1`, `${fine},2`, `${addressOf(payer)},1`, `${strangers(1)[0]},0`])
    const { exitCode, stderr } = await run(send(file))
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`${mint} is a mint or a token account, not a wallet`)
    expect(stderr).toContain(`${addressOf(payer)} is the sender itself`)
    expect(stderr).toContain('1 sent, 3 left out of 4')
    expect(await held(fine)).toBe(2_000_000n)
  })

  itInSoak('refuses a list under another journal, a missing journal, and a journal of another token', async () => {
    const [one] = strangers(1) as [string]
    const file = list('once.csv', [`${one},1`])
    await json(send(file))
    const copy = list('copy.csv', [`${one},1`])
    const other = await run(send(copy))
    expect(other.exitCode).toBe(2)
    expect(other.stderr).toContain(`was sent before, by the journal ${file}.send.jsonl`)
    rmSync(`${file}.send.jsonl`)
    const lost = await run(send(file))
    expect([lost.exitCode, lost.stderr]).toEqual([2, expect.stringContaining('which is gone')])
    expect(await json(send(copy, '--again'))).toMatchObject({ sent: 1 })
    expect(await held(one)).toBe(2_000_000n)
    const wrong = await run(['airdrops', 'send', copy, '--mint', MINT, '--raw', '-k', keypair])
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('was started with the token')])
  })

  it('refuses wrong decimals, more tokens than the wallet has, and a list from standard input', async () => {
    const [one] = strangers(1) as [string]
    const file = list('wrong.csv', [`${one},1`])
    const decimals = await run(['airdrops', 'send', file, '--mint', mint, '--decimals', '9', '-k', keypair])
    expect([decimals.exitCode, decimals.stderr]).toEqual([2, expect.stringContaining(`${mint} has 6 decimals, not 9`)])
    const much = await run(send(list('much.csv', [`${one},1000.5`])))
    expect([much.exitCode, much.stderr]).toEqual([1, expect.stringContaining('and 1,000.5 are to be sent')])
    const none = await run(send('-'))
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining('standard input')])
  })

  it('refuses a list with locked amounts, because a transfer would pay them at once', async () => {
    const file = join(cli.home, 'locked.csv')
    writeFileSync(file, `wallet,amount,locked\n${strangers(1)[0]},1,2\n`)
    const locked = await run(send(file))
    expect([locked.exitCode, locked.stderr]).toEqual([2, expect.stringContaining('has locked amounts')])
  })

  itInSoak(
    'continues from a journal whose last line was cut off, and refuses a file that is not a journal',
    async () => {
      const wallets = strangers(2) as [string, string]
      const file = list('torn.csv', [`${wallets[0]},1`])
      await json(send(file))
      const journal = `${file}.send.jsonl`
      const whole = readFileSync(journal, 'utf8')
      appendFileSync(journal, '{"batch":9,"recipients":[["')
      list(
        'torn.csv',
        wallets.map((wallet) => `${wallet},1`),
      )
      expect(await json(send(file))).toMatchObject({ sent: 1, sent_already: 1 })
      const text = readFileSync(journal, 'utf8')
      expect([text.startsWith(whole), text.includes('"batch":9'), text.endsWith('\n')]).toEqual([true, false, true])
      writeFileSync(journal, `${whole}{"batch":1}\n`)
      const broken = await run(send(file))
      expect([broken.exitCode, broken.stderr]).toEqual([2, expect.stringContaining(`${journal}:3 is not a journal`)])
    },
  )

  itInSoak('lets the platform wallet send, with one idempotency key for each batch', async () => {
    const [receiver, wallets] = [list('platform.csv', [`${addressOf(platform)},50`]), strangers(12)]
    await json(send(receiver))
    const file = list(
      'signed.csv',
      wallets.map((wallet) => `${wallet},1`),
    )
    const signed = ['airdrops', 'send', file, '--mint', mint, '--decimals', '6', '--signed']
    const refused = await run(signed)
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('lamports_per_transaction')])
    // Nothing of it was paid.
    rmSync(`${file}.send.jsonl`)
    const limits = ['--per-transaction', '1', '--per-day', '1', '--token', `${mint}:12000000:12000000`]
    await json(['signer', 'policy', ...limits, '--yes'])
    expect(await json([...signed, '--again'])).toMatchObject({ sent: 12, failed: 0 })
    expect(await held(wallets[11]!)).toBe(1_000_000n)
    expect(await json(signed)).toMatchObject({ sent: 0, sent_already: 12 })

    // A destination that the policy refuses is named, and its neighbours are paid; a batch above the limit is divided.
    const [stranger, ...friends] = strangers(7) as [string, ...string[]]
    const policy = ['--token', `${mint}:3000000:100000000`, '--destinations', friends.join(',')]
    await json(['signer', 'policy', '--per-transaction', '1', '--per-day', '1', ...policy, '--yes'])
    const mixed = list(
      'mixed.csv',
      [friends[0], stranger, ...friends.slice(1)].map((wallet) => `${wallet},1`),
    )
    const some = await run(['airdrops', 'send', mixed, '--mint', mint, '--decimals', '6', '--signed', '--json'])
    const paidSome = JSON.parse(some.stdout)
    expect([some.exitCode, paidSome.sent, paidSome.left_out]).toEqual([1, 6, 1])
    expect(paidSome.recipients[1]).toMatchObject({ wallet: stranger, note: expect.stringContaining(stranger) })
    expect(await Promise.all(friends.map(held))).toEqual(friends.map(() => 1_000_000n))
    expect(await held(stranger)).toBe(null)
    await json(['signer', 'policy', ...limits, '--destinations', 'any', '--yes'])

    // As if killed before the answers came; only the key that asked is answered by what it had signed.
    const journal = `${file}.send.jsonl`
    const lines = readFileSync(journal, 'utf8').trim().split('\n')
    const begun = lines.map((line, i) => {
      const { end, ...batch } = JSON.parse(line)
      return i === 0 ? line : JSON.stringify({ ...batch, sending: { ...batch.sending, signature: null } })
    })
    writeFileSync(journal, `${begun.join('\n')}\n`)
    const { key } = await json(['keys', 'create', '--name', 'other', '--scopes', '*'])
    const { stdout, exitCode } = await cli.svc([...signed, '--json'], { env: { ...env, SVC_API_KEY: key } })
    const other = JSON.parse(stdout)
    expect([exitCode, other.sent, other.unknown]).toEqual([1, 0, 12])
    expect(other.recipients[0].note).toContain('with another API key; it is not asked again')
    expect(other.recipients[0].note).toContain('if nothing was paid, put it into a list of its own')
    expect(readFileSync(journal, 'utf8')).not.toContain(key)
    expect(await held(wallets[11]!)).toBe(1_000_000n)
    expect(await json(signed)).toMatchObject({ sent: 12, unknown: 0 })
    expect(await Promise.all(wallets.map(held))).toEqual(wallets.map(() => 1_000_000n))
  })
})

describe('A journal of svc airdrops send', () => {
  const lines = (file: string) => readFileSync(`${file}.send.jsonl`, 'utf8').trim().split('\n')
  /** The journal that a run wrote, with other recipients, end or signature in its batch. */
  const planted = (from: string, to: string, changed: object) => {
    const [head, batch] = lines(from)
    writeFileSync(`${to}.send.jsonl`, `${head}\n${JSON.stringify({ ...JSON.parse(batch!), ...changed })}\n`, {
      mode: 0o600,
    })
  }
  const sentOne = async (name: string) => {
    const [wallet] = strangers(1) as [string]
    const file = list(name, [`${wallet},1`])
    const { recipients } = await json(send(file))
    return { wallet, file, signature: recipients[0].signature as string }
  }

  itInSoak('does not count a payment to somebody else or of another amount, finished or begun', async () => {
    const real = await sentOne('real.csv')
    const [other] = strangers(1) as [string]
    const cases: [wallet: string, amount: string][] = [
      [other, '1000000'],
      [real.wallet, '2000000'],
    ]
    for (const [i, [wallet, amount]] of cases.entries()) {
      for (const end of ['confirmed', undefined]) {
        const file = list(`planted-${i}-${end}.csv`, [`${wallet},${Number(amount) / 1e6}`])
        planted(real.file, file, { recipients: [[wallet, amount]], end })
        const before = await held(wallet)
        const again = await json(send(file, '--trust-journal'), 1)
        expect(again).toMatchObject({ sent: 0, sent_already: 0, unknown: 1 })
        expect(again.recipients[0].note).toContain(`is on chain and did something else: ${real.signature}`)
        expect(await held(wallet)).toBe(before)
      }
    }
  })

  itInSoak('does not count a transaction that failed, or one that no node has unless it is trusted', async () => {
    const real = await sentOne('real-too.csv')
    const [wallet] = strangers(1) as [string]
    const file = list('failed.csv', [`${wallet},1`])
    const failed = await failedTransfer()
    const sending = { transaction: 'AA==', signature: failed, last_valid_block_height: 1 }
    planted(real.file, file, { recipients: [[wallet, '1000000']], sending })
    const refused = await json(send(file), 1)
    expect(refused.recipients[0].note).toBe(`its transaction in the journal failed on chain: ${failed}`)

    const gone = list('gone.csv', [`${wallet},1`])
    const signature = base58.encode(Buffer.alloc(64, 7))
    planted(real.file, gone, { recipients: [[wallet, '1000000']], sending: { ...sending, signature } })
    const unknown = await json(send(gone), 1)
    expect(unknown).toMatchObject({ sent: 0, sent_already: 0, unknown: 1 })
    expect(unknown.recipients[0].note).toBe(`no RPC node has ${signature}: --trust-journal counts it as done`)
    expect(await held(wallet)).toBeNull()
    expect(await json(send(gone, '--trust-journal'))).toMatchObject({ sent: 0, sent_already: 1 })
    expect(await held(wallet)).toBeNull()
  })

  it.runIf(process.getuid?.() === 0)('of another user in a folder with mode 1777 is not read', async () => {
    const real = await sentOne('mine.csv')
    const shared = join(cli.home, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    const file = join(shared, 'pay.csv')
    writeFileSync(file, `wallet,amount\n${real.wallet},1\n`)
    planted(real.file, file, {})
    chownSync(`${file}.send.jsonl`, 12_345, 12_345)
    const { exitCode, stderr } = await run(send(file))
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('belongs to another user (uid 12345, not 0)')])
    expect(stderr).toContain('name another place with --journal FILE')
  })

  /** The signature of a transfer that is on chain and failed: the sender does not have the tokens. */
  async function failedTransfer(): Promise<string> {
    const connection = new Connection(daemon.rpcUrl, 'confirmed')
    const [source, target] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
    const wrong = spl.createTransferInstruction(source, target, payer.publicKey, 1, [], spl.TOKEN_2022_PROGRAM_ID)
    const transaction = new Transaction().add(wrong)
    transaction.recentBlockhash = (await connection.getLatestBlockhash()).blockhash
    transaction.sign(payer)
    const signature = await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
    await expect
      .poll(() => connection.getSignatureStatus(signature), { timeout: 20_000 })
      .toMatchObject({
        value: { err: expect.anything() },
      })
    return signature
  }
})

describe('svc airdrops push', () => {
  it('sends the list of a stored tree once, recorded in the journal of its airdrop', async () => {
    const texts = ['--name', 'Push', '--symbol', 'PSH', '--uri', 'https://example.com/p.json', '--decimals', '0']
    const owned = ['--supply', '500', '--token-program', 'token2022', '-k', keypair]
    const made = await json(['tokens', 'create', ...texts, ...owned])
    const wallets = strangers(11)
    const file = list(
      'tree.csv',
      wallets.map((wallet, i) => `${wallet},${i + 1}`),
    )
    const built = await json(['merkle', 'build', file, '--mint', made.mint, '--raw', '--persist'])
    const { id } = Array.isArray(built) ? built[0] : built
    const push = ['airdrops', 'push', id, '-k', keypair]
    const dry = await run([...push, '--dry-run'])
    expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining('66, of 500 in the wallet')])
    expect(await json(push)).toMatchObject({ sent: 11, amount: '66' })
    expect(await json(push)).toMatchObject({ sent: 0, sent_already: 11 })
    // The same list as a file is the same list.
    const sent = await run(['airdrops', 'send', file, '--mint', made.mint, '--raw', '-k', keypair])
    expect([sent.exitCode, sent.stderr]).toEqual([2, expect.stringContaining('was sent before, by the journal')])
  })
})
