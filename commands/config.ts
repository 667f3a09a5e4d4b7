/** `svc config`: the settings, the origin of each, and the profile that holds the user's own. */
import { type Noun, required, text, verb } from './cli/command.ts'
import { listOutcome } from './cli/reads.ts'
import type { OldDaemon } from './cli/session.ts'
import { usage } from './ui/problem.ts'

const name = required(text('Name of the setting; `svc config list` shows them'))

export const configNoun: Noun = {
  verbs: {
    list: verb({
      about: 'List every setting with its value and its source',
      examples: ['svc config list', 'svc config list --profile production -o json'],
      run: async (_, { settings }) => listOutcome(await settings.list(), ['name', 'value', 'origin', 'about']),
    }),
    get: verb({
      about: 'Read one setting',
      args: { name },
      examples: ['svc config get url', 'svc config get api --profile production'],
      async run({ name }, { settings }) {
        const row = (await settings.list()).find((row) => row.name === name)
        if (row === undefined) throw usage(`there is no setting ${name}`, { next: '`svc config list` shows them' })
        return { data: row, rows: { columns: ['value'], rows: [[row.value]] }, text: String(row.value ?? '') }
      },
    }),
    set: verb({
      about: 'Write a setting into the profile',
      details:
        'Secrets are refused: they come from the environment, or from a file that it names. `--profile NAME` picks the profile, and makes it if it does not exist.',
      args: { name, value: required(text('Its value')) },
      examples: ['svc config set output json', 'svc config set api https://svc.example.com --profile production'],
      async run({ name, value }, { settings }) {
        const { daemon, ...data } = await settings.set(name, value)
        return { data, text: `${name} is ${data.value} in the profile ${data.profile}.`, notes: restartNotes(daemon) }
      },
    }),
    unset: verb({
      about: 'Remove a setting from the profile',
      args: { name },
      examples: ['svc config unset output', 'svc config unset api --profile production'],
      async run({ name }, { settings }) {
        const { daemon, ...data } = await settings.unset(name)
        return {
          data,
          text: data.removed ? `${name} removed from the profile ${data.profile}.` : `${name} was not set there.`,
          notes: restartNotes(daemon),
        }
      },
    }),
    path: verb({
      about: 'List the files and folders that are read',
      examples: ['svc config path', 'svc config path --json'],
      run: async (_, { settings }) => listOutcome(await settings.files(), ['kind', 'path', 'exists']),
    }),
    profiles: verb({
      about: 'List the profiles',
      examples: ['svc config profiles', 'svc config profiles -o plain'],
      run: async (_, { settings }) => listOutcome(await settings.profiles(), ['name', 'current', 'settings']),
    }),
    use: verb({
      about: 'Make a profile the current one',
      args: { profile: required(text('Name of the profile')) },
      examples: ['svc config use production', 'svc config use default --json'],
      async run({ profile }, { settings }) {
        const { daemon, ...data } = await settings.use(profile)
        return { data, text: `The current profile is ${profile}.`, notes: restartNotes(daemon) }
      },
    }),
  },
}

/** A note if a daemon is running, because it reads its settings at its start and some of them at SIGHUP. */
function restartNotes(daemon: OldDaemon): string[] {
  if (daemon === null) return []
  const { url, pid, reloads } = daemon
  const restart = `stop it (kill ${pid}) and start it again`
  const next = reloads ? `${restart}, or, if it runs without a terminal, kill -HUP ${pid}` : restart
  return [`The daemon at ${url} still uses the settings that it read at its start: to change that, ${next}.`]
}
