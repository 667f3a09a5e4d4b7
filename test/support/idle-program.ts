/** A program for the embedded chain that accepts every call and does nothing, such as a transfer hook. */
import { Keypair, type PublicKey } from '@solana/web3.js'
import type { LocalChain } from '../../src/localnet/types.ts'

const LOADER = 'BPFLoader2111111111111111111111111111111111'
/** `r0 = 0` and `exit`. */
const CODE = Buffer.from('b7000000000000009500000000000000', 'hex')
const NAMES = Buffer.from('\0.text\0.shstrtab\0')
const [HEADER, SECTION] = [64, 64]

export function putIdleProgram(chain: LocalChain): PublicKey {
  const id = Keypair.generate().publicKey
  chain.setAccount(id.toBase58(), { lamports: 1_000_000_000n, owner: LOADER, data: idleElf(), executable: true })
  return id
}

/** An ELF file with the sections that the loader needs: the code and their names. */
function idleElf(): Buffer {
  const names = HEADER + CODE.length
  const sections = Math.ceil((names + NAMES.length) / 8) * 8
  const elf = Buffer.alloc(sections + 3 * SECTION)
  Buffer.from('7f454c460201010000000000000000000300f70001000000', 'hex').copy(elf)
  elf.writeBigUInt64LE(BigInt(HEADER), 24)
  elf.writeBigUInt64LE(BigInt(HEADER), 32)
  elf.writeBigUInt64LE(BigInt(sections), 40)
  for (const [i, size] of [HEADER, 56, 0, SECTION, 3, 2].entries()) elf.writeUInt16LE(size, 52 + 2 * i)
  CODE.copy(elf, HEADER)
  NAMES.copy(elf, names)
  const section = (place: number, name: string, type: number, flags: number, at: number, size: number) => {
    const start = sections + place * SECTION
    elf.writeUInt32LE(NAMES.indexOf(name), start)
    elf.writeUInt32LE(type, start + 4)
    for (const [i, field] of [flags, flags === 0 ? 0 : at, at, size].entries()) {
      elf.writeBigUInt64LE(BigInt(field), start + 8 + 8 * i)
    }
    elf.writeBigUInt64LE(8n, start + 48)
  }
  section(1, '.text', 1, 6, HEADER, CODE.length)
  section(2, '.shstrtab', 3, 0, names, NAMES.length)
  return elf
}
