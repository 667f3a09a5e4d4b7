/** Runs one command from argv to exit code; every failure is reported here with a message and a code. */
import type { CommandOutcome, Verb } from '../commands/cli/command.ts'
import type { DaemonParts } from '../commands/cli/daemon-parts.ts'
import { unknownVariables, unreadVariables, variableRemedy } from '../commands/cli/environment-names.ts'
import { readInputs } from '../commands/cli/inputs.ts'
import { type Host, type OpenSession, openSession } from '../commands/cli/open-session.ts'
import type { ParsedCommand } from '../commands/cli/parsed-command.ts'
import type { Output } from '../commands/cli/standard-output.ts'
import { withAddresses } from '../commands/cli/symbols.ts'
import { processTerminal, withTerminal } from '../commands/cli/terminal.ts'
import { isUnattended } from '../commands/cli/unattended.ts'
import { withVault } from '../commands/signing/acting-vault.ts'
import { withDeviceTerms } from '../commands/signing/flags.ts'
import { loadPaint, PLAIN } from '../commands/ui/paint.ts'
import { EXIT, Problem } from '../commands/ui/problem.ts'
import { FORMATS, type Format } from '../commands/ui/render.ts'
import { report } from '../commands/ui/report.ts'
import { terminalWidth } from '../commands/ui/words.ts'
import { ApiError } from '../src/platform/errors.ts'
import { shapeRedactor } from '../src/settings/redaction.ts'

export { outputTaken } from '../commands/cli/standard-output.ts'

/** Each part of the daemon is loaded when a command runs it in this process. */
const DAEMON: DaemonParts = {
  openLocal: async (config) => (await import('../daemon/local.ts')).openLocal(config),
  serve: async (config, load) => (await import('../daemon/serve.ts')).serve(config, load),
  serveLocalnet: async (config) => (await import('../daemon/localnet.ts')).serveLocalnetAlone(config),
}

/** The process that runs the command. It must be this one object, because `withTerminal` compares identities. */
const ofProcess: Host = Object.assign(processTerminal, {
  on: process.on.bind(process),
  once: process.once.bind(process),
  exit: process.exit.bind(process),
})

/** Resolves with the exit code. The command uses this process's outputs and settings unless `host` supplies others. */
export const main = (argv: readonly string[], host: Host = ofProcess): Promise<number> =>
  withTerminal(host, () => runCommand(argv, host))

async function runCommand(argv: readonly string[], host: Host): Promise<number> {
  if (argv[0] === '__complete') {
    const { completionAnswer } = await import('../commands/cli/completion/answer.ts')
    host.stdout.write(await completionAnswer(argv.slice(1)))
    return EXIT.done
  }
  if (argv[0] === '__canary') {
    const { playCanary } = await import('../daemon/canary/child.ts')
    await playCanary(argv.slice(1))
    return EXIT.done
  }
  const debug = argv.includes('--debug')
  const formatOnFailure = () => typedFormat(argv, host.env.SVC_OUTPUT)
  const paint = { out: PLAIN, err: PLAIN }
  let session: OpenSession | undefined
  let command: ParsedCommand | undefined
  const reportFailure = (error: unknown, format: Format): number => {
    session?.ui.clear()
    const redact = session?.redact ?? shapeRedactor.text
    if (format !== 'json') session?.ui.flush()
    const notes = session?.ui.takeNotes() ?? []
    const { text, exitCode } = report(error, {
      format,
      debug,
      red: paint.err.red,
      columns: terminalWidth(host.stderr),
      redact,
      notes,
    })
    host.stderr.write(text)
    return exitCode
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    host.on(event, (error) => host.exit(reportFailure(error, formatOnFailure())))
  }
  let exitCode: number = EXIT.done
  try {
    const { CLICOLOR, NO_COLOR, TERM } = host.env
    const isPlain = argv.includes('--no-color') || Boolean(NO_COLOR) || CLICOLOR === '0' || TERM === 'dumb'
    const isColorful = (stream: Output) => Boolean(stream.isTTY)
    if (!isPlain && !isUnattended(host.env)) {
      paint.out = await loadPaint(isColorful(host.stdout))
      paint.err = await loadPaint(isColorful(host.stderr))
    }
    const { readCommand } = await import('../commands/cli/program.ts')
    const parsed = await readCommand(argv)
    if ('text' in parsed) {
      host.stdout.write(parsed.text)
      return EXIT.done
    }
    command = parsed
    session = openSession(parsed.globals, host, paint, DAEMON)
    await tellUnreadVariables(parsed, session, host)
    await session.readView()
    const { ui, squads } = session
    const typed = await withAddresses(parsed.verb, await readInputs(parsed, { argv, ui, squads }), session)
    const terms = await withDeviceTerms(parsed.verb, typed, session)
    const inputs = await withVault(parsed.verb, terms, session)
    const outcome = await parsed.verb.run(inputs as never, session).catch(outcomeOfWaiting)
    if (outcome.data !== undefined) await showAnswer(outcome, parsed.verb, session)
    session.ui.flush()
    exitCode = outcome.exitCode ?? EXIT.done
  } catch (error) {
    const format = await session?.format().catch(() => undefined)
    exitCode = reportFailure(await inWordsOfUser(error, argv, command, host), format ?? formatOnFailure())
  }
  try {
    await session?.close()
  } catch (error) {
    exitCode ||= reportFailure(error, formatOnFailure())
  }
  return exitCode
}

