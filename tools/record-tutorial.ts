/**
 * Plays the commands of docs/tutorial.md in a terminal of 80 × 24 with an empty home, and records what it shows, with
 * times, as asciicast v2. `npx tsx tools/record-tutorial.ts` writes docs/pictures/tutorial.cast.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'

const ROOT = resolve(import.meta.dirname, '..')
export const RECORDING = join(ROOT, 'docs/pictures/tutorial.cast')
const [COLUMNS, ROWS] = [80, 24]
/** What the prompt says to the recorder, and no terminal shows: the exit code of the command before. */
const PROMPT_MARK = /\u001b\]133;D;(\d+)\u0007/
const PROMPT = '\\[\\e]133;D;$?\\a\\]$ '

type CastEvent = [seconds: number, kind: 'i' | 'o', text: string]

/** The blocks that a reader pastes, without the line breaks at their ends. */
export const tutorialBlocks = (): string[] =>
  [...readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)\n```/g)].map(
    ([, block]) => block!,
  )

/** The commands of a block; a line that ends with a backslash goes on. */
export const commandsOf = (block: string): string[] => block.split(/(?<!\\)\n/)

/** The first block fetches the programs of a cluster; a recording begins after it, because it must not need one. */
export const recordedCommands = (): string[] => tutorialBlocks().slice(1).flatMap(commandsOf)

interface Playing {
  /** The home: a new folder, with the command as `bin/svc`. */
  home: string
  commands: readonly string[]
  env?: Record<string, string>
}

/** Plays the commands one after another. Throws with what the terminal showed if one fails. */
export async function play({ home, commands, env = {} }: Playing): Promise<CastEvent[]> {
  mkdirSync(join(home, 'bin'))
  writeFileSync(join(home, 'bin/svc'), `#!/bin/sh\nexec node ${join(ROOT, 'dist/svc.js')} "$@"\n`, { mode: 0o755 })
  writeFileSync(join(home, '.inputrc'), 'set enable-bracketed-paste off\n')
  copyFileSync(join(ROOT, 'docs/pictures/logo.png'), join(home, 'logo.png'))
  const shell = `stty cols ${COLUMNS} rows ${ROWS}; exec bash --noprofile --norc -i`
  const terminal = execa('script', ['-qec', shell, '/dev/null'], {
    cwd: home,
    extendEnv: false,
    reject: false,
    stdin: 'pipe',
    env: {
      HOME: home,
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      PS1: PROMPT,
      HISTFILE: '',
      TERM: 'xterm-256color',
      LC_ALL: 'C.UTF-8',
      SVC_PAGER: 'cat',
      ...env,
    },
  })
  const events: CastEvent[] = []
  const began = Date.now()
  const record = (kind: 'i' | 'o', text: string) => events.push([(Date.now() - began) / 1_000, kind, text])
  const waiting = [...commands]
  let unread = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    unread += text
    const mark = PROMPT_MARK.exec(unread)
    // Half a mark is kept until its rest arrives.
    if (mark === null && unread.includes('\u001b]133')) return
    record('o', unread.replace(PROMPT_MARK, ''))
    unread = ''
    if (mark === null) return
    const command = mark[1] === '0' ? waiting.shift() : undefined
    if (command !== undefined) record('i', command)
    terminal.stdin.write(command === undefined ? '\u0004' : `${command}\n`)
  })
  await terminal
  if (waiting.length > 0) throw new Error(`The command before ${waiting[0]} failed:\n${shownBy(events)}`)
  return events
}

/** What the terminal showed, without colours and movements of the cursor. */
export const shownBy = (events: readonly CastEvent[]): string =>
  events
    .map(([, kind, text]) => (kind === 'o' ? text : ''))
    .join('')
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[()].|[=>78])/g, '')
    .replaceAll('\r\n', '\n')

/** The recording as asciinema reads it. */
function castOf(events: readonly CastEvent[]): string {
  const header = {
    version: 2,
    width: COLUMNS,
    height: ROWS,
    title: 'svc: the tutorial',
    env: { TERM: 'xterm-256color' },
  }
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join('')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const home = mkdtempSync(join(tmpdir(), 'svc-tutorial-'))
  try {
    const programs = process.env.SVC_PROGRAMS_DIR ?? join(process.env.HOME ?? '', '.cache/svc/programs')
    const cast = castOf(await play({ home, commands: recordedCommands(), env: { SVC_PROGRAMS_DIR: programs } }))
    writeFileSync(RECORDING, cast.replaceAll(home, '/home/you'))
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
  }
}
