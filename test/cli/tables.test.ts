import fc from 'fast-check'
import stringWidth from 'fast-string-width'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Amount, groupedDecimalOf, rawUnits } from '../../commands/cli/amounts.ts'
import { PLAIN } from '../../commands/ui/paint.ts'
import { render } from '../../commands/ui/render.ts'
import { tableLines } from '../../commands/ui/table.ts'
import { localTime, timeText, zoneOf } from '../../commands/ui/times.ts'
import { walletOf } from '../merkle/reference.ts'

const [A, B] = [walletOf(1), walletOf(2)]
const ID = 'BpuIV8evR9MFqWI8EmyeC1dAXtDFe8pQMSkSBRRKcnEAAA'
const SIGNATURE = '5'.repeat(88)
const lines = (headings: string[], rows: string[][], width = Number.POSITIVE_INFINITY) =>
  tableLines(headings, rows, width, PLAIN)
const table = (columns: string[], rows: unknown[][], width: number) =>
  render({ data: null, rows: { columns, rows } }, 'table', { paint: PLAIN, width })

describe('A table that must fit', () => {
  it('shortens addresses in the middle, except the one that identifies the row', () => {
    const rows = [[A, B, 'live', '2026-11-22 07:31:20']]
    const [heading, row] = lines(['ADDRESS', 'BASE MINT', 'STATUS', 'CREATED AT'], rows, 90)!
    expect(row).toHaveLength(90)
    expect(row).toContain(`${A}  ${B.slice(0, 5)}`)
    expect(row).toMatch(new RegExp(`${B.slice(0, 5)}[^ ]*…[^ ]*${B.slice(-5)}  live  +2026-11-22 07:31:20$`))
    expect(heading!.indexOf('STATUS')).toBe(row!.indexOf('live'))
  })

  it('puts values to copy on their own lines, and the others below', () => {
    const shown = lines(['ID', 'SIGNATURE', 'KIND', 'OWNER'], [[ID, SIGNATURE, 'dbc', A]], 40)
    expect(shown).toEqual([
      'ID',
      'SIGNATURE',
      '  KIND  OWNER',
      ID,
      SIGNATURE,
      `  dbc   ${A.slice(0, 16)}…${A.slice(-15)}`,
    ])
  })

  it('breaks text between words, and headings only if they are too wide', () => {
    const note = 'the vault lacks the tokens for what can still be claimed'
    const shown = lines(['NO', 'RATE LIMIT PER MINUTE', 'NOTE'], [['1', '120', note]], 50)!
    expect(shown.every((line) => line.length <= 50)).toBe(true)
    expect(shown.join(' ').replace(/\s+/g, ' ')).toContain(note.slice(0, 20))
    expect(shown[0]).not.toContain('RATE LIMIT PER MINUTE')
  })

  it('never breaks a word at 60 columns, if the words fit', () => {
    const note = 'transaction-watcher is late: airdrop-fully-claimed and gold-unlock-eligible wait for it'
    const shown = lines(['NAME', 'RUNNING', 'NOTE'], [['pool-migration', 'false', note]], 60)!
    expect(shown.every((line) => line.length <= 60)).toBe(true)
    const words = shown.slice(1).join(' ').split(/\s+/)
    for (const word of note.split(' ')) expect(words).toContain(word)
  })

  it('shows the unit of an amount to people, and the number alone to programs', async () => {
    const outcome = { data: null, record: { fee: new Amount('5000000', 9, 'SOL') } }
    expect(await render(outcome, 'table', { paint: PLAIN, width: 80 })).toContain('0.005 SOL')
    expect(JSON.stringify(outcome.record)).toBe('{"fee":"0.005"}')
  })

  it('never breaks a file name or a URL', () => {
    const [file, url] = ['/home/somebody/.local/share/svc/operator.key', 'http://127.0.0.1:8787']
    const rows = [
      ['ok', 'key file', file],
      ['ok', 'chain file', `${file} is in use by another; it is looked at when nobody serves it`],
      ['ok', 'daemon', `pid 12 at ${url}`],
    ]
    const shown = lines(['STATUS', 'CHECK', 'DETAIL'], rows, 70)!
    expect(shown[0]).toMatch(/^STATUS {2}CHECK +DETAIL$/)
    expect(shown.every((line) => line.length <= 70)).toBe(true)
    expect(shown.filter((line) => line.includes(file))).toHaveLength(2)
    expect(shown.join('\n')).toContain(`pid 12 at ${url}`)
  })

  it('becomes a list of records if no columns fit', async () => {
    const columns = ['id', 'signature', 'a_long_status', 'another_long_status', 'occurred_at']
    const row = [ID, SIGNATURE, 'migration_triggered', 'migration_triggered', '2026-11-22T06:00:00.000Z']
    const shown = await table(columns, [row, row], 30)
    expect(shown.split('\n\n')).toHaveLength(2)
    expect(shown).toContain(ID)
    expect(shown).toContain(SIGNATURE)
    expect(shown).toContain('migration_triggered')
  })

  it('counts the columns of each character', () => {
    const rows = [
      ['漢字', 'x'],
      ['👩‍👩‍👧', 'x'],
      ['ab', 'x'],
      ['é', 'x'],
    ]
    const shown = lines(['NAME', 'NEXT'], rows)!
    for (const line of shown.slice(1)) expect(stringWidth(line.slice(0, line.indexOf('x')))).toBe(6)
  })

  it('keeps every line within the width and every identifier whole, for any cells', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => text.replace(/[\p{Cc}\u2028\u2029]/gu, '')),
      fc.constantFrom(A, B, '12.5', '', 'migration_triggered', '2026-11-22 07:31:20'),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 20, max: 130 }),
        (cells, width) => {
          const rows = cells.map((row, i) => [`${ID.slice(0, -1)}${i}`, ...row])
          const shown = lines(['ID', 'ONE', 'TWO', 'THREE'], rows, width)
          if (shown === null) return
          for (const [id] of rows) expect(shown.some((line) => line.includes(id!))).toBe(true)
          const isOwn = (line: string) => rows.some((row) => row.includes(line))
          for (const line of shown) if (!isOwn(line)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
        },
      ),
    )
  })

  it('is not shortened without a terminal', async () => {
    const row = [ID, SIGNATURE, A, B, 'x'.repeat(300)]
    const shown = await table(['id', 'signature', 'owner', 'mint', 'note'], [row], Number.POSITIVE_INFINITY)
    for (const cell of row) expect(shown).toContain(cell)
  })
})

