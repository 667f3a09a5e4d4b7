/** The table of Lighthouse against its published source (Jac0xb/lighthouse, programs/lighthouse/src), hostile data, and the program. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import { conditionsOf, conditionWords } from '../../src/chain/instructions/conditions.ts'
import { describeInstruction } from '../../src/chain/instructions/describe.ts'
import { conditionTexts } from '../../src/chain/instructions/guard-words.ts'
import { ByteReader, ShortData } from '../../src/solana/byte-reader.ts'
import { type Guard, guardInstructions, tokenGuard } from '../../src/solana/guards.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { fieldType } from '../../src/solana/programs/field-types.ts'
import { LIGHTHOUSE } from '../../src/solana/programs/lighthouse.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { plainTransaction, putTokens } from '../support/guarded-transactions.ts'
import { hasProgram, PROGRAMS_DIR, SOL, sharedTestChain, someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

/** The instructions in the order of their numbers, with their accounts; `s` signs and `w` is written. */
const INSTRUCTIONS = [
  'memory_write: program system_program payer:sw memory:w source_account',
  'memory_close: program payer:sw memory:w',
  'assert_account_data: target_account',
  'assert_account_data_multi: target_account',
  'assert_account_delta: account_a account_b',
  'assert_account_info: target_account',
  'assert_account_info_multi: target_account',
  'assert_mint_account: target_account',
  'assert_mint_account_multi: target_account',
  'assert_token_account: target_account',
  'assert_token_account_multi: target_account',
  'assert_stake_account: target_account',
  'assert_stake_account_multi: target_account',
  'assert_upgradeable_loader_account: target_account',
  'assert_upgradeable_loader_account_multi: target_account',
  'assert_sysvar_clock: ',
  'assert_merkle_tree_account: target_merkle_tree root spl_account_compression proof:*',
  'assert_bubblegum_tree_config_account: target_account',
]

/** `i` is compared as an integer, `e` as equal or not; the numbers of variants are their places. */
const ASSERTIONS: Record<string, string> = {
  account_data:
    'bool:bool:e u8:u8:i i8:i8:i u16:u16:i i16:i16:i u32:u32:i i32:i32:i u64:u64:i i64:i64:i u128:u128:i i128:i128:i bytes:bytes_leb128:e pubkey:pubkey:e',
  account_info:
    'lamports:u64:i data_length:u64:i owner:pubkey:e known_owner:program:e rent_epoch:u64:i is_signer:bool:e is_writable:bool:e executable:bool:e data_hash',
  mint_account: 'mint_authority:?pubkey:e supply:u64:i decimals:u8:i is_initialized:bool:e freeze_authority:?pubkey:e',
  token_account:
    'mint:pubkey:e owner:pubkey:e amount:u64:i delegate:?pubkey:e state:u8:i is_native:?u64:e delegated_amount:u64:i close_authority:?pubkey:e owner_is_derived',
  sysvar_clock: 'slot:u64:i epoch_start_timestamp:i64:i epoch:u64:i leader_schedule_epoch:u64:i unix_timestamp:i64:i',
  bubblegum_tree_config_account:
    'tree_creator:pubkey:e tree_delegate:pubkey:e total_mint_capacity:u64:i num_minted:u64:i is_public:bool:e is_decompressible:u8:e',
}
const OPERATORS = {
  i: '<equal,not_equal,greater_than,less_than,greater_than_or_equal,less_than_or_equal,contains,does_not_contain>',
  e: '<equal,not_equal>',
}
const KNOWN_PROGRAMS = '<system,token,token_2022,rent,stake,vote,bpf_loader,upgradeable_loader,sysvar_config>'

const rows = Object.entries(LIGHTHOUSE.rows.instructions) as [
  keyof typeof LIGHTHOUSE.rows.instructions,
  readonly string[],
][]
const typeOf = (name: string, field: string) => {
  const fields = rows.find(([each]) => each === name)![1][2]!
  return fields
    .split(' ')
    .find((each) => each.startsWith(`${field}:`))!
    .slice(field.length + 1)
}

