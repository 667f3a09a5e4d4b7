/** Finds environment variables that look like settings but are not, such as `SVC_APIKEY`. */
import { environmentName, fileVariable, SETTINGS, type SettingName } from '../../src/settings/config.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Variables that are not settings: of this program, of its tests and its build, and of its examples for CI. */
const OTHER_VARIABLES = [
  'SVC_API_KEY',
  'SVC_DEMO_CLUSTER',
  'SVC_DEMO_PROGRAM',
  'SVC_DIFFERENCES',
  'SVC_JUNIT',
  'SVC_NIGHT_MINUTES',
  'SVC_PAGER',
  'SVC_PORT_FILE',
  'SVC_PROFILE',
  'SVC_RECORD_GOLDEN',
  'SVC_REF',
  'SVC_REPOSITORY',
  'SVC_SUMMARY',
  'SVC_VERSION',
  'SVC_WALLET_PASSPHRASE_FILE',
]
const OTHER_FAMILIES = /^SVC_(TEST|BUILD|BENCH|SOAK)_/
/** Kubernetes sets such variables for each service in the namespace, and one may be called `svc`. */
const OF_KUBERNETES = /^SVC_(\w+_)?(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)$/

/** If there are more, they belong to another program. */
const MOST_TOLD = 5
const LONGEST_TOLD = 60

/** Every variable that is read. */
export const knownVariables = (): string[] => [
  ...OTHER_VARIABLES,
  ...(Object.keys(SETTINGS) as SettingName[]).flatMap((name) =>
    [environmentName(name), fileVariable(name) ?? []].flat(),
  ),
]

/** The `SVC_…` variables of the environment that nothing reads, in order. */
export function unknownVariables(env: Environment): string[] {
  const named = Object.keys(env).filter((name) => name.startsWith('SVC_'))
  if (named.length === 0) return []
  const known = new Set(knownVariables())
  return named.filter((name) => !known.has(name) && !OTHER_FAMILIES.test(name) && !OF_KUBERNETES.test(name)).sort()
}

/** A variable that nothing reads, with the one that was probably meant. */
interface UnreadVariable {
  /** As it is shown, without its value. */
  name: string
  meant: string | undefined
}

/** Unknown variables with the probably intended name; without `all`, only typing mistakes. */
export async function unreadVariables(env: Environment, all: boolean): Promise<UnreadVariable[]> {
  const unknown = unknownVariables(env)
  if (unknown.length === 0) return []
  const { nearestNames } = await import('../../src/platform/nearest.ts')
  const known = knownVariables().map((name) => name.replace('SVC_', ''))
  return unknown
    .map((name) => {
      const [meant] = nearestNames(name.replace('SVC_', ''), known)
      return { name: name.slice(0, LONGEST_TOLD), meant: meant === undefined ? undefined : `SVC_${meant}` }
    })
    .filter(({ meant }) => all || meant !== undefined)
    .slice(0, MOST_TOLD)
}

/** What to do about a variable that nothing reads. */
export const variableRemedy = ({ name, meant }: UnreadVariable): string =>
  meant === undefined ? `unset ${name}, or see docs/configuration.md for the names` : `did you mean ${meant}?`
