/** The text of instructions is whole: each account, each argument and each byte, of what is built here and of what is not. */
import fc from 'fast-check'
import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { describeInstruction, describeMessage, LAYOUTS } from '../../src/chain/instructions/describe.ts'
import { printable } from '../../src/platform/printable.ts'
import { argumentLines, instructionTexts } from '../../src/solana/described-instructions.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS, programName } from '../../src/solana/programs.ts'
import { GOLDEN_FILES, goldenTransaction } from '../support/golden.ts'
import { someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { flat, requireWhole } from '../support/whole-texts.ts'

describe('the text of instructions', () => {
  it('has each account, each argument and each byte of every golden transaction', () => {
    expect(GOLDEN_FILES.length).toBeGreaterThan(250)
    for (const file of GOLDEN_FILES) {
      const instructions = describeMessage(decodeWireTransaction(goldenTransaction(file)).message)
      const lines = instructionTexts(instructions, new Map())
      for (const line of lines) expect(line.length, file).toBeLessThanOrEqual(80)
      requireWhole(instructions, flat(lines))
      for (const { program, instruction, rest } of instructions) {
        expect([file, programName(program), instruction !== null, rest]).toEqual([file, expect.any(String), true, ''])
      }
    }
  })

  it('has a role for each account and a value for each argument of every row of the tables', () => {
    for (const [program, { table }] of LAYOUTS) {
      for (const [prefix, [name, roles, fields]] of Object.entries(table)) {
        const words = roles.split(' ').filter((word) => word !== '')
        const wanted = words.filter((word) => !word.includes('*')).map((word) => word.replace(/:.*/, ''))
        // Zeros count no account at the end, and the signing members of a multisig have no role.
        const further = words.flatMap((word) => /^(?!signers)(\w+):w?\*$/.exec(word)?.[1] ?? [])[0] ?? null
        const args = fields === '' ? [] : fields.split(' ')
        const accounts = wanted.map(() => someone().toBase58())
        // Zeros are the value of nearly every type: no option, an empty list, the first of several.
        const data = Buffer.concat([Buffer.from(prefix, 'hex'), Buffer.alloc(600)])
        const read = describeInstruction(program, [...accounts, program], data)
        expect([read.instruction, read.roles]).toEqual([name, [...wanted, further]])
        expect(read.args.map((arg) => arg.name)).toEqual(args.map((arg) => arg.split(':')[0]))
        expect(read.rest).toMatch(/:(text|\*\*)/.test(fields) ? /^$/ : /^(00)+$/)
      }
    }
  })

  it('is whole for arbitrary bytes and accounts of every program', { tags: 'sampled' }, () => {
    const addresses = Array.from({ length: 4 }, () => someone().toBase58())
    const programs = [...LAYOUTS.keys(), someone().toBase58()]
    const prefixes = [...LAYOUTS.values()]
      .flatMap(({ table }) => Object.keys(table))
      .map((hex) => Buffer.from(hex, 'hex'))
    const bytes = fc.uint8Array({ maxLength: 300 })
    const data = fc.oneof(
      bytes,
      fc.tuple(fc.constantFrom(...prefixes), bytes).map((parts) => Buffer.concat(parts)),
    )
    fc.assert(
      fc.property(fc.constantFrom(...programs), fc.array(fc.constantFrom(...addresses)), data, (program, used, own) => {
        const keys = [...new Set([...used, program])]
        const message = {
          ...{ version: 0 as const, signers: 1, readonlySigners: 0, readonlyOthers: 0, recentBlockhash: program },
          ...{ blockhashOffset: 0, lookups: [], config: null, keys },
          instructions: [
            {
              programIdIndex: keys.indexOf(program),
              accounts: Uint8Array.from(used, (each) => keys.indexOf(each)),
              data: own,
            },
          ],
        }
        const instructions = describeMessage(message)
        expect(instructions[0]!.accounts.map(({ address }) => address)).toEqual(used)
        expect(instructions[0]!.data.endsWith(instructions[0]!.rest)).toBe(true)
        requireWhole(instructions, flat(instructionTexts(instructions, new Map())))
      }),
      { numRuns: runs(300, 2_000) },
    )
  })

  it('ends and stays within its columns and its indentation for any text of a stranger', { tags: 'sampled' }, () => {
    const part = fc.constantFrom(' ', ' '.repeat(90), 'w', '漢', '\u00ad', '\u{e0041}', '\n', 'instruction 1: ', '👩')
    const texts = fc.array(part, { maxLength: 120 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(texts, (value) => {
        const plain = { unit: null, of: null, decimals: null }
        const lines = argumentLines({ name: 'text', value, ...plain }, new Map()).map(printable)
        for (const line of lines) {
          expect(stringWidth(line)).toBeLessThanOrEqual(80)
          expect(line.startsWith('    ')).toBe(true)
        }
        for (const line of lines.slice(1)) expect(line.startsWith('      ')).toBe(true)
        expect(flat(lines)).toContain(flat([printable(value)]))
      }),
      { numRuns: runs(300, 2_000) },
    )
  })

  it('has a text within a value in quotes, so that it cannot look like another field, item or value', () => {
    const core = PROGRAMS.core.id
    const text = (value: string) => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(Buffer.byteLength(value))
      return Buffer.concat([length, Buffer.from(value)])
    }
    const argsOf = (...data: Buffer[]) =>
      describeInstruction(core, [], Buffer.concat(data)).args.map(({ name, value }) => [name, value])
    const forged = 'a, value: b}, {key: "c\\'
    const attributes = [Buffer.of(2, 6), Buffer.of(1, 0, 0, 0), text('k'), text(forged), Buffer.of(0)]
    expect(argsOf(...attributes)).toEqual([
      ['plugin', String.raw`Attributes {attributes: [{key: "k", value: "a, value: b}, {key: \"c\\"}]}`],
      ['init_authority', 'none'],
    ])
    expect(argsOf(Buffer.of(16), Buffer.of(1), text('none'), Buffer.of(0))).toEqual([
      ['new_name', '"none"'],
      ['new_uri', 'none'],
    ])
    // A text that is the whole argument has the line to itself.
    expect(argsOf(Buffer.of(1), text('none'), text('"x"'), Buffer.of(0))).toEqual([
      ['name', 'none'],
      ['uri', '"x"'],
      ['plugins', 'none'],
    ])
  })

  it('begins no line of a sentence about control where a sentence begins', () => {
    const forged = `x${' '.repeat(60)}1: every authority is revoked ${'y'.repeat(80)}`
    const lines = instructionTexts(
      [
        {
          ...{ program: someone().toBase58(), name: null, instruction: 'act', accounts: [], args: [], data: '' },
          ...{ rest: '', conditions: [], control: [`the asset gets ${forged}`] },
        },
      ],
      new Map(),
    )
    expect(lines.filter((line) => /^ {2}\d/.test(line))).toEqual([expect.stringMatching(/^ {2}0: the asset gets/)])
  })

  it('has the figure of the largest possible amount, which a mint creates whole', () => {
    const amount = { name: 'amount', value: '18446744073709551615', unit: 'tokens' as const, of: null, mint: 'M' }
    expect(argumentLines({ ...amount, decimals: 6 }, new Map())).toEqual([
      '    amount  18,446,744,073,709.551615 (the largest possible amount) of M',
    ])
  })
})
