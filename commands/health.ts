/** `svc health`: whether the service answers. */
import { paths } from '../src/api/paths.ts'
import type { Noun } from './cli/command.ts'
import { recordVerb } from './cli/reads.ts'

export const healthNoun: Noun = {
  verb: recordVerb({
    about: 'Check whether the service answers',
    at: paths.service.health,
    examples: ['svc health', 'svc health --api https://svc.example.com --json'],
    call: (client) => client.service.health(),
  }),
}
