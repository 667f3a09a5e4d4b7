/** What a list says about a row is read, harmless, or a fault: every name of every column, in CSV and JSON. */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deciding } from '../../commands/lists/column-flags.ts'
import type { Ui } from '../../commands/ui/ui.ts'
import { COLUMN_NAMES, type ColumnRole, plainName, roleOf } from '../../src/merkle/column-names.ts'
import type { ColumnChoices } from '../../src/merkle/column-plan.ts'
import { type CsvRows, readCsv } from '../../src/merkle/csv.ts'
import { bytesSource } from '../../src/merkle/csv-source.ts'
import { entryAt } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import { readJsonList } from '../../src/merkle/json-list.ts'
import { readCsvInEngine } from '../../src/merkle/recipient-tree.ts'
import { commandLine, MINT } from '../cli/command-line.ts'
import { runs } from '../support/runs.ts'
import { walletOf } from './reference.ts'

const { svc, file } = commandLine()
const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]

const read = (text: string, columns: ColumnChoices = {}, decimals?: number): CsvRows =>
  readCsv(Buffer.from(text), { name: 'list', columns, decimals })

function faults(text: string, columns: ColumnChoices = {}, decimals?: number): string[] {
  try {
    read(text, columns, decimals)
    return []
  } catch (error) {
    if (error instanceof MerkleInputError) return error.issues.map(issueLine)
    throw error
  }
}

const json = (list: unknown, columns: ColumnChoices = {}) =>
  readJsonList(Buffer.from(JSON.stringify(list)), { name: 'list', columns })

const rowsOf = ({ list }: Pick<CsvRows, 'list'>) =>
  Array.from({ length: list.count }, (_, i) => {
    const { wallet, amount } = entryAt(list, i)
    return `${wallet} ${amount}`
  })

describe('the table of columns', () => {
  it('has each name once, so that a name means one thing everywhere', () => {
    const all = Object.values(COLUMN_NAMES).flatMap(({ names }) => names.map(plainName))
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([])
    expect(all).not.toContain('')
  })
})

