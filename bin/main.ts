/** One command from argv to exit code; every failure ends here as a line and a code. */
import pc from 'picocolors'
import { EXIT } from '../commands/ui/problem.ts'
import { FORMATS, type Format } from '../commands/ui/render.ts'
import { report } from '../commands/ui/report.ts'
import { shapeRedactor } from '../src/redaction.ts'
import { readInputs } from './inputs.ts'
import { parse } from './program.ts'
import { type OpenSession, openSession } from './session.ts'

export async function main(argv: readonly string[]): Promise<number> {
  const debug = argv.includes('--debug')
  const plainErrors = argv.includes('--no-color') || !colorful(process.stderr)
  let session: OpenSession | undefined
  const tell = (error: unknown, format: Format): number => {
    session?.ui.clear()
    const { red } = pc.createColors(!plainErrors)
    const redact = session?.redact ?? shapeRedactor.text
    const { text, exitCode } = report(error, { format, debug, red, redact })
    process.stderr.write(text)
    return exitCode
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => process.exit(tell(error, typedFormat(argv))))
  }
  try {
    const parsed = await parse(argv)
    if ('text' in parsed) {
      process.stdout.write(parsed.text)
      return EXIT.done
    }
    session = openSession(parsed.globals, colorful)
    const inputs = await readInputs(parsed, session.ui)
    const outcome = await parsed.verb.run(inputs as never, session)
    if (outcome.data !== undefined) await session.ui.show(outcome)
    return outcome.exitCode ?? EXIT.done
  } catch (error) {
    const format = await session?.format().catch(() => undefined)
    return tell(error, format ?? typedFormat(argv))
  } finally {
    await session?.close().catch((error) => tell(error, typedFormat(argv)))
  }
}

const colorful = (stream: NodeJS.WriteStream) =>
  Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

/** The format asked for, when a mistake keeps the settings from being read. */
function typedFormat(argv: readonly string[]): Format {
  if (argv.includes('--json')) return 'json'
  const at = argv.findIndex((word) => word === '-o' || word === '--output')
  const typed =
    at >= 0 ? argv[at + 1] : argv.find((word) => /^(--output=|-o)/.test(word))?.replace(/^(--output=|-o)/, '')
  return FORMATS.find((format) => format === (typed ?? process.env.SVC_OUTPUT)) ?? 'table'
}
