/** `svc notes`: texts that a wallet puts on the chain. */
import type { NoteDrafted } from '../src/api/notes.ts'
import { paths } from '../src/api/paths.ts'
import { type Noun, required, text, verb } from './cli/command.ts'
import { listVerb } from './cli/reads.ts'
import { demanding, writesMemo } from './signing/demand.ts'
import { buildFields, SIGNING } from './signing/flags.ts'
import { runSigned } from './signing/run.ts'

const { submit, get, simulate } = paths.transactions

const demandsNote = demanding('this text, in a memo', (_, { id, text }: { id: string; text: string }) => [
  writesMemo(`svc:note:${id}:${text}`),
])

export const notesNoun: Noun = {
  verbs: {
    create: verb({
      about: 'Put a text on the chain, signed by your keypair',
      calls: [paths.notes.create, simulate, submit, get],
      args: { text: required(text('1 to 280 characters')) },
      flags: SIGNING,
      examples: ['svc notes create gm', 'svc notes create "gm, everybody" --dry-run -k id.json'],
      async run({ text, ...flags }, session) {
        return runSigned<NoteDrafted>(session, flags, {
          what: 'Put a note on the chain',
          build: (author) => session.client.notes.create({ ...buildFields(flags), author, text }),
          demand: (of, { note }) => demandsNote(of, { id: note.id, text }),
          show: ({ note }) => ({ id: note.id, text: note.text }),
        })
      },
    }),
    list: listVerb({
      about: 'List notes, newest first',
      at: paths.notes.list,
      filters: { author: text('Only those of this wallet', { placeholder: 'WALLET' }) },
      examples: ['svc notes list', 'svc notes list --author 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --all'],
      columns: ['id', 'author', 'text', 'created_at'],
      call: (client, query) => client.notes.list(query),
    }),
  },
}