describe('the table of Lighthouse', () => {
  it('has the instructions of the source, by their numbers and with their accounts', () => {
    expect(rows.map(([name, [, accounts]]) => `${name}: ${accounts}`)).toEqual(INSTRUCTIONS)
    expect(rows.map(([, [prefix]]) => Number.parseInt(prefix!, 16))).toEqual(INSTRUCTIONS.map((_, i) => i))
  })

  it('has the assertions of the source in their order, one or several behind a compact length', () => {
    for (const [name, fields] of Object.entries(ASSERTIONS)) {
      const variants = fields.split(' ').map((field) => {
        const [variant, type, kind] = field.split(':')
        if (type === undefined)
          return variant === 'data_hash' ? `${variant}{hash:hex32,start:uleb128,length:uleb128}` : variant
        return `${variant}{value:${type === 'program' ? KNOWN_PROGRAMS : type},operator:${OPERATORS[kind as 'i' | 'e']}}`
      })
      const of = (each: string) => (name === 'account_data' ? `{offset:uleb128,assertion:<${each}>}` : `<${each}>`)
      expect(typeOf(`assert_${name}`, 'assertion')).toBe(of(variants.join(',')))
    }
    for (const [name] of rows.filter(([each]) => each.endsWith('_multi'))) {
      expect(typeOf(name, 'assertions')).toBe(`*leb128${typeOf(name.replace('_multi', ''), 'assertion')}`)
    }
  })

  it('has the levels of the log by their places, which are not the numbers of the enum', () => {
    const levels = '<silent,plaintext,encoded,encoded_noop,failed_plaintext,failed_encoded,failed_encoded_noop>'
    for (const [name] of rows.slice(2)) expect(typeOf(name, 'log_level')).toBe(levels)
  })
})

/** Values of a type of the table. */
function valuesOf(type: string): fc.Arbitrary<unknown> {
  const inner = type.slice(1, -1)
  if (type.startsWith('?')) return fc.option(valuesOf(type.slice(1)))
  if (type.startsWith('*leb128')) return fc.array(valuesOf(type.slice(7)), { maxLength: 200, size: 'max' })
  if (type.startsWith('{')) {
    const fields = partsOf(inner).map((part) => part.split(/:(.*)/s) as [string, string])
    return fc.record(Object.fromEntries(fields.map(([name, of]) => [name, valuesOf(of)])))
  }
  if (type.startsWith('<')) {
    return fc.oneof(
      ...partsOf(inner).map((part) => {
        const [, name, of = ''] = /^(\w+)(.*)$/s.exec(part)!
        return fc.record({ name: fc.constant(name), value: of === '' ? fc.constant(null) : valuesOf(of) })
      }),
    )
  }
  if (type.startsWith('(')) return fc.tuple(...partsOf(inner).map(valuesOf))
  return SCALARS[type]!
}

const integers = (bits: number, isSigned: boolean) =>
  bits <= 32
    ? fc.integer({ min: isSigned ? -(2 ** (bits - 1)) : 0, max: 2 ** (isSigned ? bits - 1 : bits) - 1 })
    : fc.bigInt(
        isSigned
          ? { min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }
          : { min: 0n, max: 2n ** BigInt(bits) - 1n },
      )
const SCALARS: Record<string, fc.Arbitrary<unknown>> = {
  ...Object.fromEntries(
    [8, 16, 32, 64, 128].flatMap((bits) => [
      [`u${bits}`, integers(bits, false)],
      [`i${bits}`, integers(bits, true)],
    ]),
  ),
  uleb128: fc.integer({ min: 0, max: 2 ** 49 - 1 }),
  bool: fc.boolean(),
  pubkey: fc.constantFrom(someone().toBase58(), someone().toBase58()),
  bytes_leb128: fc.uint8Array({ maxLength: 300, size: 'max' }),
  hex32: fc.uint8Array({ minLength: 32, maxLength: 32 }),
}

function partsOf(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of text) {
    if ('{(<'.includes(letter)) depth++
    if ('})>'.includes(letter)) depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}

