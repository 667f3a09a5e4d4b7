/** The terminal as commands see it: the answer on stdout, everything else on stderr, questions only where a person sits. */
import type { CommandOutcome } from '../command.ts'
import { type Output, terminal } from '../terminal.ts'
import type { Paint } from './paint.ts'
import { Cancelled, usage } from './problem.ts'
import { createProgress, type ProgressBar } from './progress.ts'
import { type Format, fittingText, multiline, printable, render } from './render.ts'

/** Columns of a terminal that does not say its width, and the fewest that are believed. */
const [DEFAULT_WIDTH, LEAST_WIDTH] = [80, 20]

export interface Ui {
  readonly interactive: boolean
  /** Whether `confirm` can be answered: by a person, or by `--yes` beforehand. */
  readonly confirmable: boolean
  /** Prints the answer. */
  show(outcome: CommandOutcome): Promise<void>
  note(text: string): void
  warn(text: string): void
  /** Several lines for a person about what is to happen; a script that reads JSON gets none, so that stderr is an error or nothing. */
  preview(lines: readonly string[]): Promise<void>
  /** Draws on a terminal's stderr; with a total of 0 it counts. */
  progress(label: string): ProgressBar
  /** A turning sign on a terminal's stderr with what is waited for; null takes it away. */
  waiting(text: string | null): void
  clear(): void
  /** Resolves when the person agrees, at once with `--yes`; throws Cancelled otherwise, and a usage error without a terminal. */
  confirm(question: string): Promise<void>
  ask(question: Question): Promise<string>
}

export interface Question {
  message: string
  choices?: readonly string[]
  /** What is wrong with an answer, if anything. */
  check(answer: string): string | undefined
}

export interface UiOptions {
  format: () => Promise<Format>
  paint: { out: Paint; err: Paint & { yellow(text: string): string } }
  interactive: boolean
  yes: boolean
}

export function createUi({ format, paint, interactive, yes }: UiOptions): Ui {
  const { stdin: input, stdout, stderr } = terminal()
  const progress = createProgress(stderr)
  const say = (text: string) => {
    progress.clear()
    stderr.write(`${text}\n`)
  }
  return {
    interactive,
    confirmable: interactive || yes,
    async show(outcome) {
      const text = await render(outcome, await format(), { paint: paint.out, width: terminalWidth(stdout) })
      progress.clear()
      if (text !== '') stdout.write(text)
      for (const note of outcome.notes ?? []) say(paint.err.dim(multiline(note)))
    },
    note: (text) => say(paint.err.dim(multiline(text))),
    warn: (text) => say(`${paint.err.yellow('warning:')} ${multiline(text)}`),
    async preview(lines) {
      if (interactive || (await format()) !== 'json') say(await fittingText(lines.join('\n'), terminalWidth(stderr)))
    },
    progress: (label) => progress.bar(printable(label)),
    waiting: (text) => progress.waiting(text === null ? null : printable(text)),
    clear: progress.clear,
    async confirm(question) {
      if (yes) return
      if (!interactive)
        throw usage('this cannot be undone: without a terminal, confirm it with --yes', { param: '--yes' })
      const { confirm, isCancel } = await import('@clack/prompts')
      const answer = await confirm({ message: multiline(question), initialValue: false, input, output: stderr })
      if (isCancel(answer) || !answer) throw new Cancelled()
    },
    async ask({ message, choices, check }) {
      const { isCancel, select, text } = await import('@clack/prompts')
      const answer = choices
        ? await select({ message, options: choices.map((value) => ({ value, label: value })), input, output: stderr })
        : await text({ message, validate: (given) => check(given ?? ''), input, output: stderr })
      if (isCancel(answer)) throw new Cancelled()
      return answer
    },
  }
}

/** Columns of a terminal; what goes elsewhere has room for everything. */
const terminalWidth = (stream: Output) =>
  stream.isTTY ? Math.max(LEAST_WIDTH, stream.columns || DEFAULT_WIDTH) : Number.POSITIVE_INFINITY
