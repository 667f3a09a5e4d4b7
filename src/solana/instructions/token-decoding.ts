/** What the decoders of token instructions share: the authority of an instruction, its accounts, optional keys. */
import type { ByteReader } from '../byte-reader.ts'

/** The authority of an instruction: one address, or a multisig account and those of its members that sign. */
export interface Authorized {
  authority: string
  /** Signing members of a multisig; empty when the authority itself signs. */
  signers: readonly string[]
}

export interface AccountAt {
  at: (index: number) => string
  all: readonly string[]
}

/** Reads COption<Pubkey> of instruction data: one byte, then the key only if it is set. */
export const optionKey = (r: ByteReader): string | null => (r.u8() === 1 ? r.key() : null)

/** Reads the authority at `index`; the accounts after it, up to `end`, are the signing members of a multisig. */
export const by = ({ at, all }: AccountAt, index: number, end = all.length): Authorized => ({
  authority: at(index),
  signers: all.slice(index + 1, end),
})
