/** Programs of the embedded chain that tests write themselves: one that does nothing, and one that makes a call. */
import { Keypair, type PublicKey } from '@solana/web3.js'
import type { LocalChain } from '../../src/localnet/types.ts'

const LOADER = 'BPFLoader2111111111111111111111111111111111'

/** Puts a program on the chain, in place of another one if it has its address. */
export function putProgram(chain: LocalChain, elf: Uint8Array, id = Keypair.generate().publicKey): PublicKey {
  chain.setAccount(id.toBase58(), { lamports: 1_000_000_000n, owner: LOADER, data: elf, executable: true })
  return id
}

/** Accepts every call and does nothing, such as a transfer hook. */
export const putIdleProgram = (chain: LocalChain): PublicKey => putProgram(chain, idleProgram())
export const idleProgram = (): Buffer => elfOf(END)

export interface MadeCall {
  /** Number of accounts that the program is called with. */
  accounts: number
  /** Places among them: the program that it calls, and the accounts of that call. */
  program: number
  metas: readonly { place: number; isSigner?: boolean; isWritable?: boolean }[]
  data: Uint8Array
  /** The one byte of which the program's own address is derived that signs too. */
  seed?: number
}

/** Calls another program with accounts of its own call, whatever its data says. */
export function callingProgram({ accounts, program, metas, data, seed }: MadeCall): Buffer {
  const wanted = [...new Set([program, ...metas.map(({ place }) => place)])]
  const infosAt = -INFO_BYTES * wanted.length
  const metasAt = infosAt - META_BYTES * metas.length
  const callAt = metasAt - CALL_BYTES
  const seedAt = callAt - SEED_BYTES
  const dataAt = seedAt - 8 * Math.ceil(data.length / 8)
  const keyOf = (place: number) => infosAt + INFO_BYTES * wanted.indexOf(place)
  const before = Buffer.concat([
    move(CURSOR, INPUT),
    add(CURSOR, 8),
    ...Array.from({ length: accounts }, (_, place) => readAccount(wanted.includes(place) ? keyOf(place) : null)),
    ...metas.flatMap(({ place, isSigner = false, isWritable = false }, i) => {
      const at = metasAt + META_BYTES * i
      return [
        load(SCRATCH, STACK, keyOf(place)),
        store(at),
        put(at + 8, Number(isWritable)),
        put(at + 9, Number(isSigner)),
      ]
    }),
    ...[...data].map((byte, i) => put(dataAt + i, byte)),
    ...[load(SCRATCH, STACK, keyOf(program)), store(callAt)],
    ...[onStack(SCRATCH, metasAt), store(callAt + 8), set(SCRATCH, metas.length), store(callAt + 16)],
    ...[onStack(SCRATCH, dataAt), store(callAt + 24), set(SCRATCH, data.length), store(callAt + 32)],
    ...[put(seedAt, seed ?? 0), onStack(SCRATCH, seedAt), store(seedAt + 8), set(SCRATCH, 1), store(seedAt + 16)],
    ...[onStack(SCRATCH, seedAt + 8), store(seedAt + 24), set(SCRATCH, 1), store(seedAt + 32)],
    ...[onStack(1, callAt), onStack(2, infosAt), set(3, wanted.length)],
    ...[onStack(4, seedAt + 24), set(5, seed === undefined ? 0 : 1)],
  ])
  return elfOf(Buffer.concat([before, CALL, END]), before.length)
}

// Instructions of SBF version 0, of eight bytes each. Registers: r1 has the input, r10 the end of the stack.

const [INPUT, SCRATCH, OTHER, CURSOR, STACK] = [1, 2, 3, 6, 10]
/** SolAccountInfo, SolAccountMeta and SolInstruction of the C interface. */
const [INFO_BYTES, META_BYTES, CALL_BYTES] = [56, 16, 40]
/** The seed, and where it is: SolSignerSeed and SolSignerSeeds. */
const SEED_BYTES = 40
/** Room that the input leaves behind the data of each account. */
const GROWTH = 10_240

function op(code: number, to: number, from: number, offset = 0, value = 0): Buffer {
  const bytes = Buffer.of(code, (from << 4) | to, 0, 0, 0, 0, 0, 0)
  bytes.writeInt16LE(offset, 2)
  bytes.writeInt32LE(value, 4)
  return bytes
}
const move = (to: number, from: number) => op(0xbf, to, from)
const set = (to: number, value: number) => op(0xb7, to, 0, 0, value)
const add = (to: number, value: number) => op(0x07, to, 0, 0, value)
const load = (to: number, from: number, offset: number) => op(0x79, to, from, offset)
const store = (offset: number) => op(0x7b, STACK, SCRATCH, offset)
const put = (offset: number, byte: number) => op(0x72, STACK, 0, offset, byte)
const onStack = (to: number, offset: number) => Buffer.concat([move(to, STACK), add(to, offset)])
const CALL = op(0x85, 0, 1, 0, -1)
const END = Buffer.concat([set(0, 0), op(0x95, 0, 0)])

