/** `svc storage`: the places of images and metadata. */
import { type Noun, verb } from './cli/command.ts'
import type { Session } from './cli/session.ts'
import { EXIT } from './ui/problem.ts'

const copyVerb = verb({
  about: 'Copy images and metadata from the other places to the one that the setting storage names',
  details:
    'The places are the folder in this data folder, its database, and the bucket if s3.bucket is set. Existing content is compared with its hash. Missing or damaged content is copied, and nothing is removed. A daemon may run; to continue after an interruption, run it again.',
  examples: ['SVC_STORAGE=s3 svc storage copy', 'SVC_STORAGE=local svc storage copy -o json'],
  async run(_, { storage, ui }: Session) {
    const data = await storage.copy(ui.progress('Copying'))
    ui.clear()
    const { to, from, found, copied, present, damaged } = data
    return {
      data,
      text: `Copied ${copied} of ${found === 1 ? '1 asset' : `${found} assets`} of ${from.join(' and ')} to ${to}; ${present} were there.`,
      notes: damaged.map((cid) => `${cid} is damaged in every place: restore it from a backup`),
      exitCode: damaged.length > 0 ? EXIT.failed : EXIT.done,
    }
  },
})

export const storageNoun: Noun = { verbs: { copy: copyVerb } }
