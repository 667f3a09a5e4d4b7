/** `svc tokens`: fungible mints and the authorities that are left. */
import { paths } from '../src/api/paths.ts'
import { choice, type Noun, required, text } from './command.ts'
import { listVerb, recordVerb } from './reads.ts'

const STATUSES = ['created', 'mint_authority_revoked', 'freeze_authority_revoked', 'fully_immutable'] as const

export const noun: Noun = {
  verbs: {
    list: listVerb({
      about: 'List tokens, newest first',
      at: paths.tokens.list,
      filters: { status: choice(STATUSES, 'Only those in this state') },
      columns: ['mint', 'status'],
      call: (client, query) => client.tokens.list(query),
    }),
    get: recordVerb({
      about: 'Read one token',
      at: paths.tokens.get,
      args: { mint: required(text('Mint of the token')) },
      call: (client, input) => client.tokens.get(input),
    }),
  },
}
