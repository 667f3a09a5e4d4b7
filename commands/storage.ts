/** `svc storage`: the places of images and metadata. */
import { type Noun, verb } from './cli/command.ts'
import type { Session } from './cli/session.ts'
import { EXIT } from './ui/problem.ts'

const copyVerb = verb({
  about: 'Copy images and metadata from the other places into that of the setting storage',
  details:
    'The places are the folder of this data folder, its database, and the bucket where s3.bucket is set. Content that is there already is compared with its hash; what is missing or damaged is copied, and nothing is removed. A daemon may run; a copy that was stopped goes on when it is repeated.',
  examples: ['SVC_STORAGE=s3 svc storage copy', 'SVC_STORAGE=local svc storage copy -o json'],
  async run(_, { storage, ui }: Session) {
    const data = await storage.copy(ui.progress('Copying'))
    ui.clear()
    const { to, from, found, copied, present, damaged } = data
    return {
      data,
      text: `Copied ${copied} of ${found === 1 ? '1 asset' : `${found} assets`} of ${from.join(' and ')} to ${to}; ${present} were there.`,
      notes: damaged.map((cid) => `${cid} is damaged wherever it is: restore it from a backup`),
      exitCode: damaged.length > 0 ? EXIT.failed : EXIT.done,
    }
  },
})

export const storageNoun: Noun = { verbs: { copy: copyVerb } }
