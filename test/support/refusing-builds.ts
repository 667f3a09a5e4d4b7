/** Builds of programs that fail as soon as they enter an instruction; everything else works in them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InstructionName } from '../../src/chain/program-cache/canary-report.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { PROGRAMS_DIR } from './programs.ts'

/** What these programs log first in an instruction, where it is not its name in Anchor's form. */
const OWN_LINES: Readonly<Record<string, string>> = {
  create_metadata_account_v3: 'IX: Create Metadata Accounts v3',
  update_metadata_account_v2: 'IX: Update Metadata Accounts v2',
  create_v2: 'Instruction: CreateV2',
  create_collection_v2: 'Instruction: CreateCollectionV2',
  add_plugin_v1: 'Instruction: AddPlugin',
  remove_plugin_v1: 'Instruction: RemovePlugin',
  update_plugin_v1: 'Instruction: UpdatePlugin',
  update_collection_v1: 'Instruction: UpdateCollection',
  burn_v1: 'Instruction: Burn',
}

const firstLineOf = (name: string): string =>
  OWN_LINES[name] ?? `Instruction: ${name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`

/** Operation codes of SBF: a load of 64 bits, which takes two places, and `mov r2, number` in both widths. */
const [LOAD, MOVES] = [0x18, [0xb7, 0xb4]]
const PLACE_BYTES = 8
/** How far the length of a line is set from its address. */
const NEAR = 6 * PLACE_BYTES
const [PROGBITS, CODE] = [1, 0x6]
/** Bytes of a line that no program has: to log it ends the program. */
const TOO_LONG = 0x7fff_ffff

/**
 * Returns the cached build with a wrong length of the line that each instruction logs first. Throws unless the line is
 * found, so no build is returned unchanged.
 */
export function refusingBuild(program: string, names: readonly string[]): Buffer {
  const elf = readFileSync(join(PROGRAMS_DIR, `${program}.so`))
  const sections = sectionsOf(elf)
  const code = sections.find(({ flags }) => flags === CODE)
  if (code === undefined) throw new Error(`${program} has no code`)
  for (const name of names) {
    const places = lengthsOf(Buffer.from(firstLineOf(name)), { elf, sections, code })
    if (places.length === 0) throw new Error(`${program} does not log the line of ${name}`)
    for (const place of places) elf.writeUInt32LE(TOO_LONG, place + 4)
  }
  return elf
}

interface Section {
  type: number
  flags: number
  address: number
  offset: number
  size: number
}

function sectionsOf(elf: Buffer): Section[] {
  const [table, size, count] = [Number(elf.readBigUInt64LE(0x28)), elf.readUInt16LE(0x3a), elf.readUInt16LE(0x3c)]
  return Array.from({ length: count }, (_, i) => {
    const at = table + i * size
    const [flags, address, offset, bytes] = [8, 16, 24, 32].map((field) => Number(elf.readBigUInt64LE(at + field)))
    return { type: elf.readUInt32LE(at + 4), flags: flags!, address: address!, offset: offset!, size: bytes! }
  })
}

/** The instructions that set the length of the line, each near one that loads its address. */
function lengthsOf(
  line: Buffer,
  { elf, sections, code }: { elf: Buffer; sections: readonly Section[]; code: Section },
): number[] {
  const addresses = new Set<number>()
  for (let at = elf.indexOf(line); at >= 0; at = elf.indexOf(line, at + 1)) {
    const section = sections.find(({ type, offset, size }) => type === PROGBITS && at >= offset && at < offset + size)
    if (section !== undefined) addresses.add(section.address + at - section.offset)
  }
  const found = new Set<number>()
  for (let at = code.offset; at < code.offset + code.size; at += PLACE_BYTES) {
    if (elf[at] !== LOAD || !addresses.has(elf.readUInt32LE(at + 4))) continue
    for (let near = at - NEAR; near <= at + NEAR; near += PLACE_BYTES) {
      const isLength = MOVES.includes(elf[near]!) && elf[near + 1] === 2 && elf.readUInt32LE(near + 4) === line.length
      if (isLength) found.add(near)
    }
  }
  return [...found]
}

/** All cached builds by program, in which these instructions fail. */
export function refusingBuilds(instructions: readonly InstructionName[]): Map<string, Buffer> {
  const namesOf = (id: string) => instructions.filter(({ program }) => program === id).map(({ name }) => name)
  return new Map(Object.values(PROGRAMS).map(({ id }) => [id, refusingBuild(id, namesOf(id))]))
}
