/** Lists in the shapes that people have: each file of cases/ is read as it is meant, or refused with its place and a way out. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTreeRequest } from '../../src/merkle/built-tree.ts'
import { readCsv } from '../../src/merkle/csv.ts'
import { bytesSource } from '../../src/merkle/csv-source.ts'
import { entryAt, listFromEntries } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import { readCsvInEngine } from '../../src/merkle/recipient-tree.ts'
import { commandLine, MINT } from '../cli/command-line.ts'
import { runs } from '../support/runs.ts'
import { walletOf } from './reference.ts'

const { svc, file, home } = commandLine()
const CASES = join(import.meta.dirname, 'cases')
const at = (name: string) => join(CASES, name)

const A = '6MEx6w8GeahVY3f5SPRxR9Zk8bkzZ8NtTB3PKcu63Kns'
const B = '5qgFc1Nkprozsc3fWhh3Pu3HmUpVBWYMusaBmvG1wSqK'

describe('svc merkle build', () => {
  it.each([
    ['tolocale-millions.csv', [/^1:46: "1,000,000" .*thousands/, /^2:46: .*thousands/, /^3:46: .*thousands/]],
    ['thousands-unquoted-noheader.csv', [/^1:46: "1,000,000" .*thousands/, /^2:46: "2,500" .*thousands/]],
    ['decimal-comma-unquoted-noheader.csv', [/^1:46: "1,50" .*decimal comma; write 1\.50/, /^2:46: /, /^3:46: /]],
    ['decimal-comma-unquoted-noheader-4.csv', [/^1:46: "1,5000" .*decimal comma/, /^2:46: "12,2500" .*decimal comma/]],
    ['decimal-comma-first-whole-noheader.csv', [/^2:48: 3 cells, .* "1,50" .*decimal comma/]],
    ['share-usd-noheader.csv', [/^1:46: more numbers than wallet and amount .*header/, /^2:46: /]],
    ['four-numbers-noheader.csv', [/^1:46: more numbers than wallet and amount .*header/, /^2:46: /]],
    ['header-locked-thousands.csv', [/^2:46: "1,000" .*thousands/]],
    ['na-row-3.csv', [/^3:1: "#N\/A" is an error value of the spreadsheet/, /^4:1: "#REF!" /]],
    ['ref-errors.csv', [/^2:46: "#REF!" /, /^3:1: "#N\/A" /]],
    ['nbsp.csv', [/^2:45: .*no-break space \(U\+00A0\)/, /^3:1: .*U\+00A0/]],
    ['zwsp.csv', [/^2:45: .*zero-width space \(U\+200B\)/]],
    ['html-saved.csv', [/^1:1: .*HTML/]],
    ['gz.csv.gz', [/^1:1: .*gzip; unpack/]],
    ['xlsx-like.xlsx', [/^1:1: .*Excel workbook.*CSV UTF-8/]],
    ['dup-case.csv', [/^4:1: wallet 6MEx\w+ is listed twice .* 2:1$/, /^5:1: "6mex\w+" has no capital letter/]],
    ['helius-token-accounts.json', [/^\d+:\d+: .*token accounts, whose amounts are raw units: leave --decimals out/]],
    ['gumdrop-list.json', [/^2:3: the JSON has the fields "handle", "amount": no column is known as the wallet/]],
  ])('refuses %s, and writes nothing', async (name, faults) => {
    const out = join(home, 'never.json')
    const ran = await svc(['merkle', 'build', at(name), '--mint', MINT, '--decimals', '6', '--out', out])
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    const lines = ran.stderr.split('\n').filter((line) => line.includes(`${at(name)}:`))
    const places = lines.map((line) => line.slice(line.indexOf(at(name)) + at(name).length + 1))
    expect(places).toHaveLength(faults.length)
    for (const [i, fault] of faults.entries()) expect(places[i]).toMatch(fault)
    expect(existsSync(out)).toBe(false)
  })

  const none: string[] = []
  it.each([
    ['jito-noheader.csv', 6, '3500000000', ['column 4'], /column 3 as the locked amount\s.*"column 4"/],
    ['address-and-amount-and-usd.csv', 6, '85000000', ['Amount (USD)'], /"Amount \(USD\)"/],
    ['vested-type.csv', 6, '85000000', ['type'], /"type"/],
    ['solana-tokens-lockup.csv', 6, '85000000', ['lockup_date'], /"lockup_date"/],
    ['wallet-address-3col.csv', 6, '42000000', ['Discord'], /wallet from "Wallet Address", the amount from "Amount"/],
    ['solscan-holders-a.csv', 9, '29669074024004334', ['Token Account', 'Percentage'], /wallet from "Account"/],
    ['solscan-holders-b.csv', 9, '29669075024003000', ['Token Account', 'Percentage'], /amount from "Quantity"/],
    ['solscan-holders-c.csv', 9, '286478889570000000', ['Token Acct', 'Percentage'], /"Percentage"/],
    ['excel-semicolon.csv', 6, '3500000', none, /separated by semicolons/],
    ['tabs.tsv', 6, '17000000', none, /separated by tabs/],
    ['excel-sep-line-comma.csv', 6, '17000000', none, undefined],
    ['ctrl-z.csv', 6, '85000000', none, undefined],
    ['ranked-hash-header.csv', 6, '600000000', ['#'], /begins with # is read as the header/],
    ['trailing-zeros-12.csv', 6, '85500000', none, undefined],
    ['wallet-amount-array.json', 6, '600000000', none, /JSON with amounts in whole tokens of 6 decimals/],
    ['sugar-airdrop_list.json', 6, '6000000', none, /JSON with amounts in whole tokens/],
  ])('reads %s, and says what it ignored', async (name, decimals, total, ignored, note) => {
    const args = ['merkle', 'build', at(name), '--mint', MINT, '--decimals', String(decimals)]
    const json = await svc([...args, '--json'])
    expect(json.exitCode).toBe(0)
    // Addresses that nobody can sign for are a warning of their own.
    if (name !== 'solscan-holders-b.csv') expect(json.stderr).toBe('')
    expect(JSON.parse(json.stdout)).toMatchObject({ total, ignored_columns: ignored, comment_rows: 0 })
    const { stderr } = await svc([...args, '-o', 'plain'])
    // The plan is one line: wallets, least, most, median and sum.
    if (note === undefined) expect(stderr).toMatch(/^(?:\d+ wallets?, [^\n]+ in all\n)?$/)
    else expect(stderr).toMatch(note)
  })

  it('reads token accounts only in raw units', async () => {
    const own = '3EczVPnQtvLmp7D2ZJuAzXSCcgb46F84ZBFsZGds8nwZ'
    const args = ['merkle', 'build', at('helius-token-accounts.json'), '--mint', own]
    const other = await svc(['merkle', 'build', at('helius-token-accounts.json'), '--mint', MINT])
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('every row must name')])
    const fields = ['address', 'mint', 'delegated_amount', 'frozen']
    expect(JSON.parse((await svc([...args, '--json'])).stdout)).toMatchObject({
      ...{ total: '468000', ignored_columns: fields, comment_rows: 0 },
    })
    expect((await svc([...args, '-o', 'plain'])).stderr).toMatch(/raw units\s.*each owner/)
  })

  it('reads or refuses a field that only later objects of a JSON list have', async () => {
    const built = async (list: readonly object[], ...flags: string[]) =>
      svc(['merkle', 'build', file('list.json', JSON.stringify(list)), '--mint', MINT, '--json', ...flags])
    const first = { wallet: A, amount: 5 }
    const locked = await built([first, { wallet: B, amount: 5, locked: 500, note: 'x' }])
    expect(JSON.parse(locked.stdout)).toMatchObject({ total_locked: '500', ignored_columns: ['note'] })
    for (const [another, fault] of [
      [{ wallet: B, amount: 5, balance: 6 }, 'amount and balance could both be the amount'],
      [{ owner: B, mint: MINT, amount: 5 }, 'a token account among other objects'],
    ] as const) {
      const { exitCode, stderr } = await built([first, another])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(fault)])
    }
  })

  it('refuses amounts that may be split at thousands separators if no header names the locked ones', async () => {
    const built = (text: string) => svc(['merkle', 'build', file('cut.csv', text), '--mint', MINT, '--json'])
    const cut = `${A},1,500,USDC\n${B},20,000,USDC\n`
    for (const text of [cut.replace('000', '250'), cut, `${A},1,500,USDC\n`]) {
      const { exitCode, stderr } = await built(text)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('reads as a thousands separator')])
    }
    const named = await built(`wallet,amount,locked,category\n${A},1,500,USDC\n`)
    expect(JSON.parse(named.stdout)).toMatchObject({ total_locked: '500' })
    // A row that no separator explains shows that the columns are meant.
    expect(JSON.parse((await built(`${A},1,500,x\n${B},20,7,x\n`)).stdout)).toMatchObject({ total_locked: '507' })
  })

  it('counts the rows that start with #', async () => {
    const list = file('comments.csv', `# mine\n${A},5\n#${B},6\n`)
    const args = ['merkle', 'build', list, '--mint', MINT]
    expect(JSON.parse((await svc([...args, '--json'])).stdout)).toMatchObject({ total: '5', comment_rows: 2 })
    expect((await svc([...args, '-o', 'plain'])).stderr).toContain('2 rows begin with # and are comments')
  })
})

describe('svc nfts mint --from', () => {
  it('refuses error values of a spreadsheet, in any column', async () => {
    const { exitCode, stderr } = await svc([
      'nfts',
      'mint',
      '--from',
      at('nfts-owner-na.csv'),
      '--collection',
      A,
      '--dry-run',
    ])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('nfts-owner-na.csv:2:31: "#N/A" is an error value')
    expect(stderr).toContain('nfts-owner-na.csv:3:1: "#N/A" is an error value')
  })

  it('refuses an owner in lower case that happens to decode', async () => {
    const lowered = Array.from({ length: 400 }, (_, i) => walletOf(i).toLowerCase().replaceAll('l', 'm')).find(decodes)
    const list = file('lowered.csv', `name,uri,owner\nA,https://arweave.net/1,${lowered}\n`)
    const { exitCode, stderr } = await svc(['nfts', 'mint', '--from', list, '--collection', A, '--dry-run'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('lowered.csv:2:25: the owner is not a wallet')])
  })
})

/** What a CSV says, by a reader of ten lines; undefined for one that it does not understand without doubt. */
function plainly(text: string): string[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('# '))
  const rows = lines.map((line) => line.split(',').map((cell) => cell.trim()))
  const [first = []] = rows
  const header = first.includes('wallet') ? first : undefined
  const place = (name: string, without: number) => header?.indexOf(name) ?? without
  const isJito = header === undefined && first.length === 4 && /^\d+(\.\d+)?$/.test(first[2] ?? '')
  return rows.slice(header ? 1 : 0).map((cells) => {
    const locked = cells[isJito ? 2 : place('locked', -1)] ?? ''
    return [
      cells[place('wallet', 0)],
      BigInt(cells[place('amount', 1)] ?? ''),
      BigInt(locked === '' ? 0 : locked),
    ].join(' ')
  })
}

