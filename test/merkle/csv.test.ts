/** Recipient CSVs: what is read, what is refused and where. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CsvOptions, readCsv } from '../../src/merkle/csv.ts'
import { type EntryList, entryAt } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { runs } from '../support/runs.ts'
import { anyRecipients, naiveRoot, recipientsOf, walletOf } from './reference.ts'

const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]

const read = (text: string | Uint8Array, options: CsvOptions = {}) =>
  readCsv(typeof text === 'string' ? Buffer.from(text) : text, { name: 'list.csv', ...options })

const rowsOf = (list: EntryList) =>
  Array.from({ length: list.count }, (_, i) => {
    const { wallet, amount } = entryAt(list, i)
    return `${wallet} ${amount}`
  })

function refusal(text: string | Uint8Array, options: CsvOptions = {}): MerkleInputError {
  try {
    read(text, options)
  } catch (error) {
    if (error instanceof MerkleInputError) return error
    throw error
  }
  throw new Error('the CSV was read')
}

const linesOf = (text: string | Uint8Array, options: CsvOptions = {}) => refusal(text, options).issues.map(issueLine)

describe('a recipient CSV', () => {
  it.each([
    ['without a header', `${A},5\n${B},6\n`],
    ['without a line end at the end', `${A},5\n${B},6`],
    ['with a header', `wallet,amount\n${A},5\n${B},6\n`],
    ['with CRLF', `wallet,amount\r\n${A},5\r\n${B},6\r\n`],
    ['with CR alone', `wallet,amount\r${A},5\r${B},6\r`],
    ['with a BOM', `\ufeffwallet,amount\n${A},5\n${B},6\n`],
    ['with a BOM and no header', `\ufeff${A},5\n${B},6\n`],
    ['with columns turned', `amount,address\n5,${A}\n6,${B}\n`],
    ['with columns between', `id,Recipient,note,AMOUNT\n1,${A},x,5\n2,${B},,6\n`],
    ['with a pubkey column', `pubkey,amount\n${A},5\n${B},6\n`],
    ['with a claimant column', `claimant,amount_unlocked\n${A},5\n${B},6\n`],
    ['with spaces in the header', ` Wallet , Amount Unlocked \n${A},5\n${B},6\n`],
    ['with one of two columns named', `user,amount\n${A},5\n${B},6\n`],
    ['with quotes', `"wallet","amount"\n"${A}","5"\n"${B}",6\n`],
    ['with quoted line ends and commas', `note,wallet,amount\n"a,\n""b""",${A},5\n"\r\n",${B},6\n`],
    ['with a line end inside the wallet cell', `wallet,amount\n"\n${A}\n",5\n${B},6\n`],
    ['with blank lines', `\n\nwallet,amount\n\n${A},5\n  \t\n${B},6\n\n\n`],
    ['with rows of commas alone', `wallet,amount\n${A},5\n,\n${B},6\n , \n`],
    ['with comments', `# list\nwallet,amount\n#${C},1\n${A},5\n  # more, and more\n${B},6\n#`],
    ['with spaces around cells', ` ${A} ,\t5 \n  ${B},6\t\n`],
    ['with spaces around quotes', `wallet, "amount"\n "${A}" , "5" \n${B},6\n`],
    ['with leading zeros', `${A},005\n${B},00000000000000000000000000006\n`],
    ['with empty cells nobody needs', `wallet,amount,note\n${A},5,x\n${B},6,\n`],
    ["in Jito's and Streamflow's form", `pubkey,amount_unlocked,amount_locked,category\n${A},5,0,Staker\n${B},6,0,\n`],
    ['in that form without a header', `${A},5,0,Staker\n${B},6,0,Searcher\n`],
    ['in that form with decimals in it', `pubkey,amount_unlocked,amount_locked,category\n${A},5,0.0,a\n${B},6,,b\n`],
  ])('is read %s', (_, text) => {
    expect(rowsOf(read(text).list)).toEqual([`${A} 5`, `${B} 6`])
  })

  it('reports the columns it used', () => {
    expect(read(`amount,note,wallet\n5,x,${A}\n`).columns).toMatchObject({
      header: true,
      wallet: 2,
      amount: 0,
      locked: -1,
    })
    expect(read(`${A},5,0,Staker\n`).columns).toMatchObject({ header: false, wallet: 0, amount: 1, locked: 2 })
  })

  it('keeps wallets off the curve and amounts up to u64, and counts amounts of zero', () => {
    const { list, zeroAmounts } = read(`11111111111111111111111111111111,18446744073709551615\n${A},0\n${B},000\n`)
    expect(rowsOf(list)).toEqual(['11111111111111111111111111111111 18446744073709551615', `${A} 0`, `${B} 0`])
    expect(zeroAmounts).toBe(2)
  })

  it.each([
    ['1', 6, '1000000'],
    ['1.5', 6, '1500000'],
    ['0.000001', 6, '1'],
    ['00.100000', 6, '100000'],
    ['123456789.123456789', 9, '123456789123456789'],
    ['18446744073709.551615', 6, '18446744073709551615'],
    ['18.446744073709551615', 18, '18446744073709551615'],
    ['9007199254740993', 0, '9007199254740993'],
    ['9007199254.740993', 6, '9007199254740993'],
    ['0.0', 1, '0'],
    ['1.5000000', 6, '1500000'],
    ['42.000000000000', 6, '42000000'],
    ['1.0', 0, '1'],
    ['18446744073709.551615000000', 6, '18446744073709551615'],
  ])('scales %s with %i decimals to %s exactly', (amount, decimals, units) => {
    expect(rowsOf(read(`${A},${amount}\n`, { decimals }).list)).toEqual([`${A} ${units}`])
  })

  it('scales any amount as bigint arithmetic does', { tags: 'sampled' }, () => {
    const anyCase = fc.record({
      decimals: fc.nat(18),
      whole: fc.bigInt({ min: 0n, max: 2n ** 64n }),
      fraction: fc.stringMatching(/^[0-9]{0,18}$/),
    })
    fc.assert(
      fc.property(anyCase, ({ decimals, whole, fraction }) => {
        const cut = fraction.slice(0, decimals)
        const units = whole * 10n ** BigInt(decimals) + BigInt(cut.padEnd(decimals, '0') || 0)
        const text = `${A},${whole}${cut === '' ? '' : `.${cut}`}\n`
        if (units < 2n ** 64n) expect(entryAt(read(text, { decimals }).list, 0).amount).toBe(units)
        else expect(linesOf(text, { decimals })[0]).toContain('more than a token account holds')
      }),
      { numRuns: runs(200, 1_000) },
    )
  })

  it.each([
    ['1.5', undefined, /not in base units.*--decimals/],
    ['1.0', undefined, /not in base units/],
    ['1.1234567', 6, /has 7 fractional digits, the token has 6/],
    ['1.5000001', 6, /has 7 fractional digits/],
    ['1.5', 0, /has 1 fractional digits, the token has 0/],
    ['1e3', 6, /exponents are not read/],
    ['1E-3', undefined, /exponents are not read/],
    ['1.5e+3', 6, /exponents are not read/],
    ['-1', 6, /no sign/],
    ['+1', undefined, /no sign/],
    ['-0', undefined, /no sign/],
    ['"1,000"', 6, /thousands separators/],
    ['1_000', undefined, /thousands separators/],
    ["1'000", undefined, /thousands separators/],
    ['1 000', undefined, /thousands separators/],
    ['"1,000.50"', 6, /thousands separators/],
    ['1.000.000', 6, /is not an amount/],
    ['.5', 6, /is not an amount.*12\.5/],
    ['5.', 6, /is not an amount/],
    ['.', 6, /is not an amount/],
    ['0x10', undefined, /is not an amount/],
    ['NaN', undefined, /is not an amount/],
    ['Infinity', 6, /is not an amount/],
    ['10 SOL', undefined, /is not an amount/],
    ['٣', undefined, /is not an amount/],
    ['', undefined, /the amount is empty/],
    ['18446744073709551616', undefined, /more than a token account holds/],
    ['18446744073709551616', 0, /more than a token account holds/],
    ['99999999999999999999999999', undefined, /more than a token account holds/],
    ['18446744073709.551616', 6, /more than a token account holds/],
    ['20', 18, /more than a token account holds/],
  ])('refuses the amount %s with %s decimals', (amount, decimals, what) => {
    const lines = linesOf(`wallet,amount\n${A},${amount}\n`, { decimals })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^list\.csv:2:\d+: /)
    expect(lines[0]).toMatch(what)
  })

  it('reports every fault with line and column, in file order', () => {
    const text = [
      '\ufeff# a comment',
      'note,wallet,amount',
      `"two`,
      `lines",${A},1`,
      '',
      `é,${B}, x1`,
      `ok,${A.slice(0, 30)},2`,
      `short,${C}`,
      `long,${C},3,4`,
      `"open,${C},5`,
    ].join('\r\n')
    expect(linesOf(text).map((line) => line.replace(/: .*/, ''))).toEqual([
      `list.csv:6:${'é,'.length + B.length + ', '.length + 1}`,
      'list.csv:7:4',
      `list.csv:8:${'short,'.length + C.length + 1}`,
      `list.csv:9:${'long,'.length + C.length + ',3,'.length + 1}`,
      'list.csv:10:1',
    ])
  })

  it.each([
    ['', /^list\.csv:1:1: no rows/],
    ['\n# nothing\n', /no rows/],
    ['wallet,amount\n', /no rows/],
    ['wallet,amount\n,\n', /no rows/],
    [`${A}\n`, /only one column/],
    [`${A}|5\n`, /only one column.*not by "\|"/],
    [
      `wallet,note,total\n${A},x,5\n`,
      /no column is known as the amount \("note", "total"\): say which with --amount-column/,
    ],
    [`amount,note,user\n5,x,${A}\n`, /no column is known as the wallet .*--wallet-column/],
    [
      `wallet,address,amount\n${A},${A},5\n`,
      /wallet and address could both be the wallet: say which with --wallet-column/,
    ],
    [`wallet,amount,amount_unlocked\n${A},5,5\n`, /amount and amount_unlocked could both be the amount/],
    [`who,rank,total\n${A},1,5\n`, /no column is known as the wallet/],
    [`${A},5\n"${B}"x,6\n`, /^list\.csv:2:\d+: text after a closing quote/],
    [`"${A},5\n${B},6\n`, /^list\.csv:1:1: the quote opened here is never closed/],
    [`${A},1,000\n`, /^list\.csv:1:\d+: "1,000" reads as a thousands separator/],
    [`${A},\u001b[2J1,000\n`, /^list\.csv:1:\d+: "\\u001b\[2J1,000" reads as a thousands separator/],
    [`${A},5\n${B},1,000\n`, /^list\.csv:2:\d+: 3 cells, but the first row has 2; .*thousands/],
    [`wallet,amount\n${A},1,000\n`, /^list\.csv:2:\d+: 3 cells/],
    [`${A},5\n${B}\n`, /^list\.csv:2:\d+: the amount is missing/],
    [`${A},5\nalice,6\n`, /^list\.csv:2:1: "alice" is not a base58 wallet: character 2/],
  ])('refuses %j', (text, what) => {
    const lines = linesOf(text)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(what)
  })

  it('refuses UTF-16, which spreadsheets call Unicode', () => {
    expect(linesOf(Buffer.from(`\ufeffwallet,amount\n${A},5\n`, 'utf16le'))[0]).toContain('UTF-16')
  })

  it('refuses a repeated wallet, naming both places', () => {
    expect(linesOf(`wallet,amount\n${A},1\n${B},2\n  ${A},3\n${A},4\n`)).toEqual([
      expect.stringMatching(new RegExp(`^list\\.csv:4:3: wallet ${A} is listed twice .* first at 2:1$`)),
      expect.stringMatching(/^list\.csv:5:1: .* first at 2:1$/),
    ])
  })

  it('sums a repeated wallet at its first place if asked to', () => {
    const { list, merged } = read(`${A},1\n${B},2\n${A},3\n${C},4\n${B},5\n${A},6\n`, { duplicates: 'sum' })
    expect(rowsOf(list)).toEqual([`${A} 10`, `${B} 7`, `${C} 4`])
    expect(merged).toBe(3)
  })

  it('refuses a sum beyond u64', () => {
    const text = `${A},18446744073709551615\n${B},1\n${A},1\n`
    expect(linesOf(text, { duplicates: 'sum' })).toEqual([
      'list.csv:3:1: the amounts of this wallet add up to 18446744073709551616, more than u64 holds; it is first at 1:1',
    ])
  })

  it('counts every fault and keeps the first hundred', () => {
    const error = refusal(`wallet,amount\n${'nope,-1\n'.repeat(300)}`)
    expect(error.issues).toHaveLength(100)
    expect(error.issueCount).toBe(600)
    expect(error.message).toContain('(and 599 more)')
    expect(error.issues.at(-1)!.position).toBe('list.csv:51:6')
  })

  it('reports faults of shape, wallet, amount and repetition together', () => {
    const positions = refusal(`${A},1\n${B},x\nnope,5\n${A},2\n${C}\n`).issues.map(({ position }) => position)
    expect(positions).toEqual([2, 3, 4, 5].map((line) => expect.stringMatching(`^list\\.csv:${line}:`)))
  })

  it('never repeats a cell as long as a secret key, and escapes control characters', () => {
    const secret = '4'.repeat(88)
    expect(linesOf(`${secret},5\n`)[0]).not.toContain('44444')
    expect(linesOf(`${A},\u001b[31m5\n`)[0]).not.toContain('\u001b')
    expect(linesOf(`\u009b31m,5\n`)[0]).not.toContain('\u009b')
  })

  it('reports its progress', () => {
    const calls: number[][] = []
    const rows = recipientsOf(17_000).map(({ wallet, amount }) => `${wallet},${amount}\n`)
    read(rows.join(''), { onProgress: (done, total) => calls.push([done, total]) })
    expect(calls.map(([done]) => done)).toEqual([16_384, 17_000])
    expect(calls.at(-1)).toEqual([17_000, 17_000])
    for (const [, total] of calls) expect(Math.abs(total! - 17_000)).toBeLessThan(400)
  })
})

