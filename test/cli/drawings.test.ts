/** Drawings as text and as pictures: within their frame, exact in their labels, and safe with the texts of strangers. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claimDrawing } from '../../commands/airdrops/figures.ts'
import { historyDrawing } from '../../commands/fees/index.ts'
import { curveDrawing } from '../../commands/pools/record.ts'
import { cutToWidth, textWidth } from '../../commands/ui/columns.ts'
import { type Drawing, drawingLines, drawingSvg } from '../../commands/ui/drawing.ts'
import { PLAIN } from '../../commands/ui/paint.ts'
import { render } from '../../commands/ui/render.ts'
import { timeSpans } from '../../commands/ui/time-spans.ts'
import { deliveriesDrawing } from '../../commands/webhooks/index.ts'

const DAY = 86_400_000
const START = Date.UTC(2026, 10, 1)
const share = fc.integer({ min: 0, max: 1_000 }).map((part) => part / 1_000)
const label = fc.string({ maxLength: 12 }).map((text) => text.replace(/[^ -~]/g, '?'))
const labels = fc.record({ title: label, highest: label, lowest: label, first: label, last: label })
const line = fc
  .record({ labels, points: fc.array(fc.record({ x: share, y: share }), { minLength: 1, maxLength: 50 }) })
  .map(({ labels, points }): Drawing => ({ kind: 'line', labels, points: points.toSorted((a, b) => a.x - b.x) }))
const bars = fc
  .record({ labels, bars: fc.array(fc.array(share, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 30 }) })
  .map(({ labels, bars }): Drawing => {
    const most = Math.max(0.001, ...bars.map((parts) => parts.reduce((sum, part) => sum + part, 0)))
    return { kind: 'bars', labels, names: ['one', 'two'], bars: bars.map((parts) => parts.map((part) => part / most)) }
  })

/** Whether every element of the picture is closed in its order. Its texts hold no markup, or this would fail. */
function isWellFormed(svg: string): boolean {
  const open: string[] = []
  for (const [, closing, name, own] of svg.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (closing === '/' && open.pop() !== name) return false
    if (closing === '' && own === '') open.push(name!)
  }
  const rest = svg.replace(/<\/?[a-z]+(?:\s[^<>]*?)?\/?>/g, '')
  return open.length === 0 && !/[<>]|&(?!(?:amp|lt|gt|quot|apos);)/.test(rest)
}

describe('A drawing', () => {
  it('never exceeds its width, in blocks and in ASCII', () => {
    fc.assert(
      fc.property(fc.oneof(line, bars), fc.integer({ min: 60, max: 200 }), fc.boolean(), (drawing, width, blocks) => {
        for (const text of drawingLines(drawing, width, blocks)) {
          expect(textWidth(text)).toBeLessThanOrEqual(width)
          if (!blocks) expect(text).toMatch(/^[ -~]*$/)
        }
      }),
    )
  })

  it('is well-formed SVG with every point in its frame', () => {
    fc.assert(
      fc.property(fc.oneof(line, bars), (drawing) => {
        const svg = drawingSvg(drawing)
        expect(isWellFormed(svg)).toBe(true)
        for (const [, x, y] of svg.matchAll(/(?:cx|x)="([\d.-]+)" (?:cy|y)="([\d.-]+)"/g)) {
          expect(Number(x)).toBeGreaterThanOrEqual(0)
          expect(Number(x)).toBeLessThanOrEqual(800)
          expect(Number(y)).toBeGreaterThanOrEqual(0)
          expect(Number(y)).toBeLessThanOrEqual(400)
        }
        expect(svg).not.toMatch(/NaN|Infinity|undefined/)
      }),
    )
  })

  it('escapes any text', () => {
    const hostile = '</text><script>alert(1)</script>&x;"\u0000\u202e\ud800'
    const labels = { title: hostile, highest: hostile, lowest: hostile, first: hostile, last: hostile }
    const points = [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ]
    const svg = drawingSvg({ kind: 'line', labels, points, mark: { x: 0.5, y: 0.5, text: hostile } })
    expect(isWellFormed(svg)).toBe(true)
    expect(svg).not.toMatch(/<script|\u0000|\u202e/)
  })

  it('is printed last on a terminal, and in no other format', async () => {
    const outcome = { data: { name: 'x' }, drawing: ['drawn \u001b[31mred', 'again'] }
    const look = { paint: PLAIN, width: 80 }
    const shown = await render(outcome, 'table', look)
    expect(shown.endsWith('again\n')).toBe(true)
    expect(shown).not.toContain('\u001b')
    for (const form of ['json', 'plain'] as const) expect(await render(outcome, form, look)).not.toContain('drawn')
  })
})

