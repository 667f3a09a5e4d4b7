/** Events as they come, one a line: JSON for programs, text for a person. */
import type { Event } from '../../src/api/events.ts'
import type { Session } from '../session.ts'
import { terminal } from '../terminal.ts'
import { jsonText, printable } from '../ui/render.ts'

export interface EventLines {
  /** Whether a person reads them. */
  readable: boolean
  /** Prints `data` as one line of JSON, or `text` for a person. */
  print(data: unknown, text: string): void
}

/** A stream has no closing bracket: with `-o json` and `-o plain` each line is a document of its own. */
export async function openEventLines({ settings }: Pick<Session, 'settings'>): Promise<EventLines> {
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
  const time = new Date(created * 1000).toISOString().replace('.000', '')
  const { resource_type, resource_id } = data.object
  return [time, `#${sequence}`, type, `${resource_type} ${resource_id}`, id].join('  ')
}
