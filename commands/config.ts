/** `svc config`: the settings, the origin of each, and the profile that holds the user's own. */
import { type Noun, required, text, verb } from './cli/command.ts'
import { listOutcome } from './cli/reads.ts'
import type { OldDaemon } from './cli/session.ts'
import { failure, usage } from './ui/problem.ts'

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
        const { daemon, resolved, ...data } = await settings.set(name, value)
        const absolute = `${value} is stored as an absolute path, because commands and the daemon run in other folders.`
        return {
          data,
          text: `${name} is ${data.value} in the profile ${data.profile}.`,
          notes: [...(resolved ? [absolute] : []), ...restartNotes(daemon)],
        }
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
    reload: verb({
      about: 'Make the running daemon take up changed settings',
      details:
        'The daemon reads profile, project file and the files of `SVC_…_FILE` again. Settings that need a restart are named. If a setting is invalid, nothing changes.',
      examples: ['svc config reload', 'svc config reload --json'],
      async run(_, { settings }) {
        const { pid, url, applied, needs_restart: waiting, error } = await settings.reload()
        if (error !== null)
          throw failure(`the daemon at ${url} keeps its settings: ${error}`, { next: 'correct it, and reload again' })
        const later = `${waiting.join(', ')}: after a restart (kill ${pid}, and start it again)`
        return {
          data: { url, pid, applied, needs_restart: waiting },
          text:
            applied.length === 0
              ? `The daemon at ${url} has nothing to change.`
              : `The daemon at ${url} now uses the new ${applied.join(', ')}.`,
          notes: waiting.length === 0 ? [] : [later],
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

/** A note if a daemon is running, because it reads its settings at its start and when it reloads. */
function restartNotes(daemon: OldDaemon): string[] {
  if (daemon === null) return []
  const { url, pid, reloads } = daemon
  const next = reloads ? '`svc config reload` changes that' : `stop it (kill ${pid}) and start it again`
  return [`The daemon at ${url} still uses the earlier value: ${next}.`]
}
