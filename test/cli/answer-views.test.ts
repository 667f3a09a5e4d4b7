import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  compareKeys,
  filledTemplate,
  openView,
  orderKey,
  templateOf,
  type ViewOptions,
} from '../../commands/ui/answer-view.ts'
import { openJq } from '../../commands/ui/jq.ts'
import { PLAIN } from '../../commands/ui/paint.ts'
import { render } from '../../commands/ui/render.ts'
import { sparkline } from '../../commands/ui/sparkline.ts'
import { runs } from '../support/runs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const POOLS = [
  { name: 'ten', amount: '10', fees: { sol: '0.5' }, tags: ['a'], at: '2026-01-02T00:00:00Z' },
  {
    name: 'huge',
    amount: '18446744073709551616',
    fees: { sol: '0.25' },
    tags: ['a', 'b'],
    at: '2026-01-01T00:00:00.5Z',
  },
  { name: 'nine', amount: '9', fees: null, tags: [], at: '2026-01-01T00:00:00Z' },
  { name: 'less', amount: '18446744073709551615', fees: { sol: '-1' }, tags: ['b'], at: null },
]
const outcome = {
  data: POOLS,
  rows: { columns: ['name', 'amount'], rows: POOLS.map(({ name, amount }) => [name, amount]) },
  table: { columns: ['name', 'in_tokens'], rows: POOLS.map(({ name, amount }) => [name, `${amount} T`]) },
}
const shapedBy = async (options: ViewOptions) => (await openView(options)).shaped(outcome)
const names = async (options: ViewOptions) => ((await shapedBy(options)).data as typeof POOLS).map(({ name }) => name)
const json = fc.oneof(
  fc.jsonValue(),
  fc.bigInt().map(String),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
)

