/** The recording in docs/first-launch.md, repeated: the same commands show the same in a terminal of 80 columns. */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { firstLaunchPicture } from '../../tools/recorded-terminal.ts'
import { png } from '../storage/images.ts'
import { lacksDbc } from '../support/dbc.ts'
import { RECORDING } from '../support/golden.ts'
import { freePort } from '../support/ports.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const DOCUMENT = join(ROOT, 'docs/first-launch.md')
const PICTURE = join(ROOT, 'docs/pictures/first-launch.svg')
const PROMPT = '$ '

/** What is typed, and what shows that the next can be. Without it, that is the shell's prompt. */
const PLAYED: readonly (readonly [typed: string, until?: string])[] = [
  ['svc localnet wallet wallet.json 20'],
  ['export SVC_KEYPAIR=$PWD/wallet.json'],
  ['export SVC_PLATFORM_WALLET=$(svc localnet wallet platform.json 1 --jq .address)'],
  ['svc serve > serve.log 2>&1 &'],
  ['until svc health > health.txt 2>&1; do sleep 0.2; done'],
  ['svc pools create', 'Name: 1 to 20'],
  ['First Token!', '▲'],
  ['\u007f', 'Symbol: 1 to 10'],
  ['FIRST', 'Image of the token'],
  ['logo.png', 'Curve, see'],
  ['', 'first buy'],
  ['0.5', 'Description'],
  ['The first one', 'Website'],
  [''],
  ["pool=$(svc pools list --jq '.[0].address')"],
  ['svc pools progress "$pool"'],
  ['svc pools swap "$pool" --buy 1'],
  ['svc pools fees "$pool"'],
  ['kill %1; wait'],
]

const home = makeSharedFolder('svc-first-launch-')
const socket = join(home, 'tmux')
const hasTmux = spawnSync('tmux', ['-V']).status === 0
const tmux = (...args: string[]) =>
  spawnSync('tmux', ['-u', '-S', socket, ...args], {
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    encoding: 'utf8',
  }).stdout

afterAll(() => {
  if (hasTmux) tmux('kill-server')
  rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
})

const screen = () =>
  tmux('capture-pane', '-p', '-J', '-t', 'launch')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()

/** Plays the session in a fresh home; what the terminal showed. */
async function recording(): Promise<string> {
  const env: Record<string, string> = {
    HOME: home,
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    PS1: PROMPT,
    // The shell writes its history when the terminal is closed, into a folder that is being removed.
    HISTFILE: '',
    TERM: 'screen',
    LC_ALL: 'C.UTF-8',
    NO_COLOR: '1',
    SVC_PAGER: 'cat',
    SVC_PROGRAMS_DIR: PROGRAMS_DIR,
    SVC_PORT: String(await freePort()),
  }
  spawnSync('mkdir', [join(home, 'bin')])
  writeFileSync(join(home, 'bin/svc'), `#!/bin/sh\nexec node ${join(ROOT, 'dist/svc.js')} "$@"\n`, { mode: 0o755 })
  writeFileSync(join(home, 'logo.png'), png())
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-x',
    '80',
    '-y',
    '300',
    '-s',
    'launch',
    '-c',
    home,
    'env',
    '-i',
    ...given,
    'bash',
    '--norc',
  )
  await expect.poll(() => screen(), { timeout: 20_000 }).toBe('$')
  for (const [typed, until] of PLAYED) {
    const before = screen().length
    tmux('send-keys', '-t', 'launch', '-l', typed)
    tmux('send-keys', '-t', 'launch', 'Enter')
    const isShown = () => {
      const now = screen()
      return until === undefined ? now.length > before && /\n\$$/.test(now) : now.includes(until)
    }
    await expect
      .poll(isShown, { timeout: 40_000 })
      .toBe(true)
      .catch(() => expect.fail(`after ${typed}:\n${screen()}`))
  }
  return screen().replace(/\n\$$/, '')
}

/** Lines that begin at the edge, without what differs from run to run. Previews of changes are indented, and left out. */
const shapeOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^\S/.test(line) && !line.startsWith('[1]'))
    .map((line) =>
      line
        .replace(/[1-9A-HJ-NP-Za-km-z]{32,90}/g, 'KEY')
        .replace(/bafk\w+/g, 'CID')
        .replace(/\d[\d.,]*/g, '0')
        // A slow machine sees it later, and offers the presets only if they are there in time.
        .replace('finalized', 'confirmed')
        .replace(/\s+/g, ' ')
        .replace(/^│ the default one$/, '│'),
    )

const recorded = () => /```console\n([\s\S]*?)```/.exec(readFileSync(DOCUMENT, 'utf8'))?.[1] ?? ''

describe.skipIf(!hasTmux || lacksDbc)('the recording of a first launch', () => {
  it('equals what a terminal of 80 columns shows', async () => {
    const shown = await recording()
    if (RECORDING) {
      const text = readFileSync(DOCUMENT, 'utf8')
      const page = text.replace(/```console\n[\s\S]*?```/, () => `\`\`\`console\n${shown}\n\`\`\``)
      writeFileSync(DOCUMENT, page)
      writeFileSync(PICTURE, firstLaunchPicture(page))
    }
    expect(shapeOf(shown)).toEqual(shapeOf(recorded()))
    for (const line of shown.split('\n')) if (!line.startsWith(PROMPT)) expect(line.length).toBeLessThanOrEqual(130)
  })
})