/** Writes the SolAccountInfo of the account at the cursor, if it is wanted, and goes on to the next one. */
function readAccount(at: number | null): Buffer {
  const pointer = (offset: number, to: number) => [move(SCRATCH, CURSOR), add(SCRATCH, offset), store(to)]
  const flag = (offset: number, to: number) => [op(0x71, SCRATCH, CURSOR, offset), op(0x73, STACK, SCRATCH, to)]
  const info =
    at === null
      ? []
      : [
          ...[...pointer(8, at), ...pointer(72, at + 8), load(SCRATCH, CURSOR, 80), store(at + 16)],
          ...[...pointer(88, at + 24), ...pointer(40, at + 32), set(SCRATCH, 0), store(at + 40)],
          ...[...flag(1, at + 48), ...flag(2, at + 49), ...flag(3, at + 50)],
        ]
  const next = [
    load(SCRATCH, CURSOR, 80),
    add(CURSOR, 88 + GROWTH + 7),
    op(0x0f, CURSOR, SCRATCH),
    op(0x57, CURSOR, 0, 0, -8),
    add(CURSOR, 8),
  ]
  const whole = Buffer.concat([...info, ...next])
  // An account that was there before has only its place.
  const skipped = Buffer.concat([op(0x05, 0, 0, 1), add(CURSOR, 8)])
  const isNew = [op(0x71, OTHER, CURSOR, 0), op(0x55, OTHER, 0, whole.length / 8 + 1, 0xff)]
  return Buffer.concat([...isNew, whole, skipped])
}

const [HEADER, SECTION, SYMBOL] = [64, 64, 24]
const CPI = Buffer.from('\0sol_invoke_signed_c\0\0\0\0')
const NAMES = Buffer.from('\0.text\0.dynsym\0.dynstr\0.rel.dyn\0.dynamic\0.shstrtab\0\0\0\0\0\0')

interface Section {
  name: string
  type: number
  flags: number
  bytes: Buffer
  link?: number
  entry?: number
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [i, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * i)
  return bytes
}

/** An ELF file with the sections that the loader needs; the instruction at `callAt` of the code calls another program. */
function elfOf(code: Buffer, callAt?: number): Buffer {
  const sections: Section[] = [
    { name: '.text', type: 1, flags: 6, bytes: code },
    ...(callAt === undefined ? [] : importOf(HEADER + callAt, HEADER + code.length)),
    { name: '.shstrtab', type: 3, flags: 0, bytes: NAMES },
  ]
  const content = Buffer.concat(sections.map(({ bytes }) => bytes))
  const header = Buffer.alloc(HEADER)
  Buffer.from('7f454c460201010000000000000000000300f70001000000', 'hex').copy(header)
  words(HEADER, HEADER, HEADER + content.length).copy(header, 24)
  for (const [i, size] of [HEADER, 56, 0, SECTION, sections.length + 1, sections.length].entries()) {
    header.writeUInt16LE(size, 52 + 2 * i)
  }
  let at = HEADER
  const rows = sections.map(({ name, type, flags, bytes, link = 0, entry = 0 }) => {
    const row = Buffer.alloc(SECTION)
    row.writeUInt32LE(NAMES.indexOf(`\0${name}\0`) + 1, 0)
    row.writeUInt32LE(type, 4)
    words(flags, flags === 0 ? 0 : at, at, bytes.length, link, 8, entry).copy(row, 8)
    at += bytes.length
    return row
  })
  return Buffer.concat([header, content, Buffer.alloc(SECTION), ...rows])
}

/** The sections by which the loader puts the function of the runtime into the call at this address. */
function importOf(call: number, start: number): Section[] {
  const strings = start + 2 * SYMBOL
  const relocations = strings + CPI.length
  const [relocation, tags] = [16, [17, relocations, 18, 16, 19, 16, 6, start, 5, strings, 0, 0]]
  const symbols = words(0, 0, 0, 1 + 0x10 * 2 ** 32, 0, 0)
  return [
    { name: '.dynsym', type: 11, flags: 2, bytes: symbols, link: 3, entry: SYMBOL },
    { name: '.dynstr', type: 3, flags: 2, bytes: CPI },
    { name: '.rel.dyn', type: 9, flags: 2, bytes: words(call, 2 ** 32 + 10), link: 2, entry: relocation },
    { name: '.dynamic', type: 6, flags: 3, bytes: words(...tags), link: 3, entry: 16 },
  ]
}