describe('a list', () => {
  it.each([
    ['solana_address', 'allocation'],
    ['solana_wallet', 'tokens'],
    ['Recipient Address', 'tokenAmount'],
    ['wallet', 'Amount to send'],
    ['to', 'Airdrop'],
  ])('is read by the names %s and %s', (wallet, amount) => {
    expect(rowsOf(read(`${wallet},${amount}\n${A},5\n`))).toEqual([`${A} 5`])
    expect(read(`${wallet},${amount}\n${A},5\n`).columns.read).toEqual({ wallet, amount })
  })

  it.each([
    ['balance', 'airdrop'],
    ['quantity', 'tokens'],
    ['amount', 'uiAmount'],
  ])('with %s beside %s is refused, unless a flag says which is the amount', (one, other) => {
    const text = `wallet,${one},${other}\n${A},5,7\n`
    expect(faults(text)).toEqual([
      `list:1:${8 + one.length + 1}: ${one} and ${other} could both be the amount: say which with --amount-column`,
    ])
    expect(rowsOf(read(text, { amount: one }))).toEqual([`${A} 5`])
    expect(read(text, { amount: one }).columns.ignored).toEqual([other])
    expect(rowsOf(read(text, { ignore: [one] }, other === 'uiAmount' ? 0 : undefined))).toEqual([`${A} 7`])
  })

  it.each(['percentage', 'token_id', 'timestamp', 'usd_value', 'Rank', 'Montant'])(
    'of two columns with the second named %s is refused',
    (name) => {
      expect(faults(`wallet,${name}\n${A},5\n`)).toEqual([expect.stringContaining('no column is known as the amount')])
      expect(rowsOf(read(`wallet,${name}\n${A},5\n`, { amount: name }))).toEqual([`${A} 5`])
    },
  )

  it.each([
    ['decimals', '6', /"decimals" says the units of a row/],
    ['network', 'ethereum', /for the network "ethereum"/],
    ['cliff', '2027-01-01', /schedule of a row.*svc airdrops launch --ends-at.*svc locks create --from/],
    ['vesting_months', '12', /schedule of a row/],
    ['lockExpiry', 'soon', /schedule of a row/],
    ['installment', 'monthly', /schedule of a row/],
    ['eligible', 'no', /which rows are meant/],
    ['points', '120', /not a known name, and holds numbers \("120"\)/],
    ['since', '3 Jan 2027', /holds dates/],
    ['referrer', B, /holds addresses/],
    ['kept', 'true', /holds yes or no/],
  ])('with a column %s of %s is refused, unless it is left out', (name, cell, what) => {
    const text = `wallet,amount,${name}\n${A},5,${cell}\n`
    expect(faults(text)).toEqual([expect.stringMatching(what)])
    expect(faults(text)[0]).toMatch(/^list:2:/)
    const left = read(text, { ignore: [name] })
    expect(rowsOf(left)).toEqual([`${A} 5`])
    expect(left.columns.ignored).toEqual([name])
    // An empty column decides nothing.
    expect(rowsOf(read(`wallet,amount,${name}\n${A},5,\n`))).toEqual([`${A} 5`])
  })

  it('takes a lockup that is over, and refuses one that is not', () => {
    const text = `recipient,amount,lockup_date\n${A},5,\n${B},6,2025-01-01T00:00:00Z\n`
    expect(read(text, { now: Date.parse('2025-01-02') }).list.count).toBe(2)
    expect(faults(text, { now: Date.parse('2024-12-31') })).toEqual([expect.stringContaining('schedule of a row')])
  })

  it('with a column of tokens must name the mint in every row', () => {
    const text = (...tokens: string[]) =>
      `wallet,token,amount\n${[A, B, C].map((w, i) => `${w},${tokens[i]},5`).join('\n')}\n`
    expect(read(text(MINT, MINT, MINT), { mint: MINT }).list.count).toBe(3)
    expect(faults(text(MINT, B, MINT), { mint: MINT })).toEqual([
      expect.stringMatching(/^list:3:.*every row must name/),
    ])
    expect(faults(text(MINT, '', MINT), { mint: MINT })).toEqual([expect.stringContaining('names no token')])
    expect(faults(text('USDC', 'USDC', 'USDC'), { mint: MINT })).toHaveLength(1)
    expect(faults(text(MINT, MINT, B))).toHaveLength(1)
  })

  it.each([
    ['amount_raw', 6, '--raw'],
    ['lamports', 9, '--raw'],
    ['uiAmount', undefined, '--decimals'],
  ])('with amounts in %s and decimals %s says that the units are others', (name, decimals, flag) => {
    expect(faults(`wallet,${name}\n${A},5\n`, {}, decimals)).toEqual([expect.stringContaining(flag)])
  })

  it('of pandas is refused with advice about the index', () => {
    const text = `,wallet,amount\n0,${A},5\n1,${B},6\n`
    expect(faults(text)).toEqual([expect.stringMatching(/pandas writes its index.*index=False.*--ignore-column 1$/)])
    expect(rowsOf(read(text, { ignore: ['1'] }))).toEqual([`${A} 5`, `${B} 6`])
  })

  it('has no header that is read as a row', () => {
    expect(faults(`wallet1,total2\n${A},5\n`)).toEqual([expect.stringContaining('no column is known as the wallet')])
    expect(rowsOf(read(`wallet1,total2\n${A},5\n`, { wallet: 'wallet1', amount: 'total2' }))).toEqual([`${A} 5`])
  })

  it('in JSON follows the same table', () => {
    expect(json([{ solana_wallet: A, tokens: 5, rank: 1 }]).columns).toMatchObject({
      read: { wallet: 'solana_wallet', amount: 'tokens' },
      ignored: ['rank'],
    })
    for (const extra of [
      { status: 'paid' },
      { token: B },
      { cliff: '2027-01-01' },
      { points: 7 },
      { kept: false },
      { at: {} },
    ])
      expect(() =>
        json(
          [
            { wallet: A, amount: 5 },
            { wallet: B, amount: 6, ...extra },
          ],
          { mint: MINT },
        ),
      ).toThrow(/list:1:/)
    expect(() => json({ first: [{ wallet: A, amount: 5 }], second: [{ wallet: B, amount: 5 }] })).toThrow(
      /several lists \(at 1:10 and 1:\d+\)/,
    )
  })

  it('names the token around its list, which is compared with the mint', () => {
    const recipients = [{ wallet: A, amount: 5 }]
    for (const around of [{ mint: B, recipients }, { data: { token_address: B, recipients } }]) {
      expect(() => json(around, { mint: MINT })).toThrow(
        /the file is for the token .* leave it out with --ignore-column/,
      )
      const ignore = ['mint', 'token_address'].filter((name) => JSON.stringify(around).includes(name))
      expect(json(around, { mint: MINT, ignore }).columns.overruled).toEqual(ignore)
    }
    for (const around of [
      { mint: MINT, recipients },
      { mint: 'USDC', recipients },
    ])
      expect(json(around, { mint: MINT }).list.count).toBe(1)
  })

  it('has no second list of wallets beside it', () => {
    const recipients = [{ wallet: A, amount: 5 }]
    expect(() => json({ recipients, excluded: [A] })).toThrow(/several lists/)
    expect(json({ recipients, notes: ['all are checked'], none: [] }).list.count).toBe(1)
  })

  it('of token accounts has no other wallet beside the owner', () => {
    const account = { owner: A, mint: MINT, amount: '5' }
    expect(() => json([{ ...account, recipient: B }])).toThrow(/owner and recipient could both be the wallet/)
    expect(json([{ ...account, address: B }]).columns.read).toMatchObject({ wallet: 'owner' })
    expect(json([{ ...account, recipient: B }], { wallet: 'recipient' }).columns.read).toMatchObject({
      wallet: 'recipient',
    })
    expect(json([{ ...account, recipient: B }], { ignore: ['recipient'] }).columns.read).toMatchObject({
      wallet: 'owner',
    })
  })
})

