/** `svc upgrade`: how to install a newer version, and with `--check` whether there is one. */
import { parse } from 'node:path'
import { execa } from 'execa'
import { VERSION } from '../src/platform/version.ts'
import { type Noun, toggle, verb } from './cli/command.ts'
import { failure } from './ui/problem.ts'

const PACKAGE = '@svc-launch/cli'
const NOTES = 'https://github.com/svc-launch/svc/releases'
const WAIT_MS = 10_000
const NUMBERS = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/

export const upgradeNoun: Noun = {
  verb: verb({
    about: 'Say how to install a newer version, and whether there is one',
    details:
      'Only --check asks anybody: the package registry that npm uses. svc itself never looks for a newer version, and never replaces itself.',
    flags: { check: toggle('Ask the package registry of npm for the newest version') },
    examples: ['svc upgrade', 'svc upgrade --check --json'],
    async run({ check }) {
      if (!check) {
        const text = `This is svc ${VERSION}. Install the newest version:\n\n  ${installOf('latest')}\n\n\`svc upgrade --check\` asks the package registry whether there is a newer one.`
        return { data: { installed: VERSION }, text }
      }
      const latest = await newestVersion()
      const newer = isNewer(latest, VERSION)
      const text = newer
        ? `svc ${latest} is available; this is ${VERSION}. What has changed: ${NOTES}\n\n  ${installOf(latest)}`
        : `This is svc ${VERSION}; the newest version of the registry is ${latest}.`
      return { data: { installed: VERSION, latest, newer }, text }
    },
  }),
}

const installOf = (version: string) => `npm install --global ${PACKAGE}@${version}`

/** The version that npm would install, which npm asks of its registry with its own settings and proxies. */
async function newestVersion(): Promise<string> {
  // At the root of the disk, because the settings file of the current folder can be somebody else's.
  const ran = await execa('npm', ['view', PACKAGE, 'version', '--json', '--fetch-retries=0'], {
    cwd: parse(process.execPath).root,
    reject: false,
    timeout: WAIT_MS,
    maxBuffer: 65_536,
  })
  if (ran.code === 'ENOENT')
    throw failure('npm is not on the PATH, and it is what knows the registry', { next: `read ${NOTES}` })
  const answer = parsed(ran.stdout)
  if (!ran.failed && typeof answer === 'string' && NUMBERS.test(answer)) return answer
  const code = refusalOf(answer)
  if (code === 'E404') throw failure(`npm's registry has no ${PACKAGE}`, { next: 'check `npm config get registry`' })
  const why = ran.timedOut ? `no answer within ${WAIT_MS / 1_000} seconds` : (code ?? 'its answer is not a version')
  throw failure(`the package registry could not be asked (${why})`, {
    next: `try again with a network; svc ${VERSION} works without it`,
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The code of npm's error: a word, whatever the registry answered. */
function refusalOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined
  const { error } = answer
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^\w{1,40}$/.test(error.code) ? error.code : undefined
}

/** Whether one version comes after another; versions with a suffix never do. */
function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((each) => NUMBERS.exec(each)?.slice(1).map(Number))
  if (a === undefined || b === undefined) return false
  const at = a.findIndex((number, place) => number !== b[place])
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0)
}
