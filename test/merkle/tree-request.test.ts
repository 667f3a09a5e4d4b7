/** The body of POST /v2/merkle-trees: strict JSON, exact numbers, a path for every fault. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTreeRequest } from '../../src/merkle/built-tree.ts'
import { type EntryList, entryAt } from '../../src/merkle/entry-list.ts'
import { issueLine, MerkleInputError } from '../../src/merkle/errors.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { runs } from '../support/runs.ts'
import { anyRecipients, naiveRoot, walletOf } from './reference.ts'

const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]
const MINT = walletOf(99)

const read = (body: string | Uint8Array) => readTreeRequest(typeof body === 'string' ? Buffer.from(body) : body)

const entriesOf = (body: string) => {
  const { list } = read(body)
  return Array.from({ length: list.count }, (_, i) => amountOf(list, i))
}

/** An entry of a list without locked amounts. */
function amountOf(list: EntryList, index: number) {
  const { locked, ...entry } = entryAt(list, index)
  expect(locked).toBe(0n)
  return entry
}

function linesOf(body: string, mayPass = false): string[] {
  try {
    read(body)
    if (mayPass) return []
  } catch (error) {
    if (error instanceof MerkleInputError) return error.issues.map(issueLine)
    throw error
  }
  throw new Error('the body was read')
}

/** A body around amounts as they are to stand in the text. */
const bodyOf = (amount: string, decimals?: number) =>
  `{${decimals === undefined ? '' : `"decimals":${decimals},`}"entries":[{"wallet":"${A}","amount":${amount}}]}`