/** A request that waits for approvals is a success, whose answer is its proposal. */
async function outcomeOfWaiting(error: unknown): Promise<CommandOutcome> {
  if (!(error instanceof Error) || error.name !== 'WaitsForApproval') throw error
  const { proposedOutcome, WaitsForApproval } = await import('../commands/signing/waits-for-approval.ts')
  if (error instanceof WaitsForApproval) return proposedOutcome(error)
  throw error
}

/** Warns a person about variables with a typing mistake; `svc doctor` lists them itself. */
async function tellUnreadVariables({ command }: ParsedCommand, session: OpenSession, { env }: Host): Promise<void> {
  if (command === 'doctor' || unknownVariables(env).length === 0) return
  if ((await session.format().catch(() => 'table')) === 'json') return
  for (const variable of await unreadVariables(env, command === 'serve')) {
    session.ui.warn(`${variable.name} is not read: ${variableRemedy(variable)}`)
  }
}

/** The failure in the user's words: flags in place of the API's fields, and the value that was probably meant. */
async function inWordsOfUser(
  error: unknown,
  argv: readonly string[],
  command: ParsedCommand | undefined,
  { env }: Host,
): Promise<unknown> {
  if (error instanceof ApiError && 'envelope' in error) {
    return (await import('../commands/cli/field-names.ts')).inTypedWords(error, command)
  }
  if (!(error instanceof Problem) || error.code !== 'bad_request' || error.next !== undefined) return error
  return (await import('../commands/cli/meant-values.ts')).withMeantValue(error, argv, command, env)
}

async function showAnswer(outcome: CommandOutcome, { calls }: Verb, session: OpenSession): Promise<void> {
  const { ui } = session
  try {
    await ui.show(calls.length > 0 ? await withLabels(outcome, session) : outcome)
  } catch (error) {
    const isChange = ui.isShaped && calls.some(([method]) => method !== 'get')
    throw isChange && error instanceof Problem ? await afterChange(outcome, error, session) : error
  }
}

/**
 * If the options do not fit the answer of a change, stderr has the whole answer: a new API key, for example, cannot be
 * read a second time, and a script must not take the answer for what it asked for.
 */
async function afterChange(outcome: CommandOutcome, error: Problem, { ui, format }: OpenSession): Promise<Problem> {
  const isDocument = (await format()) === 'json'
  if (!isDocument) await ui.rescue(outcome)
  const { code, message, param, details } = error
  return new Problem(code, `${message}; the command itself has run, and only its answer could not be shown so`, {
    ...(param === undefined ? {} : { param }),
    details: { ...details, ...(isDocument ? { answer: outcome.data } : {}) },
    next: 'do not run it again: its whole answer is above',
    cause: error,
  })
}

/** On a terminal, the symbols of tokens are shown next to their mints; programs get the plain answer. */
async function withLabels(outcome: CommandOutcome, { ui, client, format }: OpenSession): Promise<CommandOutcome> {
  if (!ui.interactive || ui.isShaped || (await format()) !== 'table') return outcome
  const { withSymbols } = await import('../commands/ui/mint-symbols.ts')
  return withSymbols(outcome, (mints) => client.tokens.batchFetch({ mints }))
}

/** The format in argv or the environment, for failures that occur before the settings are read. */
function typedFormat(argv: readonly string[], setting: string | undefined): Format {
  if (argv.includes('--json')) return 'json'
  const at = argv.findIndex((word) => word === '-o' || word === '--output')
  const typed =
    at >= 0 ? argv[at + 1] : argv.find((word) => /^(--output=|-o)/.test(word))?.replace(/^(--output=|-o)/, '')
  return FORMATS.find((format) => format === (typed ?? setting)) ?? 'table'
}