const listed = (
  text: string,
  read: (bytes: Buffer) => ReturnType<typeof readCsv> | undefined,
): string[] | undefined => {
  const list = read(Buffer.from(text))?.list
  return (
    list &&
    Array.from({ length: list.count }, (_, i) => {
      const { wallet, amount, locked } = entryAt(list, i)
      return `${wallet} ${amount} ${locked}`
    })
  )
}

function faultsOf(text: string): string[] {
  try {
    readCsv(Buffer.from(text), { name: 'list' })
    return []
  } catch (error) {
    if (error instanceof MerkleInputError) return error.issues.map(issueLine)
    throw error
  }
}

describe('a list that is accepted', () => {
  const amount = fc.oneof(fc.constantFrom('0', '1', '12', '000', '050', '100', '999', '1000'), fc.nat(1e9).map(String))
  const cell = fc.oneof(
    { weight: 6, arbitrary: amount },
    fc.constantFrom('', 'Staker', '#N/A', '1.5', '12%', '$5', 'x'),
  )
  const row = fc.tuple(fc.nat(40).map(walletOf), amount, fc.array(cell, { maxLength: 3 }))
  const header = fc.constantFrom(
    undefined,
    'wallet,amount',
    'wallet,amount,locked',
    'wallet,amount,usd',
    'wallet,amount,',
    'usd,wallet,amount',
  )

  it('pays exactly what a plain reader finds in it, or nothing', { tags: 'sampled' }, () => {
    let accepted = 0
    const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 6, selector: ([wallet]) => wallet })
    // Rows are cut to the width of the header in half of the lists, so that many are right.
    fc.assert(
      fc.property(header, rows, fc.boolean(), (names, given, isCut) => {
        const width = names?.split(',').length ?? 2 + given[0]![2].length
        const lines = given.map(([wallet, paid, more]) => {
          const cells = names?.startsWith('usd') ? [more[0] ?? '', wallet, paid] : [wallet, paid, ...more]
          return (isCut ? [...cells, '', '', ''].slice(0, width) : cells).join(',')
        })
        const text = [...(names === undefined ? [] : [names]), ...lines].join('\n')
        let read: string[] | undefined
        try {
          read = listed(text, (bytes) => readCsv(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(MerkleInputError)
        }
        const fast = listed(text, (bytes) => readCsvInEngine(bytesSource(bytes), {}))
        if (fast !== undefined) expect(fast).toEqual(read)
        if (read === undefined) return
        accepted++
        expect(read).toEqual(plainly(text))
        expect(text).not.toContain('#N/A')
      }),
      { numRuns: runs(80, 3000) },
    )
    expect(accepted).toBeGreaterThan(runs(4, 300))
  })

  it("has no unnamed number beside wallet and amount, except in Jito's four columns", { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(row, fc.array(amount, { minLength: 1, maxLength: 3 }), ([wallet, paid], more) => {
        const line = [wallet, paid, ...more].join(',')
        for (const text of [line, `${A},5\n${line}`, `${A},5,x\n${B},6,y\n${line}`]) {
          expect(faultsOf(text)).toHaveLength(1)
          expect(readCsvInEngine(bytesSource(Buffer.from(text)), {})).toBeUndefined()
        }
      }),
      { numRuns: runs(30, 100) },
    )
  })
})