describe('a receipt', () => {
  const receipt = `wallet,amount,status,signature,note\n${A},5,sent,${'5'.repeat(88)},\n${B},6,failed,,no account\n${C},7,to send,,\n`

  it('is refused with the number of paid rows and the flag for the others', () => {
    expect(faults(receipt)).toEqual([
      expect.stringMatching(
        /this is a receipt: "status", "signature" says that 1 of 3 rows is paid\. --unpaid-only takes only the others/,
      ),
    ])
  })

  it('pays only the others with --unpaid-only', () => {
    const rows = read(receipt, { isUnpaidOnly: true })
    expect(rowsOf(rows)).toEqual([`${B} 6`, `${C} 7`])
    expect(rows.paidRows).toBe(1)
  })

  it.each([
    ['status', 'pending'],
    ['status', 'failed to confirm'],
    ['status,signature', `failed,${'5'.repeat(88)}`],
    ['signature,error', ','],
    ['sent', '12.5'],
    ['status', 'sent back'],
    ['status', 'paid half'],
    ['status', 'Completed with errors'],
  ])('with %s of %s is neither paid nor unpaid, and is refused', (names, cells) => {
    const text = `wallet,amount,${names}\n${A},5,${cells}\n`
    expect(faults(text, { isUnpaidOnly: true })[0]).toContain('neither clearly paid nor clearly unpaid')
  })

  it('that is paid whole leaves nothing, and a list without such a column has none', () => {
    expect(faults(`wallet,amount,paid\n${A},5,yes\n`, { isUnpaidOnly: true })).toEqual([
      expect.stringContaining('nothing is left to pay: its row is paid'),
    ])
    expect(faults(`wallet,amount\n${A},5\n`, { isUnpaidOnly: true })).toEqual([
      expect.stringContaining('--unpaid-only needs a column'),
    ])
  })

  it('of JSON takes the objects without its field as unpaid', () => {
    const rows = json(
      [
        { wallet: A, amount: '5' },
        { wallet: B, amount: '6', status: 'sent' },
      ],
      { isUnpaidOnly: true },
    )
    expect(rowsOf(rows)).toEqual([`${A} 5`])
  })

  it('never pays a row that any of its columns calls paid', { tags: 'sampled' }, () => {
    const paid = fc.constantFrom(
      'paid',
      'sent',
      'Sent already',
      'confirmed',
      'finalized',
      'success',
      'true',
      'yes',
      '1',
      '5'.repeat(88),
    )
    const any = fc.constantFrom('', 'failed', 'no', 'to send', 'pending', '0', 'unknown', 'error')
    const names = fc.uniqueArray(fc.constantFrom('status', 'signature', 'paid', 'transferred_at', 'tx hash', 'state'), {
      minLength: 1,
    })
    fc.assert(
      fc.property(
        names,
        fc.array(fc.tuple(fc.boolean(), paid, any, fc.nat(5)), { minLength: 1, maxLength: 6 }),
        (columns, rows) => {
          const lines = rows.map(([isPaid, yes, other, at], i) => {
            const cells = columns.map((_, k) => (isPaid && k === at % columns.length ? yes : other))
            return [walletOf(i), i + 1, ...cells].join(',')
          })
          const text = [`wallet,amount,${columns.join(',')}`, ...lines].join('\n')
          expect(faults(text)).not.toEqual([])
          let taken: string[] = []
          try {
            taken = rowsOf(read(text, { isUnpaidOnly: true }))
          } catch (error) {
            expect(error).toBeInstanceOf(MerkleInputError)
          }
          for (const [i, [isPaid]] of rows.entries()) if (isPaid) expect(taken).not.toContain(`${walletOf(i)} ${i + 1}`)
        },
      ),
      { numRuns: runs(100, 2000) },
    )
  })
})