describe('the spelling of a list', () => {
  const anySpelling = fc.record({
    bom: fc.boolean(),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    header: fc.constantFrom('wallet,amount', 'address,amount_unlocked', ' "Recipient" , "AMOUNT" '),
    turned: fc.boolean(),
    extra: fc.boolean(),
    lastEnd: fc.boolean(),
    marks: fc.infiniteStream(fc.nat(63)),
  })

  it('with any quoting, order, spacing and line ends gives the same root', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(anyRecipients(25), anySpelling, (recipients, spelling) => {
        const { bom, end, header, turned, extra, lastEnd, marks } = spelling
        const mark = () => marks.next().value!
        const cell = (text: string) => {
          const style = mark()
          const inner = style & 1 ? `"${style & 2 ? ' ' : ''}${text}${style & 4 ? '\n' : ''}"` : text
          return `${style & 8 ? ' ' : ''}${inner}${style & 16 ? '\t' : ''}`
        }
        const lines: string[] = []
        const row = (cells: string[]) => {
          if (mark() < 8) lines.push(mark() & 1 ? '' : '# "a comment, with a quote')
          const ordered = turned ? cells.toReversed() : cells
          lines.push((extra ? [...ordered.slice(0, 1), '"a ""b"",\r\nc"', ...ordered.slice(1)] : ordered).join(','))
        }
        row(header.split(','))
        for (const { wallet, amount } of recipients) row([cell(wallet), cell(String(amount))])
        const text = (bom ? '\ufeff' : '') + lines.join(end) + (lastEnd ? end : '')
        expect(toHex(buildTree(read(text).list).root)).toBe(naiveRoot(recipients))
      }),
      { numRuns: runs(80, 300) },
    )
  })

  it('of any bytes is read, or refused with a place, without a crash', { tags: 'sampled' }, () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .array(fc.constantFrom('"', ',', '\n', '\r', ' ', '#', A, '5', 'wallet', 'amount', '\ufeff'), { maxLength: 60 })
        .map((parts) => Buffer.from(parts.join(''))),
    )
    fc.assert(
      fc.property(anyBytes, fc.constantFrom(undefined, 6), (bytes, decimals) => {
        try {
          expect(read(bytes, { decimals, duplicates: 'sum' }).list.count).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toBeInstanceOf(MerkleInputError)
          for (const { position } of (error as MerkleInputError).issues) expect(position).toMatch(/^list\.csv:\d+:\d+$/)
        }
      }),
      { numRuns: runs(150, 3000) },
    )
  })
})
