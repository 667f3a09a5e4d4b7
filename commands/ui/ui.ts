/** Gives commands the terminal: the answer on stdout, everything else on stderr, and prompts only on a terminal. */
import type { Writable } from 'node:stream'
import type { Output } from '../cli/standard-output.ts'
import { type Terminal, terminal } from '../cli/terminal.ts'
import type { CommandOutcome } from '../outcome.ts'
import type { AnswerView } from './answer-view.ts'
import { type Paint, PLAIN } from './paint.ts'
import { Cancelled, usage } from './problem.ts'
import { type Format, fittingText, multiline, printable, type RenderOptions, render } from './render.ts'
import { brokenAtWords, terminalWidth } from './words.ts'

export interface Ui {
  readonly interactive: boolean
  /** Whether `confirm` can succeed: by a prompt on a terminal, or by `--yes`. */
  readonly confirmable: boolean
  /** Whether a person reads the output and answers questions: on a terminal, without `--yes`. */
  readonly attended: boolean
  /** Whether options such as `--jq` shape the answer; a stream of lines has no answer to shape. */
  readonly isShaped: boolean
  /** Whether a pager has the terminal and Ctrl-C. */
  readonly isPaging: boolean
  /** Prints the answer on stdout, shaped by options, in a pager if it is taller than a person's screen. */
  show(outcome: CommandOutcome): Promise<void>
  /** Prints the whole answer on stderr, because it cannot be shown as the options say. */
  rescue(outcome: CommandOutcome): Promise<void>
  /** With JSON output, notes and warnings wait for the outcome, so that stderr has only the failure. */
  note(text: string): void
  warn(text: string): void
  /** Prints the waiting lines. */
  flush(): void
  /** Prints the waiting lines, and each later one at once, for a command that runs until it is stopped. */
  stream(): void
  /** Returns the waiting lines for the document of a failure, which is printed instead. */
  takeNotes(): string[]
  /**
   * Prints lines about what is going to happen. With JSON output they are omitted, so that stderr has an error or
   * nothing; lines that take long to make are a function, called only if they are printed.
   */
  preview(lines: readonly string[] | (() => readonly string[])): Promise<void>
  /**
   * Draws lines that are neither broken nor escaped, on stderr; false if only a program reads the output. `drawn` is
   * told the columns, and whether colours are shown.
   */
  draw(drawn: (columns: number, isColored: boolean) => readonly string[]): Promise<boolean>
  /** Draws a progress bar on the stderr of a person's terminal; with a total of 0 it only counts. */
  progress(label: string): ProgressBar
  /** Draws a spinner with a text on the stderr of a person's terminal; null removes it. */
  waiting(text: string | null): void
  clear(): void
  /**
   * Resolves with true when the user agrees, and with false at once for `--yes`. Throws Cancelled if the user
   * declines, and a usage problem without a terminal.
   */
  confirm(question: string): Promise<boolean>
  ask(question: Question): Promise<string>
  /** Asks for a secret, which is not shown while typed; only if `interactive`. */
  askSecret(message: string, check?: (answer: string) => string | undefined): Promise<string>
}

export interface Question {
  message: string
  choices?: readonly Choice[]
  /** Shown before anything is typed: the default. */
  placeholder?: string
  /** Returns what is wrong with an answer; undefined if it is valid. */
  check(answer: string): string | undefined
}

/** A value to choose, with its meaning. */
export interface Choice {
  value: string
  /** What is shown instead of the value. */
  label?: string
  about: string
}

const WARNING = 'warning:'
/** The most lines that wait for an outcome. Of more, only the first are printed, with the number of the others. */
const MOST_HELD = 100

