/** Associated token program instructions in jsonParsed form. */
import type { InstructionParser } from './parsed.ts'

export const parseAssociatedToken: InstructionParser = (reader, at) => {
  const tag = reader.left === 0 ? 0 : reader.u8()
  if (tag === 2) {
    const [nestedSource, nestedMint, destination, nestedOwner, ownerMint, wallet, tokenProgram] = [
      0, 1, 2, 3, 4, 5, 6,
    ].map(at)
    const info = { nestedSource, nestedMint, destination, nestedOwner, ownerMint, wallet, tokenProgram }
    return { type: 'recoverNested', info }
  }
  const type = ['create', 'createIdempotent'][tag]
  if (!type) return null
  const info = { source: at(0), account: at(1), wallet: at(2), mint: at(3), systemProgram: at(4), tokenProgram: at(5) }
  return { type, info }
}
