/** Instructions of the Associated Token Account program. */
import type { InstructionDecoder } from './decoder.ts'

export type AssociatedTokenInstruction =
  | {
      type: 'create' | 'createIdempotent'
      source: string
      account: string
      wallet: string
      mint: string
      systemProgram: string
      tokenProgram: string
    }
  | {
      type: 'recoverNested'
      nestedSource: string
      nestedMint: string
      destination: string
      nestedOwner: string
      ownerMint: string
      wallet: string
      tokenProgram: string
    }

export const decodeAssociatedToken: InstructionDecoder<AssociatedTokenInstruction> = (reader, at) => {
  // The program's first version had only this instruction, and its data was empty.
  const tag = reader.left === 0 ? 0 : reader.u8()
  if (tag === 2) {
    return {
      type: 'recoverNested',
      nestedSource: at(0),
      nestedMint: at(1),
      destination: at(2),
      nestedOwner: at(3),
      ownerMint: at(4),
      wallet: at(5),
      tokenProgram: at(6),
    }
  }
  const type = (['create', 'createIdempotent'] as const)[tag]
  if (type === undefined) return null
  return {
    type,
    source: at(0),
    account: at(1),
    wallet: at(2),
    mint: at(3),
    systemProgram: at(4),
    tokenProgram: at(5),
  }
}
