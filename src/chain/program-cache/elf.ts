/** Extracts a program's binary from the accounts that hold it, verifies it, and identifies its build. */
import { hash } from 'node:crypto'
import { LOADER_V1, LOADER_V2, LOADER_V4, UPGRADEABLE_LOADER } from '../../solana/program-ids.ts'
import { LOADER, PROGRAM_DATA_HEADER } from '../../solana/programs/upgradeable-loader.ts'

/** The header of LoaderV4State has slot, authority and status. */
const V4_HEADER = 48

/** An account as the cluster shows it; its data may be hostile. */
interface OwnedData {
  owner: string
  data: Uint8Array
}

/**
 * Returns the address of the account that has a program's binary, or null if the program's own account has it. Throws
 * an Error unless a loader owns the account.
 */
export function programDataAddress({ owner, data }: OwnedData): string | null {
  if (owner === LOADER_V1 || owner === LOADER_V2 || owner === LOADER_V4) return null
  if (owner !== UPGRADEABLE_LOADER) throw new Error(`its account belongs to ${owner}, which loads no programs`)
  const program = LOADER.decode('program', { owner, data })
  if (program === null) throw new Error('its account does not name a program data account')
  return program.program_data
}

/**
 * Returns slot and upgrade authority of a program data account, of which `data` has at least the header; the authority
 * is null if nobody can upgrade it. Throws an Error for any other account.
 */
export function programDataHeader({ owner, data }: OwnedData): { slot: number; authority: string | null } {
  if (owner !== UPGRADEABLE_LOADER)
    throw new Error(`its program data account belongs to ${owner}, which is not a loader`)
  const header = data.length < PROGRAM_DATA_HEADER ? null : LOADER.decode('program_data', { owner, data })
  if (header === null) throw new Error('its program data account holds no program')
  return { slot: Number(header.slot), authority: header.authority }
}

/** Returns the binary in the account that has it, with its trailing zeros. Throws an Error for any other account. */
export function binaryIn({ owner, data }: OwnedData): Uint8Array {
  if (owner === LOADER_V1 || owner === LOADER_V2) return data
  if (owner === LOADER_V4) return data.subarray(V4_HEADER)
  programDataHeader({ owner, data })
  return data.subarray(PROGRAM_DATA_HEADER)
}

/**
 * Identifies a build: the SHA-256 of its bytes without trailing zeros, in hex, as `solana-verify` computes it. An
 * account has more zeros than the file that was deployed.
 */
export function buildHash(bytes: Uint8Array): string {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return hash('sha256', bytes.subarray(0, end), 'hex')
}

const SECTION_TABLE = { offset: 0x28, entrySize: 0x3a, entries: 0x3c }
const ELF_HEADER = 64
/** Machine numbers of the ELF header: EM_BPF, and that of newer SBPF versions. */
const MACHINES = [247, 263]

/** Throws unless the bytes are a whole 64-bit little-endian ELF file for the SVM's machine. */
export function checkElf(bytes: Uint8Array): void {
  const [a, b, c, d, bits, order] = bytes
  if (a !== 0x7f || b !== 0x45 || c !== 0x4c || d !== 0x46) throw new Error('it is not an ELF file')
  if (bytes.length < ELF_HEADER) throw new Error('the ELF file is cut short')
  const elf = view(bytes)
  if (bits !== 2 || order !== 1 || !MACHINES.includes(elf.getUint16(0x12, true))) {
    throw new Error('the ELF file is not for the Solana virtual machine')
  }
  const sections = elf.getUint16(SECTION_TABLE.entries, true) * elf.getUint16(SECTION_TABLE.entrySize, true)
  const end = elf.getBigUint64(SECTION_TABLE.offset, true) + BigInt(sections)
  if (end > BigInt(bytes.length)) throw new Error(`the ELF file is cut short: ${bytes.length} bytes of ${end}`)
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