describe('--sort', () => {
  it('compares numbers of any length, times and text, with empty values last in both directions', async () => {
    expect(await names({ sort: 'amount' })).toEqual(['nine', 'ten', 'less', 'huge'])
    expect(await names({ sort: '-amount' })).toEqual(['huge', 'less', 'ten', 'nine'])
    expect(await names({ sort: 'fees.sol' })).toEqual(['less', 'huge', 'ten', 'nine'])
    expect(await names({ sort: '-at' })).toEqual(['ten', 'huge', 'nine', 'less'])
  })

  it('has a total order for any values', () => {
    const triple = fc.tuple(json, json, json)
    fc.assert(
      fc.property(triple, (values) => {
        const [a, b, c] = values.map(orderKey) as [ReturnType<typeof orderKey>, never, never]
        expect(Math.sign(compareKeys(a, b))).toBe(-Math.sign(compareKeys(b, a)) + 0)
        if (compareKeys(a, b) <= 0 && compareKeys(b, c) <= 0) expect(compareKeys(a, c)).toBeLessThanOrEqual(0)
      }),
      { numRuns: 500 },
    )
  })

  it('leaves equal records in their order, in both directions', async () => {
    const records = fc.array(fc.record({ key: fc.integer({ min: 0, max: 3 }) }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(records, fc.constantFrom('key', '-key'), async (given, sort) => {
        const data = given.map(({ key }, place) => ({ key, place }))
        const sorted = (await openView({ sort })).shaped({ data }).data as typeof data
        for (const [i, { key, place }] of sorted.entries()) {
          const next = sorted[i + 1]
          if (next === undefined) continue
          if (next.key === key) expect(next.place).toBeGreaterThan(place)
          else expect(next.key > key).toBe(sort === 'key')
        }
        expect(sorted.length).toBe(data.length)
      }),
    )
  })
})

describe('--filter', () => {
  it('keeps records that meet every condition', async () => {
    expect(await names({ filter: ['amount>9'] })).toEqual(['ten', 'huge', 'less'])
    expect(await names({ filter: ['amount>9', 'amount<=18446744073709551615'] })).toEqual(['ten', 'less'])
    expect(await names({ filter: ['name!=ten', 'name~E'] })).toEqual(
      ['huge', 'nine', 'less'].filter((n) => /e/.test(n)),
    )
    expect(await names({ filter: ['tags=b'] })).toEqual(['huge', 'less'])
    expect(await names({ filter: ['fees='] })).toEqual(['nine'])
    expect(await names({ filter: ['fees.sol=0.50'] })).toEqual(['ten'])
    expect(await names({ filter: ['at>2026-01-01'] })).toEqual(['ten', 'huge'])
    expect(await names({ filter: ['name>5'] })).toEqual([])
    const data = [{ value: { toString: null, a: 'x' } }]
    for (const filter of ['value!=x', 'value~"a"', 'value={"toString":null,"a":"x"}']) {
      expect((await openView({ filter: [filter] })).shaped({ data }).data, filter).toEqual(data)
    }
  })

  it('and its opposite together keep everything', async () => {
    const records = fc.array(fc.record({ value: json }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(records, fc.string(), async (data, wanted) => {
        const of = async (condition: string) =>
          (await openView({ filter: [`value${condition}${wanted}`] })).shaped({ data }).data as unknown[]
        const [kept, others] = [await of('='), await of('!=')]
        expect(kept.length + others.length).toBe(data.length)
        expect(data.filter((record) => kept.includes(record))).toEqual(kept)
      }),
    )
  })

  it('filters the rows of the table like the data, and says that only one page was filtered', async () => {
    const shaped = (await openView({ filter: ['amount>9'], sort: 'name' })).shaped({ ...outcome, hasMore: true })
    expect(shaped.table?.rows.map(([name]) => name)).toEqual(['huge', 'less', 'ten'])
    expect(shaped.rows?.rows.map(([name]) => name)).toEqual(['huge', 'less', 'ten'])
    expect(shaped.notes).toEqual(['Only this page of 4 was filtered; --all reads every page first.'])
    expect((await shapedBy({ filter: ['name=none'] })).notes).toEqual(['None of 4 matches --filter.'])
  })

  it('names a condition that it cannot read, and the existing fields', async () => {
    await expect(openView({ filter: ['name'] })).rejects.toThrow('--filter takes FIELD=VALUE, not name')
    const [absent] = await Promise.allSettled([shapedBy({ filter: ['nme=1'] })])
    expect(absent).toMatchObject({ reason: { next: expect.stringContaining('fees.sol') } })
    await expect(shapedBy({ sort: '__proto__' })).rejects.toThrow('there is no field __proto__')
    await expect(shapedBy({ sort: 'constructor.name' })).rejects.toThrow('there is no field')
    const view = await openView({ sort: 'a' })
    expect(() => view.shaped({ data: { a: 1 } })).toThrow('--sort is for lists')
  })
})

describe('--columns', () => {
  it('shows fields, nested fields and columns of the table, in every format', async () => {
    const shaped = await shapedBy({ columns: 'in_tokens,FEES.SOL,name' })
    const look = { paint: PLAIN, width: 80 }
    expect((shaped.data as unknown[])[0]).toEqual({ in_tokens: '10 T', 'fees.sol': '0.5', name: 'ten' })
    expect((await render(shaped, 'plain', look)).split('\n')[2]).toBe('9 T\t\tnine')
    expect(await render(shaped, 'table', look)).toContain('FEES.SOL')
    await expect(shapedBy({ columns: 'nmae' })).rejects.toThrow('--columns: there is no field nmae')
    await expect(openView({ columns: 'a,,b' })).rejects.toThrow('--columns takes names')
  })

  it('picks the fields of one record', async () => {
    const view = await openView({ columns: 'a.b' })
    expect(view.shaped({ data: { a: { b: 1 }, c: 2 }, text: 'drawn' })).toEqual({ data: { 'a.b': 1 } })
  })
})

describe('--template', () => {
  it('fills in fields, braces and line breaks, and no property of a JavaScript object', () => {
    const filled = (template: string, record: unknown) => filledTemplate(templateOf(template), record)
    expect(filled('{name}\\t{fees.sol}{{x}}\\\\', POOLS[0])).toBe('ten\t0.5{x}\\')
    expect(filled('{tags}|{none}|{}', { tags: ['a'] })).toBe('["a"]||{"tags":["a"]}')
    expect(filled('{constructor}{__proto__}{toString.name}{tags.length}', POOLS[0])).toBe('')
    expect(() => templateOf('a{b')).toThrow('the { at character 2')
    expect(() => templateOf('a}b')).toThrow('the } at character 2')
  })

  it('prints no control character on a terminal, and the exact text elsewhere', async () => {
    const data = [{ name: '\u001b[31mred' }]
    const view = await openView({ template: '{name}' })
    expect(await view.text(data, true)).toBe('\\u001b[31mred\n')
    expect(await view.text(data, false)).toBe('\u001b[31mred\n')
  })
})

describe('--jq', () => {
  let view: Awaited<ReturnType<typeof openView>>
  beforeAll(async () => {
    view = await openView({ jq: '.[] | .name, .amount, {s: .sol}' })
  })
  afterAll(() => view.close())

  it('prints text without quotes and everything else as JSON, with every digit', async () => {
    expect(await view.text([{ name: 'a', amount: '18446744073709551616', sol: 1 }], false)).toBe(
      'a\n18446744073709551616\n{"s":1}\n',
    )
    expect(await view.text([{ name: '\u001b]0;x\u0007', amount: null }], true)).toBe(
      '\\u001b]0;x\\u0007\nnull\n{\n  "s": null\n}\n',
    )
  })

  it('shows the place of a syntax error before any request', async () => {
    const { exitCode, stderr, stdout } = await cli.svc(['keys', 'create', '--name', 'never', '--jq', '.id, .['])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('syntax error')
    expect(stderr).toContain('line 1, column 7')
    expect((await cli.svc(['keys', 'list', '--filter', 'name=never', '--json'])).stdout).toBe('[]\n')
  })

  it('reads neither the environment nor files, and takes no options', async () => {
    for (const [expression, printed] of [
      ['env.PATH, $ENV.SVC_DATA_DIR', ['"/"', 'null']],
      ['-1', ['-1']],
      ['--version', undefined],
      ['import "/etc/x" as x; .', undefined],
      ['input', undefined],
    ] as const) {
      const run = openJq(expression).then((jq) => jq.run(null).finally(() => jq.close()))
      if (printed === undefined) await expect(run, expression).rejects.toThrow('--jq: ')
      else expect(await run, expression).toEqual(printed)
    }
  })

  it('stops an expression that never ends', { tags: 'sampled' }, async () => {
    for (const expression of ['repeat(.)', 'last(range(1e12))', 'def f: 1 + f; f'].slice(0, runs(1, 3))) {
      const run = openJq(expression, 500).then((jq) => jq.run(null).finally(() => jq.close()))
      await expect(run, expression).rejects.toThrow(/--jq: /)
    }
  })
})

describe('A command with answer options', () => {
  it('applies them to table, plain and JSON', async () => {
    const all = ['config', 'list', '--filter', 'name~output', '--columns', 'name,origin']
    expect((await cli.svc(all)).stdout).toMatch(/^NAME +ORIGIN\n/)
    expect((await cli.svc([...all, '-o', 'plain'])).stdout).toContain('output\tflag\n')
    const { stdout } = await cli.svc([...all, '--json', '--filter=origin=flag'])
    expect(JSON.parse(stdout)).toContainEqual({ name: 'output', origin: 'flag' })
    expect((await cli.svc(['config', 'list', '--jq', 'map(.name) | index("output") > 0'])).stdout).toBe('true\n')
    expect((await cli.svc(['--template', '{name}', 'config', 'list', '--sort=-name'])).stdout).toContain('\noutput\n')
  })

  it('print the answer of a change on stderr if they do not fit it, and say that it was made', async () => {
    for (const [options, exit, message] of [
      [['--columns', 'nope'], 2, 'there is no field nope'],
      [['--jq', '.name.first'], 1, '--jq: Cannot index string'],
    ] as const) {
      const create = ['keys', 'create', '--name', 'once', ...options]
      const { exitCode, stdout, stderr } = await cli.svc([...create, '-o', 'table'])
      expect([exitCode, stdout]).toEqual([exit, ''])
      expect(stderr).toMatch(/^KEY +svc_\w+$/m)
      expect(stderr).toContain(message)
      expect(stderr).toContain('the command itself has run')
      expect(stderr).toContain('next: do not run it again: its whole answer is above')
      const document = await cli.svc([...create, '--json'])
      expect([document.exitCode, document.stdout]).toEqual([exit, ''])
      const { error } = JSON.parse(document.stderr)
      expect(error.details.answer).toMatchObject({ name: 'once', key: expect.stringMatching(/^svc_/) })
    }
  })

  it('refuses options that exclude each other, and any on a stream', async () => {
    await cli.refused(['config', 'list', '--jq', '.', '--template', 'x'], 'give either --jq or --template')
    await cli.refused(['events', 'watch', '--jq', '.'], 'this command prints a stream')
  })
})

describe('A sparkline', () => {
  it('has a block for each value, from the smallest to the largest', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█')
    expect(sparkline([0, 1, 1_000])).toBe('▁▂█')
    expect(sparkline([0, 0])).toBe('▁▁')
    expect(sparkline([5, 5])).toBe('██')
    expect(sparkline([-1, Number.NaN, 1])).toBe('▁ █')
    expect(sparkline([])).toBe('')
  })
})
