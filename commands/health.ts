/** `svc health`: whether the service answers. */
import { paths } from '../src/api/paths.ts'
import type { Noun } from './command.ts'
import { recordVerb } from './reads.ts'

export const healthNoun: Noun = {
  verb: recordVerb({
    about: 'Tell whether the service answers',
    at: paths.service.health,
    examples: ['svc health', 'svc health --api https://svc.example.com --json'],
    call: (client) => client.service.health(),
  }),
}