describe('any header', () => {
  const known = Object.values(COLUMN_NAMES).flatMap(({ names }) => names)
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...known) },
    fc.stringMatching(/^[a-z]{1,4}(?:[ _][a-z]{1,6})?$/),
  )
  const cell = fc.constantFrom('', 'text', '7', '1.5', '2027-01-01', B, MINT, 'paid', 'yes', '12 months', '[1]')

  it('names what is read, and nothing else that could decide is accepted', { tags: 'sampled' }, () => {
    let accepted = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(name, cell), { maxLength: 4 }), fc.nat(4), (others, at) => {
        const columns: [string, string][] = [['wallet', A], ['amount', '5'], ...others]
        const turned = [...columns.slice(at), ...columns.slice(0, at)]
        const text = `${turned.map(([title]) => title).join(',')}\n${turned.map(([, value]) => value).join(',')}\n`
        let rows: CsvRows | undefined
        try {
          rows = read(text, { mint: MINT, now: 0 })
        } catch (error) {
          expect(error).toBeInstanceOf(MerkleInputError)
        }
        const fast = readCsvInEngine(bytesSource(Buffer.from(text)), { columns: { mint: MINT } })
        if (fast !== undefined) expect(rows && rowsOf(rows)).toEqual(rowsOf(fast))
        if (rows === undefined) return
        accepted++
        const { read: taken, ignored } = rows.columns
        expect(rowsOf(rows)).toEqual([`${A} 5`])
        expect([...Object.values(taken), ...ignored].sort()).toEqual(turned.map(([title]) => title).sort())
        for (const [title, value] of others) {
          if (Object.values(taken).includes(title)) continue
          const role: ColumnRole | undefined = roleOf(title)
          const isHarmless = role !== undefined && COLUMN_NAMES[role].weight === 'harmless'
          const isText = value === '' || value === 'text'
          const isOwnToken = role === 'token' || value === MINT
          expect(isHarmless || isText || isOwnToken, `${title} ${value}`).toBe(true)
        }
      }),
      { numRuns: runs(300, 5000) },
    )
    expect(accepted).toBeGreaterThan(runs(10, 300))
  })
})