describe('a wallet', () => {
  it('in lower case is refused in a CSV and in a request, even if it decodes', { tags: 'sampled' }, () => {
    const lowered = Array.from({ length: runs(120, 400) }, (_, i) => walletOf(i).toLowerCase().replaceAll('l', 'm'))
    const decoding = lowered.filter((text) => text.length >= 40 && decodes(text))
    expect(decoding.length).toBeGreaterThan(runs(5, 20))
    for (const wallet of decoding) {
      expect(faultsOf(`${wallet},5\n`)).toEqual([expect.stringContaining('has no capital letter')])
      expect(readCsvInEngine(bytesSource(Buffer.from(`${wallet},5\n`)), {})).toBeUndefined()
      const body = Buffer.from(JSON.stringify({ entries: [{ wallet, amount: '5' }] }))
      expect(() => readTreeRequest(body)).toThrow('has no capital letter')
    }
    expect(faultsOf('1nc1nerator11111111111111111111111111111111,8\n')).toEqual([])
  })

  it('that differs from another only in case is refused with both lines, or both entries of a request', () => {
    const other = `${A.slice(0, -3)}KnS`
    expect(decodes(other)).toBe(true)
    const text = `wallet,amount\n${A},1\n${B},2\n${other},3\n`
    for (const duplicates of ['reject', 'sum'] as const) {
      expect(() => readCsv(Buffer.from(text), { name: 'list', duplicates })).toThrow(
        `list:4:1: wallet ${other} differs only in upper and lower case from the one at 2:1`,
      )
      expect(readCsvInEngine(bytesSource(Buffer.from(text)), { duplicates })).toBeUndefined()
    }
    const entries = [A, B, other].map((wallet) => ({ wallet, amount: '1' }))
    expect(() => readTreeRequest(Buffer.from(JSON.stringify({ entries })))).toThrow(
      `entries.2.wallet: ${other} differs only in upper and lower case from entries.0`,
    )
    expect(listFromEntries([{ wallet: A, amount: 1n }]).count).toBe(1)
  })
})

function decodes(text: string): boolean {
  try {
    return base58.decode(text).length === 32
  } catch {
    return false
  }
}

describe('amounts beside semicolons and tabs', () => {
  const read = (rows: string, separator = ';') =>
    listed(`wallet;amount\n${rows}`.replaceAll(';', separator), (bytes) =>
      readCsv(bytes, { decimals: 6, name: 'list' }),
    )

  it('may have a decimal comma', () => {
    for (const separator of [';', '\t']) {
      expect(read(`${A};1,5\n${B};2.25\n`, separator)).toEqual([`${A} 1500000 0`, `${B} 2250000 0`])
    }
    expect(read(`${A};0,125\n${B};1234,5\n`)).toEqual([`${A} 125000 0`, `${B} 1234500000 0`])
  })

  it.each(['1,500', '1.500', '12.345', '1.234,5', '1,234.5', '1.000.000'])(
    'are refused if %s could mean two amounts',
    (text) => {
      expect(() => read(`${A};${text}\n`)).toThrow('list:2:46: amount')
    },
  )
})
