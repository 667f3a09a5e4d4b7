/** The Associated Token Account program (spl-associated-token-account-interface). */
import { ASSOCIATED_TOKEN_PROGRAM } from '../program-ids.ts'
import { programTable } from './table.ts'

const OPEN = 'source:sw account:w wallet mint systemProgram tokenProgram'

export const ASSOCIATED_TOKEN = programTable(ASSOCIATED_TOKEN_PROGRAM, {
  instructions: {
    // The program's first version had only this instruction, and its data was empty.
    create: ['00|none', OPEN, ''],
    createIdempotent: ['01', OPEN, ''],
    recoverNested: ['02', 'nestedSource:w nestedMint destination:w nestedOwner ownerMint wallet:sw tokenProgram', ''],
  },
})