describe('a person at a terminal', () => {
  const list = Buffer.from(`wallet,amount,snapshot_slot,seen\n${A},5,123456,2026-01-02\n`)
  /** Reads the list with these answers; `said` are the warnings, the questions and the notes. */
  const readAnswering = async (answers: string[], attended = true) => {
    const said: string[] = []
    const say = (text: string) => void said.push(text)
    const ask = async ({ message }: { message: string }) => {
      say(message)
      return answers.shift()
    }
    const ui = { attended, warn: say, note: say, ask } as unknown as Ui
    const rows = await deciding(ui, {}, async (columns) => readCsv(list, { name: 'list', columns }))
    return { rows: rowsOf(rows), said }
  }

  it('is asked about each unknown column, and shown the flag that answers for it', async () => {
    const { rows, said } = await readAnswering(['ignore', 'ignore'])
    expect(rows).toEqual([`${A} 5`])
    expect(said).toEqual([
      expect.stringContaining('"snapshot_slot" is not a known name, and holds numbers'),
      'The column snapshot_slot',
      expect.stringContaining('"seen" is not a known name, and holds dates'),
      'The column seen',
      'Without this question: --ignore-column snapshot_slot,seen',
    ])
  })

  it('who stops, and a run that nobody watches, get the fault', async () => {
    await expect(readAnswering(['ignore', 'stop'])).rejects.toThrow(/snapshot_slot/)
    await expect(readAnswering([], false)).rejects.toThrow(/snapshot_slot/)
  })
})

describe('svc merkle build', () => {
  const cases = join(import.meta.dirname, 'cases')

  it('refuses rows of two mints, and a rank beside the address', async () => {
    const one = '85phhGsEZ64wgxL7p752Lr3KRtuJb3d36oT6FHid9BUw'
    const mints = await svc(['merkle', 'build', join(cases, 'two-mints.csv'), '--mint', one, '--decimals', '6'])
    expect([mints.exitCode, mints.stderr]).toEqual([
      2,
      expect.stringMatching(/two-mints\.csv:3:46: the row is for the token/),
    ])
    const rank = await svc(['merkle', 'build', join(cases, 'rank.csv'), '--mint', MINT, '--raw', '--quiet', '--json'])
    expect([rank.exitCode, rank.stderr]).toEqual([2, expect.stringContaining('no column is known as the amount')])
  })

  it('says in its answer which columns were read', async () => {
    const list = file('named.csv', `Wallet Address,Discord,Amount\n${A},a,42\n`)
    const { stdout } = await svc(['merkle', 'build', list, '--mint', MINT, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      columns: { wallet: 'Wallet Address', amount: 'Amount' },
      ignored_columns: ['Discord'],
    })
  })

  it('says with --quiet too that a flag leaves out what would decide', async () => {
    const list = file('paid.csv', `wallet,amount,status\n${A},5,paid\n`)
    const args = ['merkle', 'build', list, '--mint', MINT, '--quiet', '--yes']
    expect((await svc(args)).exitCode).toBe(2)
    const hash = file('hash.csv', `wallet,amount,#seen\n${A},5,2026-01-02\n`)
    const unknown = await svc(['merkle', 'build', hash, '--mint', MINT, '--yes'])
    expect(unknown.stderr).toContain("--ignore-column '#seen'")
    const left = await svc([...args, '--ignore-column', 'status'])
    expect([left.exitCode, left.stderr]).toEqual([
      0,
      expect.stringContaining('"status", which would decide about rows'),
    ])
  })
})