describe('an instruction of Lighthouse', () => {
  const accounts = ['A', 'B', 'C', 'D', 'E'].map(() => someone().toBase58())

  it.each(rows)(
    '%s is read as it was written, and says every value of it',
    { tags: 'sampled' },
    (name, [, , fields]) => {
      const args = fc.record(
        Object.fromEntries(
          fields!
            .split(' ')
            .map((field) => field.split(/:(.*)/s) as [string, string])
            .map(([own, type]) => [own, valuesOf(type)]),
        ),
      )
      fc.assert(
        fc.property(args, (values) => {
          const data = LIGHTHOUSE.data(name, values as never)
          expect(LIGHTHOUSE.argsOf(name, data)).toEqual(values)
          const { instruction, args: said, rest } = describeInstruction(LIGHTHOUSE.id, accounts, data)
          expect([instruction, said.map((arg) => arg.name), rest]).toEqual([name, Object.keys(values), ''])
          const found = conditionsOf({ program: LIGHTHOUSE.id, accounts, data })
          const all = (values.assertions ?? (values.assertion === undefined ? [] : [values.assertion])) as unknown[]
          expect(found).toHaveLength(all.length)
          for (const words of found.map(conditionWords)) {
            expect(words).toMatch(/^([a-z0-9 ]+ of \S+|\S+ is the associated account)/)
            expect(words).not.toMatch(/undefined|null|\[object/)
          }
        }),
        { numRuns: runs(20, 60) },
      )
    },
  )

  it('of arbitrary bytes is described whole or not at all', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.uint8Array({ maxLength: 120 }), (number, bytes) => {
        const data = Buffer.concat([Buffer.of(number), bytes])
        const one = { program: LIGHTHOUSE.id, accounts: accounts.slice(0, bytes[0] ?? 0), data }
        const { rest } = describeInstruction(one.program, one.accounts, data)
        const [conditions = []] = conditionTexts(accounts[0]!, [one])
        if (rest !== '') expect(conditions).toEqual([])
      }),
      { numRuns: runs(500, 2_000) },
    )
  })

  it('among guards with a changed byte is described and explained without a throw', { tags: 'sampled' }, () => {
    const payer = accounts[0]!
    const guards: Guard[] = [
      { kind: 'wallet', address: payer, change: -5n },
      tokenGuard(accounts[1]!, {
        change: -7n,
        least: 3n,
        delegate: accounts[2]!,
        delegated: 9n,
        owner: payer,
        mint: payer,
      }),
    ]
    const { first, last } = guardInstructions(payer, guards)
    const all = [...first, ...last].map((each) => ({ ...each, accounts: each.accounts.map(({ address }) => address) }))
    expect(conditionTexts(payer, all).flat()).toHaveLength(10)
    const codes = fc.constantFrom(6001, 6005, 6009, 6400, 6401, 6404, 6500)
    const [place, at, byte] = [fc.nat(all.length - 1), fc.nat(200), fc.nat(255)]
    const lines = fc.constantFrom('Result (Failed): Some(-9) >= Some(-5)', 'Result: ', 'None', 'Result (Failed): x')
    fc.assert(
      fc.property(place, at, byte, codes, fc.array(lines), (index, offset, value, code, logged) => {
        const changed = all.map((each, i) => ({ ...each, data: i === index ? Buffer.from(each.data) : each.data }))
        const { data } = changed[index]!
        data[offset % data.length] = value
        conditionTexts(payer, changed)
        const invoked = [`Program ${LIGHTHOUSE.id} invoke [1]`, ...logged.map((line) => `Program log: ${line}`)]
        const failed = `Program ${LIGHTHOUSE.id} failed: custom program error: 0x${code.toString(16)}`
        const context = { instructions: changed, accountKeys: [payer], logs: [...invoked, failed] }
        const { message } = explainTransactionError({ InstructionError: [index, { Custom: code }] }, context)
        expect(message).not.toMatch(/undefined|null|NaN/)
      }),
      { numRuns: runs(100, 400) },
    )
  })

  it('that announces more than it has is left unexplained at once', () => {
    const endless = Buffer.from('0a00ffffffffffff3f', 'hex')
    expect(describeInstruction(LIGHTHOUSE.id, accounts, endless)).toMatchObject({ rest: 'ffffffffffff3f' })
    for (const text of ['ff'.repeat(9), 'ffffffffffffff01', '80'])
      expect(() => fieldType('uleb128').read(new ByteReader(Buffer.from(text, 'hex')))).toThrow(ShortData)
  })
})