interface UiOptions {
  format: () => Promise<Format>
  paint: { out: Paint; err: Paint }
  interactive: boolean
  /** Whether progress is drawn on the stderr of a terminal. */
  animated: boolean
  yes: boolean
  /** Whether only answers, warnings, questions and failures are printed. */
  quiet: boolean
  /** Whether failures are one JSON document on stderr. */
  documents: boolean
  /** Whether a pager shows answers that are taller than the screen. */
  paged: boolean
  /** The cluster whose explorer addresses link to; called only if the terminal shows links. */
  cluster: () => Promise<string | null>
  /** The options that shape the answer; undefined without such options. */
  view: (() => Promise<AnswerView>) | undefined
}

export function createUi({
  format,
  paint,
  interactive,
  animated,
  yes,
  quiet,
  documents,
  paged,
  cluster,
  view,
}: UiOptions): Ui {
  const own = terminal()
  const { stdout, stderr } = own
  let holds = documents && !interactive
  const progress = createProgress(stderr, animated && !holds && !quiet)
  const held: string[] = []
  let dropped = 0
  const printLine = (text: string, painted = (line: string) => line) => {
    progress.clear()
    if (!holds) stderr.write(`${painted(brokenAtWords(text, terminalWidth(stderr)).join('\n'))}\n`)
    else if (held.length < MOST_HELD) held.push(painted(text))
    else dropped++
  }
  const note = (text: string) => {
    if (!quiet) printLine(multiline(text), paint.err.dim)
  }
  const takeNotes = () => {
    const notes = [...held.splice(0), ...(dropped === 0 ? [] : [`… and ${dropped} more`])]
    dropped = 0
    return notes
  }
  const flush = () => {
    for (const text of takeNotes()) stderr.write(`${text}\n`)
  }
  let isPaging = false
  const shownText = async (outcome: CommandOutcome, look: RenderOptions) => {
    const form = await format()
    const text = await render(outcome, form, look)
    const isTerminal = Boolean(stdout.isTTY)
    if (form !== 'table' || !(isTerminal || own.env.FORCE_HYPERLINK)) return text
    const { showsLinks, withExplorerLinks } = await import('./explorer-links.ts')
    return showsLinks(own.env, isTerminal) ? withExplorerLinks(text, await cluster().catch(() => null)) : text
  }
  return {
    interactive,
    confirmable: interactive || yes,
    attended: interactive && !yes,
    isShaped: view !== undefined,
    get isPaging() {
      return isPaging
    },
    async show(given) {
      const shaping = await view?.()
      const outcome = shaping?.shaped(given) ?? given
      const written = await shaping?.text(outcome.data, Boolean(stdout.isTTY))
      const look = { paint: paint.out, width: terminalWidth(stdout) }
      const text = written ?? (await shownText(outcome, look))
      progress.clear()
      isPaging = paged && Boolean(stdout.isTTY)
      if (text !== '' && !(isPaging && (await isPaged(text, own)))) stdout.write(text)
      isPaging = false
      for (const text of outcome.notes ?? []) note(text)
      flush()
    },
    async rescue(outcome) {
      progress.clear()
      stderr.write(await render(outcome, await format(), { paint: paint.err, width: terminalWidth(stderr) }))
      for (const text of outcome.notes ?? []) note(text)
    },
    flush,
    stream() {
      holds = false
      flush()
    },
    takeNotes,
    note,
    warn: (text) =>
      printLine(`${WARNING} ${multiline(text)}`, (lines) => lines.replace(WARNING, paint.err.yellow(WARNING))),
    async preview(lines) {
      // A person who is asked sees what the question is about.
      if (quiet && (yes || !interactive)) return
      if (interactive || (await format()) !== 'json')
        printLine(await fittingText((typeof lines === 'function' ? lines() : lines).join('\n'), terminalWidth(stderr)))
    },
    async draw(drawn) {
      if (!interactive && (await format()) === 'json') return false
      progress.clear()
      stderr.write(`${drawn(terminalWidth(stderr), paint.err !== PLAIN).join('\n')}\n`)
      return true
    },
    progress: (label) => progress.bar(printable(label)),
    waiting: (text) => progress.waiting(text === null ? null : printable(text)),
    clear: progress.clear,
    async confirm(question) {
      if (yes) return false
      if (!interactive) throw usage('this needs a confirmation: add --yes', { param: '--yes' })
      const { confirm, isCancel } = await import('@clack/prompts')
      const answer = await confirm({
        message: multiline(question),
        initialValue: false,
        input: own.stdin,
        output: promptStream(stderr),
      })
      if (isCancel(answer) || !answer) throw new Cancelled()
      return true
    },
    async ask({ message, choices, placeholder, check }) {
      const { isCancel, select, text } = await import('@clack/prompts')
      const [input, output] = [own.stdin, promptStream(stderr)]
      const answer = choices
        ? await select({ message, options: choices.map(optionOf), input, output })
        : await text({
            message,
            validate: (answer) => check(answer ?? ''),
            ...(placeholder === undefined ? {} : { placeholder }),
            input,
            output,
          })
      if (isCancel(answer)) throw new Cancelled()
      return answer ?? ''
    },
    async askSecret(message, check = () => undefined) {
      const { isCancel, password } = await import('@clack/prompts')
      const [input, output] = [own.stdin, promptStream(stderr)]
      const answer = await password({
        message: printable(message),
        validate: (typed) => check(typed ?? ''),
        input,
        output,
      })
      if (isCancel(answer)) throw new Cancelled()
      return answer ?? ''
    },
  }
}

