/** Prints events as they arrive, one a line: JSON for programs, text for a terminal. */
import type { Event } from '../../src/api/events.ts'
import type { Session } from '../cli/session.ts'
import { terminal } from '../cli/terminal.ts'
import { usage } from '../ui/problem.ts'
import { jsonText, printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'

export interface EventLines {
  /** Whether the lines are text for a terminal. */
  readable: boolean
  /** Prints `data` as one line of JSON, or `text` on a terminal. */
  print(data: unknown, text: string): void
}

/**
 * Opens the output of events. A stream has no end, so with `-o json` and `-o plain` each line is a document of its own.
 */
export async function openEventLines({ settings, ui }: Pick<Session, 'settings' | 'ui'>): Promise<EventLines> {
  if (ui.isShaped) {
    throw usage('--columns, --sort, --filter, --jq and --template shape one answer, and this command prints a stream', {
      next: 'pipe its --json, one document a line, to jq',
    })
  }
  const format = (await settings.list()).find(({ name }) => name === 'output')?.value
  const readable = format === 'table'
  return {
    readable,
    print(data, text) {
      terminal().stdout.write(`${readable ? printable(text) : jsonText(data, 0)}\n`)
    },
  }
}

export function eventLine({ sequence, id, type, created, data }: Event): string {
  const time = timeText(created * 1000)
  const { resource_type, resource_id } = data.object
  return [time, `#${sequence}`, type, `${resource_type} ${resource_id}`, id].join('  ')
}