describe('a tree request', () => {
  it('gives the entries packed and the other fields as sent', () => {
    const fields = {
      mint: MINT,
      airdrop_count: 7,
      decimals: 6,
      persist: false,
      duplicates: 'sum',
      replace: true,
      mode: 'unsigned',
      externalUid: 'a:b',
      metadata: { team: 'x', quote: '"]},{\\', ключ: '値' },
    }
    const entries = [
      { wallet: A, amount: '12' },
      { wallet: B, amount: 1.5 },
      { wallet: A, amount: 1 },
    ]
    const request = read(JSON.stringify({ ...fields, entries }, null, 2))
    expect(request.fields).toEqual(fields)
    expect(request.merged).toBe(1)
    expect(amountOf(request.list, 0)).toEqual({ wallet: A, amount: 1_000_012n })
    expect(amountOf(request.list, 1)).toEqual({ wallet: B, amount: 1_500_000n })
  })

  it('accepts the fields in any order, with decimals behind the entries too', () => {
    const body = `{"entries":[{"amount":0.5,"wallet":"${A}"}],"decimals":1}`
    expect(entriesOf(body)).toEqual([{ wallet: A, amount: 5n }])
  })

  it('gives the root of its list', () => {
    fc.assert(
      fc.property(anyRecipients(30), fc.constantFrom(undefined, 1, '\t'), (recipients, indent) => {
        const entries = recipients.map(({ wallet, amount }) => ({ wallet, amount: String(amount) }))
        const { list } = read(JSON.stringify({ mint: MINT, entries }, null, indent))
        expect(toHex(buildTree(list).root)).toBe(naiveRoot(recipients))
      }),
    )
  })

  it('reads escaped text', () => {
    const escaped = (text: string) =>
      [...text].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
    const entry = `{"${escaped('wallet')}":"${escaped(A)}","am\\u006funt":"1\\u0032"}`
    expect(entriesOf(`\ufeff {"entri\\u0065s":[${entry}]}\r\n`)).toEqual([{ wallet: A, amount: 12n }])
  })

  it.each([
    ['1', undefined, 1n],
    ['0', undefined, 0n],
    ['1.0', undefined, 1n],
    ['1e3', undefined, 1000n],
    ['1500e-2', undefined, 15n],
    ['9007199254740991', undefined, 9007199254740991n],
    ['1', 6, 1_000_000n],
    ['0.1', 1, 1n],
    ['0.3', 18, 300000000000000000n],
    ['1.005', 3, 1005n],
    ['4.35', 2, 435n],
    ['1e-7', 7, 1n],
    ['1.5E+2', 0, 150n],
    ['2.50', 1, 25n],
    ['9007199254740993', 0, 9007199254740993n],
    ['0.123456789012345678', 18, 123456789012345678n],
    ['18446744073709.551615', 6, 18446744073709551615n],
    ['18446744073709551615e-18', 18, 18446744073709551615n],
    ['0e99999999999', 6, 0n],
    ['0.000000000000000000000000', 6, 0n],
    ['"18446744073709551615"', 6, 18446744073709551615n],
    ['"0007"', 6, 7n],
  ])('reads amount %s with %s decimals as exactly %s', (amount, decimals, units) => {
    expect(entriesOf(bodyOf(amount, decimals))).toEqual([{ wallet: A, amount: units }])
  })

  it.each([
    ['0.0000001', 6, /more fractional digits than the token's 6 decimals/],
    ['1.0000000000000001', 6, /more fractional digits/],
    ['1e-7', 6, /more fractional digits/],
    ['1e-99999999999', 18, /more fractional digits/],
    ['0.30000000000000004', 2, /more fractional digits/],
    ['1.5', undefined, /not an integer; send decimals/],
    ['1e-1', undefined, /not an integer/],
    ['9007199254740992', undefined, /past 2\^53 - 1; send it as a digit string/],
    ['9007199254740993', undefined, /past 2\^53 - 1/],
    ['1e400', undefined, /past 2\^53 - 1/],
    ['1e400', 6, /more than a token account holds/],
    ['1e99999999999999999999', 6, /more than a token account holds/],
    ['18446744073709551616', 0, /more than a token account holds/],
    ['18446744073709.551616', 6, /more than a token account holds/],
    ['-1', 6, /negative/],
    ['-0.5', undefined, /negative/],
    ['"1.5"', 6, /a string holds base units, digits only/],
    ['"-1"', undefined, /digits only/],
    ['"1e3"', undefined, /digits only/],
    ['" 1"', undefined, /digits only/],
    ['""', undefined, /digits only/],
    ['"18446744073709551616"', undefined, /more than a token account holds/],
    ['null', undefined, /must be a digit string of base units, or a number/],
    ['true', 6, /must be a digit string/],
    ['{"a":[1]}', 6, /must be a digit string/],
  ])('refuses amount %s with %s decimals', (amount, decimals, what) => {
    const lines = linesOf(bodyOf(amount, decimals))
    expect(lines).toEqual([expect.stringMatching(what)])
    expect(lines[0]).toMatch(/^entries\.0\.amount: /)
  })

  it('refuses a number of a million digits in one pass', () => {
    // Backtracking over the zeros took minutes, which is more than a test may take.
    const zeros = '0'.repeat(1_000_000)
    expect(linesOf(bodyOf(`1${zeros}1`))).toEqual([expect.stringMatching(/past 2\^53 - 1/)])
    expect(linesOf(bodyOf(`1.${zeros}1`, 6))).toEqual([expect.stringMatching(/more fractional digits/)])
    expect(entriesOf(bodyOf(`1.${zeros}`, 6))).toEqual([{ wallet: A, amount: 1_000_000n }])
  })

  it('scales any number of JSON.stringify by its decimal text', { tags: 'sampled' }, () => {
    const anyNumber = fc.double({ min: 0, max: 1e12, noNaN: true }).filter((value) => !Object.is(value, -0))
    fc.assert(
      fc.property(anyNumber, fc.nat(18), (value, decimals) => {
        const [mantissa = '', exponent = '0'] = JSON.stringify(value).split('e')
        const [whole = '', fraction = ''] = mantissa.split('.')
        const shift = Number(exponent) - fraction.length + decimals
        const digits = BigInt(whole + fraction)
        const divisor = shift < 0 ? 10n ** BigInt(-shift) : 1n
        const units = shift < 0 ? digits / divisor : digits * 10n ** BigInt(shift)
        const body = bodyOf(JSON.stringify(value), decimals)
        if (digits % divisor !== 0n) expect(linesOf(body)[0]).toContain('more fractional digits')
        else if (units >= 2n ** 64n) expect(linesOf(body)[0]).toContain('more than a token account holds')
        else expect(entriesOf(body)).toEqual([{ wallet: A, amount: units }])
      }),
      { numRuns: runs(200, 1_000) },
    )
  })

  it('names every fault by its path', () => {
    const entries = [
      { wallet: A, amount: '1' },
      { wallet: 'nope', amount: '-1' },
      { wallet: 5, amount: '1' },
      { amount: '1' },
      { wallet: B },
      'x',
      null,
      { wallet: C, amount: '1', locked: 5, 'a.b"': 1 },
      { wallet: A, amount: '1' },
    ]
    const lines = linesOf(JSON.stringify({ mint: MINT, split: [], decimals: 19, entries, duplicates: 'maybe' }))
    expect(lines.map((line) => line.slice(0, line.indexOf(':'))).toSorted()).toEqual(
      [
        'split',
        'decimals',
        'duplicates',
        'entries.1.wallet',
        'entries.2.wallet',
        'entries.3.wallet',
        'entries.4.amount',
        'entries.5',
        'entries.6',
        'entries.7.locked',
        'entries.7.a.b\\"',
      ].toSorted(),
    )
  })

  it('names a bad wallet and its bad amount together', () => {
    const lines = linesOf(JSON.stringify({ entries: [{ wallet: 'nope', amount: '-1' }] }))
    expect(lines).toEqual([
      expect.stringMatching(/^entries\.0\.wallet: "nope" is no/),
      expect.stringMatching(/^entries\.0\.amount: "-1" is not a digit string/),
    ])
  })

  it('refuses a repeated wallet, naming both places, and sums it if asked to', () => {
    const entries = [A, B, A].map((wallet, i) => ({ wallet, amount: String(2 ** i) }))
    expect(linesOf(JSON.stringify({ entries }))).toEqual([
      `entries.2.wallet: ${A} is listed twice, first at entries.0; remove one or send duplicates: "sum"`,
    ])
    expect(entriesOf(JSON.stringify({ entries, duplicates: 'sum' }))).toEqual([
      { wallet: A, amount: 5n },
      { wallet: B, amount: 2n },
    ])
    const full = { wallet: A, amount: '18446744073709551615' }
    expect(linesOf(JSON.stringify({ entries: [full, full], duplicates: 'sum' }))[0]).toMatch(
      /^entries\.1\.amount: .*u64/,
    )
  })

  it.each([
    ['{}', 'entries: is required, an array of 1 to 50000 entries'],
    ['{"entries":[]}', 'entries: must hold 1 to 50000 entries, has 0'],
    ['{"entries":{}}', 'entries: must be an array'],
    ['{"entries":null}', 'entries: must be an array'],
    ['[]', 'the body must be a JSON object'],
    ['"entries"', 'the body must be a JSON object'],
    ['{"mint":1,"mint":2,"entries":[]}', 'mint: is sent twice'],
    ['{"entries":[],"entries":[{}]}', 'entries: is sent twice'],
    ['{"__proto__":{"persist":false},"entries":[]}', '__proto__: is not a field of this request'],
    [`{"entries":[{"wallet":"${A}","amount":"1","amount":"2"}]}`, 'entries.0.amount: is sent twice'],
    [`{"entries":[{"wallet":"${A}","wallet":"${B}","amount":"2"}]}`, 'entries.0.wallet: is sent twice'],
    [`{"decimals":1.5,"entries":[{"wallet":"${A}","amount":"2"}]}`, 'decimals: must be an integer from 0 to 18'],
  ])('refuses %s', (body, line) => {
    expect(linesOf(body)).toContain(line)
  })

  it('names faults behind thousands of entries that are shorter than any with a wallet', () => {
    const short = Array.from({ length: 4000 }, (_, i) => (i % 2 === 0 ? '{}' : '1'))
    const last = `{"amount":"-1","wallet":"${A}"},{"wallet":"${'1'.repeat(32)}","amount":"2"},{"wallet":"${A}","amount":7}`
    try {
      read(`{"entries":[${short},${last}]}`)
      throw new Error('the body was read')
    } catch (error) {
      if (!(error instanceof MerkleInputError)) throw error
      expect(error.issueCount).toBe(2 * 2000 + 2000 + 2)
    }
    const wallet = `{"wallet":"${A}"}`
    expect(linesOf(`{"entries":[${wallet},{},{},{},{},{},{"wallet":"${A}","amount":"-1"}]}`)).toEqual(
      expect.arrayContaining([
        'entries.0.amount: is required',
        'entries.5.wallet: is required',
        expect.stringMatching(/^entries\.6\.amount: "-1" is not a digit string/),
        expect.stringMatching(/^entries\.6\.wallet: .* is listed twice, first at entries\.0/),
      ]),
    )
  })

  it('accepts lists of the shortest possible entries', () => {
    const shortest = `{"amount":1,"wallet":"${'1'.repeat(32)}"}`
    expect(entriesOf(`{"entries":[${shortest}]}`)).toEqual([{ wallet: '1'.repeat(32), amount: 1n }])
    const many = `{"duplicates":"sum","entries":[${Array(3000).fill(shortest)}]}`
    expect(entriesOf(many)).toEqual([{ wallet: '1'.repeat(32), amount: 3000n }])
  })

  it('counts every fault and keeps the first hundred', () => {
    const entries = Array.from({ length: 1000 }, () => ({ wallet: '', amount: '' }))
    try {
      read(JSON.stringify({ entries }))
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(MerkleInputError)
      expect((error as MerkleInputError).issues).toHaveLength(100)
      expect((error as MerkleInputError).issueCount).toBe(2000)
    }
  })

  it('never repeats a text as long as a secret key', () => {
    const secret = '4'.repeat(88)
    expect(linesOf(JSON.stringify({ entries: [{ wallet: secret, amount: '1' }] }))[0]).not.toContain('44444')
  })
})

describe('malformed JSON', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const refusedAsMalformed = (text: string) => {
    try {
      read(text)
      return false
    } catch (error) {
      if (!(error instanceof MerkleInputError)) throw error
      return error.issues.some(({ position, message }) => position === '' && message.startsWith('malformed JSON'))
    }
  }

  it('is reported with line and byte', () => {
    expect(linesOf('{\n  "entries": [}')).toEqual(['malformed JSON at line 2, byte 15: expected a value, found "}"'])
    expect(linesOf('{"entries":[{"wallet"')[0]).toContain("expected ':', found the end of the text")
  })

  it.each([
    '',
    ' ',
    '{',
    '{]',
    '{"entries":[}',
    '{"entries":[,]}',
    '{"entries":[{},]}',
    '{"entries":[]} x',
    '{"entries":[],}',
    "{'entries':[]}",
    '{entries:[]}',
    '{"entries":[1 2]}',
    '{"entries":[01]}',
    '{"entries":[+1]}',
    '{"entries":[.5]}',
    '{"entries":[1.]}',
    '{"entries":[1e]}',
    '{"entries":[-]}',
    '{"entries":[NaN]}',
    '{"entries":[tru]}',
    '{"entries":["\\x"]}',
    '{"entries":["\\u12g4"]}',
    '{"entries":["\n"]}',
    '{"entries":["a]}',
    '{"entries":[{"wallet":"a" "amount":1}]}',
    '{"entries":[{"wallet" "a"}]}',
    '{"entries":[] /* no */}',
    '{"mint":{"a":[1,{]}},"entries":[]}',
    '{"a":1}{"a":1}',
  ])('is refused: %j', (text) => {
    expect(isJson(text)).toBe(false)
    expect(refusedAsMalformed(text)).toBe(true)
  })

  it('is exactly what JSON.parse refuses, for a body with one character lost, doubled or changed', {
    tags: 'sampled',
  }, () => {
    const body = JSON.stringify({
      mint: MINT,
      metadata: { a: 'b\\"\u00e9\n', c: [true, false, null, -1.5e-3, {}] },
      entries: [
        { wallet: A, amount: '1' },
        { wallet: B, amount: 2.5 },
      ],
      decimals: 6,
    })
    const change = fc.record({
      at: fc.nat(body.length - 1),
      cut: fc.nat(2),
      put: fc.constantFrom(
        '',
        '"',
        '\\',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '0',
        '-',
        '.',
        'e',
        ' ',
        '\n',
        '\t',
        't',
        '\u0001',
      ),
    })
    fc.assert(
      fc.property(change, ({ at, cut, put }) => {
        const text = body.slice(0, at) + put + body.slice(at + cut)
        expect(refusedAsMalformed(text)).toBe(!isJson(text))
      }),
      { numRuns: runs(200, 5000) },
    )
  })

  it('is exactly what JSON.parse refuses, for any value in a field', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(40), (value, cut) => {
        const text = `{"metadata":${cut < 20 ? value : value.slice(0, -(cut - 20))},"entries":[{"wallet":"${A}","amount":"1"}]}`
        expect(refusedAsMalformed(text)).toBe(!isJson(text))
        if (isJson(text)) expect(read(text).fields.metadata).toEqual(JSON.parse(text).metadata)
      }),
      { numRuns: runs(200, 1_000) },
    )
  })

  it('nested a million deep is refused without running out of stack', () => {
    const deep = '['.repeat(1_000_000)
    expect(refusedAsMalformed(`{"metadata":${deep},"entries":[]}`)).toBe(true)
    expect(refusedAsMalformed(`{"entries":[${deep}${']'.repeat(1_000_000)}]}`)).toBe(true)
    const nested = (depth: number) => linesOf(`{"metadata":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    expect(nested(31)).toEqual(['entries: is required, an array of 1 to 50000 entries'])
    expect(nested(32)[0]).toContain('nested deeper than 32 levels')
  })
})

describe('the fields beside the entries', () => {
  const rest = 'the body holds more than 256 KiB or 10000 fields besides its entries: send less'
  const list = `"entries":[{"wallet":"${A}","amount":1}]`

  it('are refused above their limit of bytes or fields, before they are parsed, on either side of the entries', () => {
    const wide = `"metadata":{${Array.from({ length: 10_001 }, (_, n) => `"${n}":""`).join()}}`
    const long = `"metadata":{"a":"${'x'.repeat(256 * 1024)}"}`
    const unknown = Array.from({ length: 10_001 }, (_, n) => `"x${n}":0`).join()
    const name = `"${'x'.repeat(256 * 1024)}":0`
    const scattered = `"entries":[${Array.from({ length: 10_001 }, () => 0).join()}]`
    for (const part of [wide, long, unknown, name]) {
      expect(linesOf(`{${part},${list}}`)).toEqual([rest])
      expect(linesOf(`{${list},${part}}`)).toEqual([rest])
    }
    expect(linesOf(`{${list},${scattered}}`)).toEqual([rest])
    expect(linesOf(`{${list},"metadata":{"a":"${'x'.repeat(200_000)}"}}`, true)).toEqual([])
  })
})
