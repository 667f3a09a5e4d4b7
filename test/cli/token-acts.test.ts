/** `svc tokens mint`, `burn`, `freeze`, `thaw`, `transfer`, `pause` and `close`: one wallet, or a list that is done once. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setField } from '../../src/chain/programs/tokens/metadata-extension.ts'
import { run as runOn } from '../support/gold.ts'
import { quickProgramsDir } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { addressOf } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
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
const own = (args: string[]) => [...args, '-k', keypair]

beforeAll(async () => {
  writeFileSync(keypair, JSON.stringify([...payer.secretKey]), { mode: 0o600 })
  writeFileSync(join(cli.home, 'platform.json'), JSON.stringify([...platform.secretKey]), { mode: 0o600 })
  env.SVC_SIGNER_KEYPAIR = join(cli.home, 'platform.json')
  mkdirSync(cli.dataDir)
  daemon = await serveHere(cli.dataDir, env)
  for (const key of [payer, platform]) await json(['localnet', 'airdrop', addressOf(key), '100'])
  const texts = ['--name', 'Acted', '--symbol', 'ACT', '--uri', 'https://example.com/a.json', '--decimals', '6']
  const kept = ['--supply', '1000', '--token-program', 'token2022', '--keep-freeze-authority', '--pausable']
  mint = (await json(own(['tokens', 'create', ...texts, ...kept]))).mint
})
afterAll(() => daemon?.stop())

const accountOf = (wallet: string) =>
  spl
    .getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true, spl.TOKEN_2022_PROGRAM_ID)
    .toBase58()
async function read(wallet: string) {
  const { stdout, exitCode } = await run(['accounts', 'get', accountOf(wallet), '--json'])
  if (exitCode !== 0) return null
  const data = Buffer.from(JSON.parse(stdout).data, 'base64')
  return { amount: data.readBigUInt64LE(64), isFrozen: data[108] === 2 }
}
const file = (name: string, text: string) => {
  const path = join(cli.home, name)
  writeFileSync(path, text)
  return path
}

describe('svc tokens', () => {
  it('mints, burns, freezes and thaws for one wallet, and shows what it means before', async () => {
    const [wallet] = strangers(1) as [string]
    const dry = await run(own(['tokens', 'mint', mint, '1.5', '--to', wallet, '--dry-run']))
    expect(dry.exitCode).toBe(0)
    expect(dry.stdout).toContain('1,000 → 1,001.5')
    expect(dry.stdout).toMatch(/opens +the token account, for 0\.0\d+ SOL/)
    expect(await read(wallet)).toBeNull()
    const minted = await json(own(['tokens', 'mint', mint, '1.5', '--to', wallet]))
    expect(minted).toMatchObject({
      mint,
      recipient: wallet,
      token_account: accountOf(wallet),
      amount: '1500000',
      supply: '1001500000',
    })
    const frozen = await run(own(['tokens', 'freeze', mint, wallet]))
    expect(frozen.stderr).toContain('it can neither send nor receive this token until it is thawed')
    expect(await read(wallet)).toEqual({ amount: 1_500_000n, isFrozen: true })
    const stuck = await run(own(['tokens', 'mint', mint, '1', '--to', wallet]))
    expect([stuck.exitCode, stuck.stderr]).toEqual([2, expect.stringContaining('is frozen')])
    await json(own(['tokens', 'thaw', mint, accountOf(wallet)]))
    expect(await read(wallet)).toEqual({ amount: 1_500_000n, isFrozen: false })
    await json(own(['tokens', 'transfer', mint, wallet, '2']))
    await json(own(['tokens', 'transfer', mint, wallet, '500', '--raw']))
    expect(await read(wallet)).toEqual({ amount: 3_500_500n, isFrozen: false })
    const burned = await json(own(['tokens', 'burn', mint, '0.5']))
    expect(burned).toMatchObject({ holder: addressOf(payer), amount: '500000', supply: '1001000000' })
  })

  itInSoak('says before it signs that the owner of an empty account can close it and open it again', async () => {
    const [one, two] = strangers(2) as [string, string]
    for (const wallet of [one, two]) {
      await json(own(['tokens', 'mint', mint, '1', '--to', wallet]))
    }
    // Burned by nobody else than its owner, so that the account of a key of ours is the empty one.
    const holder = Keypair.generate()
    const holderFile = file('holder.json', JSON.stringify([...holder.secretKey]))
    chmodSync(holderFile, 0o600)
    await json(['localnet', 'airdrop', addressOf(holder), '1'])
    await json(own(['tokens', 'mint', mint, '1', '--to', addressOf(holder)]))
    await json(['tokens', 'burn', mint, '1', '-k', holderFile])
    const warning = `nothing is in the token account of ${addressOf(holder)}: its owner can close it`
    const dry = await run(own(['tokens', 'freeze', mint, addressOf(holder), '--dry-run']))
    expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining(warning)])
    const wallets = file('empty.csv', `wallet,balance\n${one},1\n${addressOf(holder)},0\n`)
    const listed = await run(own(['tokens', 'freeze', mint, '--from', wallets, '--dry-run', '--quiet']))
    expect([listed.exitCode, listed.stderr]).toEqual([0, expect.stringContaining(warning)])
    const full = await run(own(['tokens', 'freeze', mint, two, '--dry-run']))
    expect(full.stderr).not.toContain('can close it')
  })

  it('pauses and resumes, and cannot close a mint that was made without a close authority', async () => {
    await json(own(['tokens', 'pause', mint]))
    const paused = await run(own(['tokens', 'mint', mint, '1']))
    expect([paused.exitCode, paused.stderr]).toEqual([2, expect.stringContaining('is paused')])
    expect(await json(own(['tokens', 'resume', mint]))).toMatchObject({ mint, state: 'resumed' })
    const never = await run(own(['tokens', 'close', mint]))
    expect([never.exitCode, never.stderr]).toEqual([2, expect.stringContaining('made without a close authority')])
  })

  it('shows the additional fields of the metadata, without what a terminal would obey', async () => {
    const key = new PublicKey(mint)
    const local = await daemon.local()
    local.airdrop(mint, 10_000_000n)
    const hostile = await setField(key, payer.publicKey, { key: 'web\u001b[2J', value: 'a.b\u001b]0;x\u0007' })
    expect(runOn(local, [hostile], [payer]).err).toBeNull()
    const shown = await run(['tokens', 'get', mint])
    expect([shown.exitCode, shown.stdout]).toEqual([0, expect.stringContaining('a.b')])
    for (const control of ['\u001b', '\u0007']) expect(shown.stdout).not.toContain(control)
    expect((await json(['tokens', 'get', mint])).raw.metadata.fields).toHaveLength(1)
  })

  it('names the flag or argument that is wrong', async () => {
    const [wallet] = strangers(1) as [string]
    const list = file('one.csv', `${wallet},1\n`)
    const said = async (args: string[]) => {
      const { exitCode, stderr } = await run(own(args))
      expect(exitCode, args.join(' ')).toBe(2)
      return stderr
    }
    expect(await said(['tokens', 'mint', mint, '0'])).toContain('<amount> must be more than 0')
    expect(await said(['tokens', 'mint', mint, '1.1234567'])).toContain('more than 6 fractional digits')
    expect(await said(['tokens', 'mint', mint])).toContain('missing <amount>')
    expect(await said(['tokens', 'mint', mint, '1', '--from', list])).toContain('<amount> cannot be used with --from')
    expect(await said(['tokens', 'mint', mint, '--from', list, '--to', wallet])).toContain(
      '--to cannot be used with --from',
    )
    expect(await said(['tokens', 'mint', mint, '--from', list, '--build-only'])).toContain(
      '--build-only cannot be used with --from',
    )
    expect(await said(['tokens', 'mint', mint, '1', '--journal', 'j'])).toContain('--journal needs --from')
    expect(await said(['tokens', 'mint', mint, '1', '--signed'])).toContain('--keypair cannot be used with --signed')
    expect(await said(['tokens', 'burn', mint, '--from', '-'])).toContain('standard input')
    const bad = file('bad.csv', `wallet\nnobody\n${wallet}\n${wallet}\n`)
    const faults = await said(['tokens', 'freeze', mint, '--from', bad])
    expect(faults).toContain(`${bad}:2:1: wallet not a wallet`)
    expect(faults).toContain(`${bad}:4:1: wallet is in the list twice`)
  })

  itInSoak('is done by the platform wallet, if its policy permits', async () => {
    const [wallet] = strangers(1) as [string]
    await json(own(['tokens', 'set-authority', mint, 'freeze', addressOf(platform)]))
    await json(own(['tokens', 'transfer', mint, wallet, '1']))
    await json(['signer', 'policy', '--per-transaction', '1', '--per-day', '10', '--powers', 'freeze', '--yes'])
    const frozen = await json(['tokens', 'freeze', mint, wallet, '--signed'])
    expect(frozen).toMatchObject({ mint, wallet, state: 'frozen' })
    expect(await read(wallet)).toMatchObject({ isFrozen: true })
    const list = file('thawed.csv', `${wallet}\n`)
    // The server signs it, so nothing is checked here.
    const { stderr: dry } = await run(['tokens', 'thaw', mint, '--from', list, '--signed', '--dry-run'])
    expect(dry).toContain(`${addressOf(platform)}, the platform wallet`)
    expect(dry).not.toMatch(/^ {2}checked/m)
    expect(await json(['tokens', 'thaw', mint, '--from', list, '--signed'])).toMatchObject({ thawed: 1, failed: 0 })
    // Done once for the same state of the chain: what was undone since is done again by the same list and journal.
    const freezing = ['tokens', 'freeze', mint, '--from', list, '--signed']
    for (const expected of [{ frozen: 1 }, { frozen: 0, frozen_already: 1 }])
      expect(await json(freezing)).toMatchObject({ ...expected, failed: 0 })
    await json(['tokens', 'thaw', mint, wallet, '--signed'])
    expect(await json(freezing)).toMatchObject({ frozen: 1, failed: 0 })
    await json(['tokens', 'thaw', mint, wallet, '--signed'])
    expect(await read(wallet)).toMatchObject({ isFrozen: false })
  })
})

describe('svc tokens with a list', () => {
  it('mints for each wallet once, says the cost before, and continues its journal', async () => {
    const wallets = strangers(25)
    const list = file('grants.csv', `wallet,amount\n${wallets.map((wallet, i) => `${wallet},${i + 1}.5`).join('\n')}\n`)
    const { supply } = (await json(own(['tokens', 'mint', mint, '1']))) as { supply: string }
    const dry = await run(own(['tokens', 'mint', mint, '--from', list, '--dry-run']))
    expect([dry.exitCode, existsSync(`${list}.mint.jsonl`)]).toEqual([0, false])
    expect(dry.stderr).toContain('337.5 ACT in all')
    expect(dry.stderr).toMatch(/rent +0\.0\d+ SOL for missing token accounts/)
    expect(dry.stderr).toContain('transactions')
    const first = await json(own(['tokens', 'mint', mint, '--from', list]))
    expect(first).toMatchObject({ total: 25, minted: 25, minted_already: 0, failed: 0, amount: '337500000' })
    expect(new Set(first.recipients.map(({ signature }: { signature: string }) => signature)).size).toBeLessThan(6)
    expect((await read(wallets[24]!))?.amount).toBe(25_500_000n)
    const again = await json(own(['tokens', 'mint', mint, '--from', list]))
    expect(again).toMatchObject({ minted: 0, minted_already: 25 })
    const after = (await json(own(['tokens', 'mint', mint, '1']))) as { supply: string }
    expect(BigInt(after.supply) - BigInt(supply)).toBe(338_500_000n)

    // Another file with the same list would mint everything a second time.
    const copy = file('copy.csv', readFileSync(list, 'utf8'))
    const other = await run(own(['tokens', 'mint', mint, '--from', copy]))
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('was minted before, by the journal')])
    const changed = file('grants.csv', `wallet,amount\n${wallets[0]},9\n`)
    const refused = await run(own(['tokens', 'mint', mint, '--from', changed]))
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`${wallets[0]} had 1500000 raw units minted in an earlier run`),
    ])
  })

  it('leaves out who cannot get anything, does the others, and exits 1', async () => {
    const [fine] = strangers(1) as [string]
    const list = file('faults.csv', `${mint},1\n${fine},2\n${strangers(1)[0]},0\n`)
    const { exitCode, stderr } = await run(own(['tokens', 'mint', mint, '--from', list]))
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`${mint} is a mint or a token account, not a wallet`)
    expect(stderr).toContain('1 minted, 2 left out of 3')
    expect((await read(fine))?.amount).toBe(2_000_000n)
  })

  itInSoak('is done for every wallet whose transaction an interrupted run has not seen', async () => {
    const wallets = strangers(3)
    const list = file('cut.csv', `${wallets.map((wallet) => `${wallet},1`).join('\n')}\n`)
    await json(own(['tokens', 'mint', mint, '--from', list]))
    // As if the process had been killed before it saw the end of its transaction.
    const journal = `${list}.mint.jsonl`
    const lines = readFileSync(journal, 'utf8').trim().split('\n')
    const { end, ...open } = JSON.parse(lines.at(-1)!)
    expect(end).toBe('confirmed')
    writeFileSync(journal, `${lines[0]}\n${JSON.stringify(open)}\n`)
    expect(await json(own(['tokens', 'mint', mint, '--from', list]))).toMatchObject({ minted: 3, failed: 0 })
    expect((await read(wallets[0]!))?.amount).toBe(1_000_000n)
    rmSync(journal)
    const lost = await run(own(['tokens', 'mint', mint, '--from', list]))
    expect([lost.exitCode, lost.stderr]).toEqual([2, expect.stringContaining('which is gone')])
  })

  it('transfers to each wallet once', async () => {
    const wallets = strangers(2)
    const list = file('paid.csv', `${wallets.map((wallet) => `${wallet},1.25`).join('\n')}\n`)
    expect(await json(own(['tokens', 'transfer', mint, '--from', list]))).toMatchObject({ sent: 2 })
    expect(await json(own(['tokens', 'transfer', mint, '--from', list]))).toMatchObject({ sent: 0, sent_already: 2 })
    expect((await read(wallets[1]!))?.amount).toBe(1_250_000n)
  })
})

describe('svc tokens with a list of mints', () => {
  const mints: string[] = []
  const holderOf = async (of: string) => (await json(['tokens', 'get', of])).raw.extensions?.authorities?.pause ?? null
  beforeAll(async () => {
    // One forecast runs five transactions, and a list has any number.
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five', 'Six']) {
      const texts = ['--name', name, '--symbol', 'LST', '--uri', 'https://example.com/l.json', '--supply', '0']
      const kept = ['--token-program', 'token2022', '--pausable', '--closable']
      mints.push((await json(own(['tokens', 'create', ...texts, ...kept]))).mint)
    }
  })
  const rowsOf = (...rows: string[]) => `${rows.join('\n')}\n`

  itInSoak('pauses and resumes each mint once, and leaves out what cannot be paused', async () => {
    const list = file('mints.csv', rowsOf('mint', ...mints))
    const dry = await run(own(['tokens', 'pause', '--from', list, '--dry-run']))
    expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining('Pause 6 tokens')])
    expect(dry.stderr).toMatch(/line 2 +Pause the token/)
    await json(own(['tokens', 'pause', mints[0]!]))
    const paused = await json(own(['tokens', 'pause', '--from', list]))
    expect(paused).toMatchObject({ total: 6, done: 5, done_already: 1, failed: 0 })
    expect(paused.rows[0]).toMatchObject({ line: 2, mint: mints[0], status: 'done already', signature: null })
    for (const each of mints) expect((await json(['tokens', 'get', each])).raw.extensions.paused).toBe(true)
    const resumed = await json(own(['tokens', 'resume', '--from', list]))
    expect([resumed.done, (await json(own(['tokens', 'resume', '--from', list]))).done_already]).toEqual([6, 6])
    const mixed = file('mixed.csv', rowsOf(mints[0]!, strangers(1)[0]!))
    const left = await run(own(['tokens', 'pause', '--from', mixed]))
    expect([left.exitCode, left.stderr]).toEqual([1, expect.stringContaining(`${mixed}:2:1: There is no token mint`)])
    expect(left.stderr).toContain('1 paused, 1 left out of 2')
    await json(own(['tokens', 'resume', mints[0]!]))
  })

  itInSoak('changes the texts of each mint, and an empty cell stays as it is', async () => {
    const list = file(
      'texts.csv',
      rowsOf(
        'mint,name,symbol',
        `${mints[0]},Uno,`,
        `${mints[1]},"Due tre",DUE`,
        ...mints.slice(2).map((each) => `${each},Altro,`),
      ),
    )
    expect(await json(own(['tokens', 'update', '--from', list]))).toMatchObject({ done: 6, failed: 0 })
    const texts = async (of: string) => (await json(['tokens', 'get', of])).raw.metadata
    expect(await texts(mints[0]!)).toMatchObject({ name: 'Uno', symbol: 'LST' })
    expect(await texts(mints[1]!)).toMatchObject({ name: 'Due tre', symbol: 'DUE' })
    expect(await json(own(['tokens', 'update', '--from', list]))).toMatchObject({ done: 0, done_already: 6 })
    const faults = await run(own(['tokens', 'update', '--from', file('none.csv', rowsOf('mint,name', `${mints[0]},`))]))
    expect([faults.exitCode, faults.stderr]).toEqual([2, expect.stringContaining('neither name, symbol nor uri')])
  })

  it('gives authorities away and up, each once, and names faults with their line and column', async () => {
    const [friend] = strangers(1) as [string]
    const others = mints.slice(2).map((each) => `${each},pause,${friend}`)
    const rows = [`${mints[0]},pause,${friend}`, `${mints[1]},pause,none`, ...others]
    const list = file('authorities.csv', rowsOf('mint,type,new_authority', ...rows))
    expect(await json(own(['tokens', 'set-authority', '--from', list]))).toMatchObject({ done: 6, failed: 0 })
    expect([await holderOf(mints[0]!), await holderOf(mints[1]!)]).toEqual([friend, null])
    expect(await json(own(['tokens', 'set-authority', '--from', list]))).toMatchObject({ done: 0, done_already: 6 })
    const bad = file('bad-authorities.csv', rowsOf('mint,type,new_authority', `${mints[0]},pauze,none`, 'x,pause,none'))
    const { exitCode, stderr } = await run(own(['tokens', 'set-authority', '--from', bad]))
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining(`${bad}:2:${mints[0]!.length + 2}: "pauze" is not an authority`),
    ])
    expect(stderr).toContain(`${bad}:3:1: the mint is not an address`)
    const both = await run(own(['tokens', 'set-authority', mints[0]!, '--from', list]))
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('<mint> cannot be used with --from')])
  })

  itInSoak('closes each mint once, also after a run that did not see the end of it', async () => {
    const list = file('closed.csv', rowsOf(...mints))
    await json(own(['tokens', 'close', mints[2]!]))
    expect(await json(own(['tokens', 'close', '--from', list]))).toMatchObject({ done: 5, done_already: 1, failed: 0 })
    expect(await json(own(['tokens', 'close', '--from', list]))).toMatchObject({ done: 0, done_already: 6 })
  })
})
