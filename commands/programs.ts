/** `svc programs`: which builds of programs the cluster runs, what was tried with them, and which ones are pinned. */
import { paths } from '../src/api/paths.ts'
import type { ProgramReport } from '../src/api/programs.ts'
import { type CommandOutcome, listOf, type Noun, toggle, verb } from './cli/command.ts'
import { EXIT } from './ui/problem.ts'
import { timeText } from './ui/times.ts'

const NAMES = listOf('Only these: dbc, damm-v2, token-metadata, core, lock, distributor, squads, or program ids', {
  placeholder: 'NAME,…',
})

export const programsNoun: Noun = {
  verbs: {
    list: verb({
      about: 'Show which builds of programs the cluster runs, and what was tried with them',
      details:
        'Shows what the last look found. A daemon looks every five minutes; `svc programs check` looks now. The SHA-256 is the one that solana-verify prints.',
      calls: [paths.programs.get],
      examples: ['svc programs list', 'svc programs list --json'],
      run: async (_, { client }) => programsOutcome((await client.programs.get()).data),
    }),
    check: verb({
      about: 'Look at the programs of the cluster now, and try new builds',
      details:
        'New builds go into the program cache beside the old ones, and are tried in memory, with every instruction that svc builds. What fails is refused from then on. Exit code 1 if something fails.',
      calls: [paths.programs.check],
      flags: { again: toggle('Try them even if they were tried or tested before') },
      examples: ['svc programs check', 'svc programs check --again'],
      async run({ again }, { client, ui }) {
        ui.waiting('Trying the programs')
        const { data } = await client.programs.check({ again })
        ui.waiting(null)
        const outcome = programsOutcome(data)
        const fails =
          data.trial_error !== null ||
          data.acts.some(({ status }) => status === 'failed') ||
          data.programs.some(({ fault }) => fault)
        return { ...outcome, exitCode: fails ? EXIT.failed : EXIT.done }
      },
    }),
    pin: verb({
      about: 'Keep the present builds of the program cache: a pull leaves them as they are',
      details: 'The embedded chain runs the files of the cache. A pull still stores a newer build beside a pinned one.',
      args: { programs: NAMES },
      flags: { remove: toggle('Remove the pins instead') },
      examples: ['svc programs pin', 'svc programs pin dbc damm-v2', 'svc programs pin dbc --remove'],
      async run({ programs, remove }, { localnet }) {
        const data = await localnet.pin({ programs, remove })
        const rows = data.programs.map(({ name, sha256, pinned }) => [name, pinned ? 'pinned' : 'not pinned', sha256])
        return {
          data,
          rows: { columns: ['name', 'pin', 'sha256'], rows },
          notes: [`program cache ${data.programs_dir}`],
        }
      },
    }),
  },
}

function programsOutcome(data: ProgramReport): CommandOutcome {
  const { cluster, looked_at, programs, tried_at, trial_error, acts } = data
  const passed = acts.filter(({ status }) => status === 'passed').length
  const failed = acts.filter(({ status }) => status === 'failed')
  const tried = tried_at === null ? null : `Tried ${timeText(tried_at)}: ${passed} passed, ${failed.length} failed`
  return {
    data,
    rows: {
      columns: ['name', 'slot', 'tested', 'authority', 'sha256'],
      rows: programs.map(({ name, slot, tested, authority, sha256 }) => [
        name,
        slot,
        tested ? 'yes' : 'no',
        authority ?? 'nobody',
        sha256,
      ]),
    },
    notes: [
      looked_at === null
        ? `${cluster} was never asked: \`svc programs check\` does`
        : `${cluster}, as of ${timeText(looked_at)}`,
      ...programs.flatMap(({ name, fault }) => (fault ? [`the cluster cannot run ${name}: ${fault}`] : [])),
      ...programs.flatMap(({ name, differences }) => differences.map((difference) => `${name}: ${difference}`)),
      ...(tried === null ? [] : [tried]),
      ...(trial_error === null ? [] : [`the trial ended early: ${trial_error}`]),
      ...failed.map(({ act, error, instruction }) => `${act}${instruction ? ` (${instruction.name})` : ''}: ${error}`),
    ],
  }
}
