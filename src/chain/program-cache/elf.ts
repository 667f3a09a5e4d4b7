/** Extracts a program's binary from the accounts that hold it, verifies it, and identifies its build. */
import { hash } from 'node:crypto'
import { addressOf } from '../../solana/addresses.ts'
import { LOADER_V1, LOADER_V2, LOADER_V4, UPGRADEABLE_LOADER } from '../../solana/program-ids.ts'

/**
 * UpgradeableLoaderState has a u32 tag. A program then names its data account, whose slot and authority precede the
 * binary.
 */
const PROGRAM_TAG = 2
const PROGRAM_DATA_TAG = 3
/** Bytes of a program data account before its binary. */
export const PROGRAM_DATA_HEADER = 45
/** Offset of the flag that precedes the authority. */
const AUTHORITY_FLAG = 12
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
  if (data.length < 36 || stateTag(data) !== PROGRAM_TAG)
    throw new Error('its account does not name a program data account')
  return addressOf(data.subarray(4, 36))
}

/**
 * Returns slot and upgrade authority of a program data account, of which `data` has at least the header; the authority
 * is null if nobody can upgrade it. Throws an Error for any other account.
 */
export function programDataHeader({ owner, data }: OwnedData): { slot: number; authority: string | null } {
  if (owner !== UPGRADEABLE_LOADER)
    throw new Error(`its program data account belongs to ${owner}, which is not a loader`)
  if (data.length < PROGRAM_DATA_HEADER || stateTag(data) !== PROGRAM_DATA_TAG) {
    throw new Error('its program data account holds no program')
  }
  const hasAuthority = data[AUTHORITY_FLAG] === 1
  return {
    slot: Number(view(data).getBigUint64(4, true)),
    authority: hasAuthority ? addressOf(data.subarray(AUTHORITY_FLAG + 1, PROGRAM_DATA_HEADER)) : null,
  }
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

const stateTag = (data: Uint8Array) => view(data).getUint32(0, true)

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