describe('The time spans of a drawing', () => {
  it('are at most thirty, cover every moment, and are counted from the first to the last', () => {
    const moment = fc.integer({ min: 0, max: Date.UTC(2_100, 0) })
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 40 }), (moments) => {
        const spans = timeSpans(moments)!
        expect(spans.count).toBeLessThanOrEqual(30)
        const places = moments.map((at) => spans.placeOf(at))
        expect(Math.max(...places)).toBeLessThan(spans.count)
        if (spans.name !== '365 days') {
          expect([Math.min(...places), Math.max(...places)]).toEqual([0, spans.count - 1])
          const sorted = moments.toSorted((a, b) => a - b).map((at) => spans.placeOf(at))
          expect(sorted).toEqual(sorted.toSorted((a, b) => a - b))
        }
      }),
    )
    expect(timeSpans([])).toBeNull()
    expect(timeSpans([START, START + 3 * 3_600_000])).toMatchObject({
      name: 'hour',
      count: 4,
      first: '2026-11-01 00:00',
    })
    expect(timeSpans([START, START + 20 * DAY])).toMatchObject({ name: 'day', count: 21, last: '2026-11-21' })
  })
})

describe('The history of fee claims', () => {
  const claim = (day: number, sol: string | null, beneficiary = 'partner') =>
    ({ occurred_at: new Date(START + day * DAY).toISOString(), sol, beneficiary }) as never

  it('is drawn by day, partner below creator, exact to the lamport', () => {
    const claims = [claim(0, '1500000000'), claim(0, '500000001', 'creator'), claim(4, '1000000000'), claim(9, '0')]
    expect(drawingLines(historyDrawing(claims)!, 60, true)).toEqual([
      'SOL claimed each day (UTC)',
      '2.000000001 ┤▒▒▒',
      '            │▒▒▒',
      '            │███',
      '            │███',
      '            │███             ███',
      '            │███             ███',
      '            │███             ███',
      '          0 ┤███             ███',
      '            └────────────────────────────────────────',
      '             2026-11-01                    2026-11-10',
      '█ partner   ▒ creator',
    ])
  })

  it('counts claims if none paid SOL, and is null without a time', () => {
    expect(historyDrawing([claim(0, null), claim(1, null)])).toMatchObject({
      labels: { title: 'Claims each hour (UTC)', highest: '1' },
    })
    expect(historyDrawing([{ occurred_at: null } as never])).toBeNull()
    expect(historyDrawing([])).toBeNull()
  })
})

describe('The attempts of a webhook', () => {
  const attempt = (hour: number, status: string, duration_ms: number | null = 20) =>
    ({ created_at: new Date(START + hour * 3_600_000).toISOString(), status, duration_ms }) as never

  it('are drawn by hour, failed ones above delivered ones', () => {
    const attempts = [attempt(0, 'succeeded'), attempt(0, 'failed', 900), attempt(2, 'succeeded', 30)]
    expect(deliveriesDrawing(attempts)).toMatchObject({
      names: ['succeeded', 'failed'],
      bars: [
        [0.5, 0.5],
        [0, 0],
        [0.5, 0],
      ],
      labels: { title: 'Attempts each hour (UTC), half of them within 30 ms', highest: '2' },
    })
    expect(drawingLines(deliveriesDrawing(attempts)!, 40, false).at(-1)).toBe('# succeeded   x failed')
    expect(deliveriesDrawing([...attempts, attempt(1, 'pending', null)])).toMatchObject({
      names: ['succeeded', 'failed', 'pending'],
    })
    expect(deliveriesDrawing([])).toBeNull()
  })
})

describe('The drawing of a pool without state and of an airdrop without claims', () => {
  it('is null', () => {
    expect(curveDrawing({ type: 'damm_v2', state: null, symbol: null, status: 'live' })).toBeNull()
    expect(curveDrawing({ type: 'dbc', state: { config: 1 }, symbol: 'x', status: 'live' })).toBeNull()
    expect(claimDrawing({ hours: [] })).toBeNull()
  })
})

describe('A line that is cut', () => {
  it('has whole characters, also wide ones, and fits the columns', () => {
    expect(cutToWidth('日本語', 5)).toBe('日本')
    expect(cutToWidth('a👩‍👩‍👧b', 2)).toBe('a')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        const cut = cutToWidth(text, width)
        expect(text.startsWith(cut)).toBe(true)
        expect(textWidth(cut)).toBeLessThanOrEqual(width)
      }),
    )
  })
})