describe('A record that must fit', () => {
  it('breaks text below its start, and puts a long word on its own line', async () => {
    const data = { status: 'live', note: 'word '.repeat(30).trim(), signature: SIGNATURE }
    const shown = await render({ data }, 'table', { paint: PLAIN, width: 60 })
    const all = shown.trimEnd().split('\n')
    expect(all.filter((line) => line.length > 60).map((line) => line.trim())).toEqual([SIGNATURE])
    expect(all.filter((line) => line.includes('word')).length).toBeGreaterThan(2)
  })

  it('puts each of several signatures on its own line', async () => {
    const signatures = [SIGNATURE, SIGNATURE.replaceAll('5', '6')]
    const shown = await render({ data: { status: 'live', signatures } }, 'table', { paint: PLAIN, width: 80 })
    expect(shown.split('\n')).toEqual(expect.arrayContaining(signatures.map((one) => `  ${one}`)))
  })

  it('breaks a formatted line whose start is too wide', async () => {
    const text = `    ${A} (of ${B})  -31080797.086181 of ${A}`
    const shown = await render({ data: null, text }, 'table', { paint: PLAIN, width: 80 })
    expect(shown.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(shown.replace(/\s+/g, ' ').trim()).toBe(text.trim().replace(/\s+/g, ' '))
  })

  it('indents nested fields, one on each line', async () => {
    const data = { id: 'evt_1', data: { object: { address: A, owner: B, more: 'and more' } } }
    const shown = await render({ data }, 'table', { paint: PLAIN, width: 80 })
    expect(shown.split('\n')).toEqual(expect.arrayContaining(['DATA', `      "address": "${A}",`]))
    expect(await render({ data }, 'table', { paint: PLAIN, width: Number.POSITIVE_INFINITY })).toContain(
      `DATA  ${JSON.stringify(data.data)}`,
    )
  })
})

describe('Times', () => {
  const at = '2026-11-22T06:00:00.000Z'

  it('are local on a terminal, with their zone in the heading of a column, or beside each', async () => {
    const rows = { columns: ['name', 'created_at', 'created'], rows: [[at, at, 1_795_327_200]] }
    const shown = await render({ data: null, rows }, 'table', { paint: PLAIN, width: 100 })
    expect(shown).toContain(`CREATED AT ${zoneOf(at)}`)
    expect(shown).toMatch(new RegExp(`${at} {2}${localTime(at)} +${localTime(1_795_327_200_000)}\n`))
    expect(await render({ data: { created_at: at } }, 'table', { paint: PLAIN, width: 100 })).toBe(
      `CREATED AT  ${timeText(at, true)}\n`,
    )
  })

  it('are UTC in ISO 8601 without a terminal', async () => {
    const rows = { columns: ['name', 'created_at', 'created'], rows: [[at, at, 1_795_327_200]] }
    const [iso, created] = ['2026-11-22T06:00:00Z', '2026-11-22T06:00:00Z']
    const piped = await render({ data: null, rows }, 'table', { paint: PLAIN, width: Number.POSITIVE_INFINITY })
    expect(piped.split('\n')[1]).toMatch(new RegExp(`^${at} {2}${iso} +${created}$`))
    expect(await render({ data: null, rows }, 'plain', { paint: PLAIN, width: 20 })).toBe(`${at}\t${at}\t1795327200\n`)
  })

  it('have the zone of TZ, and each its own if daylight saving begins between them', async () => {
    const rows = { columns: ['created_at'], rows: [['2026-07-01T10:00:00.000Z'], ['2026-12-01T10:00:00.000Z']] }
    const inZone = async (zone: string) => {
      vi.stubEnv('TZ', zone)
      onTestFinished(() => void vi.unstubAllEnvs())
      return render({ data: null, rows }, 'table', { paint: PLAIN, width: 80 })
    }
    expect(await inZone('Asia/Kolkata')).toBe('CREATED AT +05:30\n2026-07-01 15:30:00\n2026-12-01 15:30:00\n')
    expect(await inZone('Europe/Berlin')).toBe('CREATED AT\n2026-07-01 12:00:00 +02:00\n2026-12-01 11:00:00 +01:00\n')
  })
})

describe('Amounts', () => {
  it('have thousands separators on a terminal, and none for programs', async () => {
    const record = { sol: new Amount(1_234_567_500_000_000n, 9) }
    const rows = { columns: ['sol'], rows: [[record.sol], [new Amount(5n, 0)]] }
    const shown = (look: { width: number }, outcome: object) =>
      render({ data: null, ...outcome }, 'table', { paint: PLAIN, ...look })
    expect(await shown({ width: 80 }, { record })).toBe('SOL  1,234,567.5\n')
    expect(await shown({ width: 80 }, { rows })).toBe('        SOL\n1,234,567.5\n          5\n')
    expect(await shown({ width: Number.POSITIVE_INFINITY }, { record })).toBe('SOL  1234567.5\n')
    expect(await render({ data: null, rows }, 'plain', { paint: PLAIN, width: 80 })).toBe('1234567.5\n5\n')
    expect(JSON.stringify(record)).toBe('{"sol":"1234567.5"}')
  })

  it('that are printed are accepted by flags, unless the comma could be a decimal point', () => {
    const read = (text: string) => rawUnits(text, 6, '--amount')
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (raw) => {
        const text = groupedDecimalOf(raw, 6)
        if (/^\d+,\d{3}$/.test(text)) expect(() => read(text)).toThrow('can mean')
        else expect(read(text)).toBe(raw)
      }),
    )
    expect(() => read('1,500')).toThrow('--amount: "1,500" can mean 1500 or 1.500; type one of these')
    for (const text of ['1,5', '1,50,000', '01,500.5', ',500', '1.5,000'])
      expect(() => read(text)).toThrow('must be an amount like 1.5')
  })
})
