/** Warns of flags with an http URL, because anyone on the network path could change what it returns. */
import { uriWarnings } from '../src/api/uris.ts'
import type { Session } from './cli/session.ts'

export function warnOfHttp({ ui }: Pick<Session, 'ui'>, flags: Readonly<Record<string, string | undefined>>): void {
  for (const warning of uriWarnings(flags)) ui.warn(warning)
}
