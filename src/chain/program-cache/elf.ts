/** Extracts a program's binary from the accounts that hold it, and verifies it. */

/**
 * UpgradeableLoaderState has a u32 tag. A program then names its data account, whose slot and authority precede the
 * binary.
 */
const PROGRAM_TAG = 2
const PROGRAM_DATA_TAG = 3
const PROGRAM_DATA_HEADER = 45
/** The header of LoaderV4State has slot, authority and status. */
const V4_HEADER = 48

/** Returns the 32-byte address of the data account that an upgradeable program names. Throws for another state. */
export function programDataAddress(data: Uint8Array): Uint8Array {
  if (data.length < 36 || stateTag(data) !== PROGRAM_TAG)
    throw new Error('its account does not name a program data account')
  return data.subarray(4, 36)
}

/** Returns the binary in a program data account of the upgradeable loader, with its trailing zeros. */
export function upgradeableBinary(data: Uint8Array): Uint8Array {
  if (data.length <= PROGRAM_DATA_HEADER || stateTag(data) !== PROGRAM_DATA_TAG) {
    throw new Error('its program data account holds no program')
  }
  return data.subarray(PROGRAM_DATA_HEADER)
}

export const v4Binary = (data: Uint8Array) => data.subarray(V4_HEADER)

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