/** Shows a text in a pager if it is taller than the screen; false if it must still be shown. */
async function isPaged(text: string, { env, stdout }: Terminal): Promise<boolean> {
  if (!isHigher(text, stdout)) return false
  const { pagerOf, showInPager } = await import('./pager.ts')
  const command = pagerOf(env)
  return command !== null && showInPager(command, text, env)
}

export const isHigher = (text: string, { rows }: Output): boolean =>
  rows !== undefined && rows > 0 && text.split('\n').length > rows

/** Names that strangers chose are printed without control characters. */
const optionOf = ({ value, label = value, about }: Choice) => ({
  value,
  label: printable(label),
  ...(about === '' ? {} : { hint: printable(about) }),
})

/** The output of a terminal is a stream; prompts need one. */
const promptStream = (terminal: Output) => terminal as Writable

/** Updates a progress bar; a `total` of 0 means that it is unknown. */
type ProgressBar = (done: number, total: number) => void

const WIDTH = 24
const TURNS = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const TURN_MS = 80

function createProgress(stream: Output, isAnimated: boolean) {
  let drawn = ''
  const clear = () => {
    if (drawn !== '') stream.write('\r\u001b[2K')
    drawn = ''
  }
  /** A line that the terminal wraps could not be erased, so it is cropped. */
  const draw = (line: string) => {
    stream.write(`\r\u001b[2K${line.slice(0, Math.max(1, (stream.columns ?? 80) - 1))}`)
    drawn = line
  }
  const bar =
    (label: string): ProgressBar =>
    (done, total) => {
      if (!isAnimated || !stream.isTTY) return
      const share = total === 0 ? 0 : Math.min(1, done / total)
      const filled = Math.round(share * WIDTH)
      const line =
        total === 0
          ? `${label} ${done}`
          : `${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(share * 100)}% of ${total}`
      if (line === drawn) return
      draw(line)
    }
  let spinner: { text: string; timer: NodeJS.Timeout } | undefined
  let turn = 0
  const waiting = (text: string | null) => {
    if (!isAnimated || !stream.isTTY) return
    if (text === null) {
      clearInterval(spinner?.timer)
      spinner = undefined
      clear()
      return
    }
    const turnOn = () => {
      draw(`${TURNS[turn++ % TURNS.length]} ${spinner?.text}`)
    }
    if (spinner !== undefined) spinner.text = text
    else spinner = { text, timer: setInterval(turnOn, TURN_MS).unref() }
    turnOn()
  }
  return { bar, clear, waiting }
}