describe('signed numbers and compact lengths', () => {
  it.each([
    ['i8', -1, 'ff'],
    ['i8', -128, '80'],
    ['i32', -2, 'feffffff'],
    ['i128', -1n, 'ff'.repeat(16)],
    ['i128', 2n ** 127n - 1n, `${'ff'.repeat(15)}7f`],
    ['uleb128', 0, '00'],
    ['uleb128', 127, '7f'],
    ['uleb128', 128, '8001'],
    ['uleb128', 624_485, 'e58e26'],
    ['uleb128', 2 ** 49 - 1, 'ffffffffffff7f'],
    ['*leb128u8', Array(130).fill(1), `8201${'01'.repeat(130)}`],
  ])('%s %s', (type, value, hex) => {
    const of = fieldType(type)
    expect(Buffer.from(of.write(value)).toString('hex')).toBe(hex)
    expect(of.read(new ByteReader(Buffer.from(hex, 'hex')))).toEqual(value)
  })

  it.each([
    ['i8', 128],
    ['i32', 2 ** 31],
    ['i128', 2n ** 127n],
  ])('%s has no room for %s', (type, value) => {
    expect(() => fieldType(type).write(value)).toThrow(RangeError)
  })
})

const open = sharedTestChain({ programsDir: PROGRAMS_DIR })

describe.skipIf(!hasProgram(PROGRAMS.lighthouse.id))('the program', () => {
  it('takes assertions of every kind about what is there, and more than 127 of them', async () => {
    const { chain } = await open()
    const [payer, mint] = [someone().toBase58(), someone().toBase58()]
    chain.airdrop(payer, 10n * SOL)
    const account = associatedTokenAddress(payer, mint, TOKEN_PROGRAM)
    putTokens(chain, account, { mint, owner: payer, amount: 5n })
    const log_level = { name: 'plaintext', value: null }
    const is = (name: string, value: unknown, operator = 'equal') => ({
      name,
      value: { value, operator: { name: operator, value: null } },
    })
    const named = (name: string) => ({ name, value: null })
    const derived = named('owner_is_derived')
    const { instruction } = LIGHTHOUSE
    const own = { target_account: account }
    const all: PlainInstruction[] = [
      instruction('assert_account_data', own, { log_level, assertion: { offset: 64, assertion: is('u64', 5n) } }),
      instruction('assert_account_data_multi', own, {
        log_level,
        assertions: [
          { offset: 0, assertion: is('bytes', Buffer.alloc(160), 'not_equal') },
          { offset: 64, assertion: is('i128', 4n, 'greater_than') },
        ],
      }),
      instruction('assert_account_info', { target_account: payer }, { log_level, assertion: is('is_signer', true) }),
      instruction('assert_account_info_multi', own, {
        log_level,
        assertions: [is('known_owner', named('token')), is('data_length', 165n), is('executable', false)],
      }),
      instruction(
        'assert_mint_account_multi',
        { target_account: mint },
        {
          log_level,
          assertions: [is('mint_authority', null), is('supply', 5n, 'less_than_or_equal'), is('decimals', 6)],
        },
      ),
      instruction('assert_token_account', own, { log_level, assertion: is('is_native', null) }),
      instruction('assert_token_account', own, { log_level, assertion: derived }),
      instruction('assert_token_account_multi', own, {
        log_level: named('silent'),
        assertions: Array(130).fill(is('state', 1)),
      }),
      instruction('assert_sysvar_clock', {}, { log_level, assertion: is('slot', 0n, 'greater_than') }),
    ]
    for (const each of all) {
      const { blockhash: recentBlockhash } = chain.latestBlockhash()
      const { err, logs } = chain.simulate(plainTransaction({ payer, recentBlockhash }, [each]), { sigVerify: false })
      const [conditions] = conditionTexts(payer, [{ ...each, accounts: each.accounts.map(({ address }) => address) }])
      expect(err, `${conditions!.join('; ')}\n${logs.join('\n')}`).toBeNull()
      expect(conditions!.length).toBeGreaterThan(0)
    }
  })
})
