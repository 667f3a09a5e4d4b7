/** `svc doctor`: checks this installation and reports how to repair it. */
import { type Noun, verb } from './cli/command.ts'
import { listOutcome } from './cli/reads.ts'
import { EXIT } from './ui/problem.ts'

export const doctorNoun: Noun = {
  verb: verb({
    about: 'Check this installation and say how to repair it',
    examples: ['svc doctor', 'svc doctor -u devnet --json'],
    async run(_, session) {
      const checks = await session.diagnose()
      const failed = checks.filter(({ status }) => status === 'fail').length
      const fixes = checks.flatMap(({ check, status, fix }) => (fix === null ? [] : [`${status} ${check}: ${fix}`]))
      return {
        ...listOutcome(checks, ['status', 'check', 'detail']),
        notes: fixes,
        exitCode: failed > 0 ? EXIT.failed : EXIT.done,
      }
    },
  }),
}
